import math

import pytest
from boards import EXTREMES
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given, settings

from metrics import Runs, evaluate
from metrics.simulation import notebook_grag, notebook_llm_rerankers
from metrics.studies.complexity import (
    NOTEBOOK_CASES,
    complexity_summary,
    list_complexity,
    notebook_cases,
    tie_size_counts,
)
from metrics.studies.gaps import ALL_LISTS
from metrics.ties import Complexity, Orderings, Ranking


def complexities(runs):
    return {
        name: list_complexity(Ranking.of(runs, name), runs.queries[name].to_pylist()) for name in runs.rerankers
    }


def test_the_notebooks_five_cases_have_its_figures():
    cases = notebook_cases().set_index("case")
    assert cases["orderings"].to_dict() == {
        "Small ties": 4,
        "Medium ties": 72,
        "Large tie": 120,
        "Very large tie": 40_320,
        "Multiple large ties": 3_456,
    }
    assert cases["n_tie_groups"].to_list() == [2, 3, 1, 1, 3]
    assert cases["max_tie_size"].to_list() == [2, 3, 5, 8, 4]
    assert cases.index[~cases["tractable"]].to_list() == ["Very large tie"]
    assert cases["draws"].dropna().to_dict() == {"Very large tie": 4_032}
    assert cases["tie_sizes"].to_dict() == {case: list(sizes) for case, sizes in NOTEBOOK_CASES.items()}


@settings(max_examples=20)
@given(tables())
def test_lists_are_counted_as_one_by_one(table):
    runs = Runs.from_frame(frame(table))
    for name, lists in complexities(runs).items():
        ranking, descriptions = Ranking.of(runs, name), evaluate(runs, "RR").lists.loc[name].loc[lists.index]
        for query, row in lists.iterrows():
            report = Complexity.of(map(len, Orderings.of(ranking, query).groups))
            assert row["orderings"] == report.total_permutations == Orderings.of(ranking, query).count
            assert (row["tractable"], row["draws"]) == (report.is_tractable, report.recommended_sampling)
            assert row["max_tie_size"] == report.max_tie_size
        assert lists["n_tie_groups"].to_list() == descriptions["n_tie_groups"].to_list()
        assert lists["log10_orderings"].to_list() == pytest.approx(descriptions["log10_orderings"])


def test_orderings_of_all_lists_are_an_exact_sum():
    lists = complexities(notebook_llm_rerankers(20))
    summary = complexity_summary(lists)
    assert summary.index.to_list() == [ALL_LISTS, *lists]
    exact = [sum(table["orderings"]) for table in lists.values()]
    assert summary["orderings"].to_list() == [sum(exact), *exact]
    for row in summary.itertuples():
        assert row.log10_orderings == pytest.approx(math.log10(row.orderings))
    assert summary["n"].to_list() == [80, 20, 20, 20, 20]
    assert summary["tractable"].iloc[0] == summary["tractable"].iloc[1:].sum()
    grag = complexities(notebook_grag())["G-RAG"]
    assert grag["max_tie_size"].mean() == pytest.approx(1.71)
    assert complexity_summary({"G-RAG": grag})["draws"].to_list() == [0]


def test_a_number_of_orderings_beyond_64_bits_is_exact():
    documents = [Doc(str(number), 1, number == 0) for number in range(30)]
    lists = complexities(Runs.from_frame(frame({"A": {"q": documents, "r": documents}})))
    assert complexity_summary(lists)["orderings"].to_list() == [2 * math.factorial(30)]


def test_a_number_of_orderings_that_is_too_long_to_work_out_is_a_power_of_ten():
    runs = EXTREMES["long lists"]().runs
    row = complexity_summary({"long": list_complexity(Ranking.of(runs, "long"), ["q0", "q1"])}).iloc[0]
    assert row["orderings"] is None
    assert row["log10_orderings"] == pytest.approx(10 * math.lgamma(301) / math.log(10) + math.log10(2))
    assert (row["tractable"], row["draws"], row["max_tie_size"]) == (0, 20_000, 300)


@given(tables())
def test_ties_are_counted_by_their_size_in_steps_of_powers_of_two(table):
    runs = Runs.from_frame(frame(table))
    counts = tie_size_counts({name: Ranking.of(runs, name) for name in table}, evaluate(runs, "RR").lists)
    sizes = [
        size
        for name in table
        for query in table[name]
        for size in map(len, Orderings.of(Ranking.of(runs, name), query).groups)
        if size > 1
    ]
    for row in counts.itertuples():
        inside = [size for size in sizes if row.first <= size <= row.last]
        assert (row.ties, row.documents) == (len(inside), sum(inside))
    assert counts["ties"].sum() == len(sizes)


def test_ties_of_lists_that_do_not_count_are_left_out():
    tied = [Doc("a", 1, 1), Doc("b", 1, 0)]
    runs = Runs.from_frame(frame({"A": {"q": tied, "r": tied}}))
    lists = evaluate(runs, "RR").lists
    assert tie_size_counts({"A": Ranking.of(runs, "A")}, lists.loc[[("A", "q")]])["ties"].to_list() == [1]
