"""One list: counts, patterns, distributions and draws, held against every ordering in exact fractions."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from drawing import frame, lists
from enumeration import Doc, all_orderings, every_value, first_rank, judged_list, value_in_order
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.runs import File, read
from metrics.studies.one_list import ordering_samples as drawing
from metrics.studies.one_list.ordering_samples import running_mean, sample_values
from metrics.studies.one_list.orderings import counts, distribution, every_pattern, gathered, list_values
from metrics.studies.one_list.query import (
    complexity_report,
    every_ordering,
    first_rank_chances,
    ladder,
    sampled_mean,
    text_column,
    tie_groups,
)
from metrics.ties import Orderings, Patterns, Ranking

SHORT = lists(ids=st.text("abZ9", min_size=1, max_size=2)).map(lambda docs: docs[:5])
BY_GRADES = ["RR", "RR@2", "Hits@2", "AP", "P@2", "R@2", "nDCG@3", "nDCG-linear@2", "RBP(0.8)", "Rprec"]
TIES = ["input", "expected", "optimistic", "pessimistic", "docid_desc"]


def made(table, reranker="A"):
    return Ranking.of(Runs.from_frame(frame(table)), reranker)


def ranking(docs):
    return made({"A": {"other": [Doc("x", 1, 1), Doc("y", 1, 0)], "q": docs, "last": [Doc("z", 1, 1)]}})


def shares(values):
    """Chance of each value of a list of them, in exact fractions."""
    found = Counter(round(float(value), 12) for value in values)
    return {value: Fraction(times, found.total()) for value, times in found.items()}


def as_dict(table):
    return dict(zip(table["value"], table["chance"], strict=True))


@given(lists())
def test_counts_are_those_of_the_orderings_and_patterns_and_of_the_notebook(docs):
    one = ranking(docs)
    found, notebook = counts(one, "q"), Orderings.of(one, "q").complexity()
    assert (found.orderings, found.patterns) == (notebook.total_permutations, Patterns.of(one, "q").count)
    assert found.shared == Patterns.of(one, "q").multiplicity
    assert found.tie_sizes == notebook.tie_sizes
    assert found.tractable == notebook.is_tractable
    assert found.draws == notebook.recommended_sampling
    assert found.log10_orderings == pytest.approx(math.log10(found.orderings), abs=1e-9)
    assert found.log10_patterns == pytest.approx(math.log10(found.patterns), abs=1e-9)


@pytest.mark.parametrize("sizes", [[8], [9], [4, 4, 3], [17], [18], [20], [12, 9]])
def test_counts_of_larger_ties_are_exact_as_long_as_they_are_written(sizes):
    docs = [Doc(f"{group}.{at}", -group, at % 3) for group, size in enumerate(sizes) for at in range(size)]
    one = ranking(docs)
    found, whole = counts(one, "q"), Orderings.of(one, "q")
    assert found.orderings == (whole.count if whole.count < 10**15 else None)
    assert found.log10_orderings == pytest.approx(math.log10(whole.count))
    assert found.patterns == Patterns.of(one, "q").count
    assert (found.tractable, found.draws) == (
        whole.complexity().is_tractable,
        whole.complexity().recommended_sampling,
    )


def test_one_relevant_document_in_a_tie_of_many_has_as_many_patterns_as_places():
    one = flat(100_000, 1)
    found = counts(one, "q")
    assert (found.orderings, found.patterns, found.shared) == (None, 100_000, None)
    assert found.log10_orderings == pytest.approx(math.lgamma(100_001) / math.log(10))
    assert complexity_report(one, "q")[0].startswith("about 10^456573 orderings")
    assert complexity_report(one, "q")[1] == "100,000 relevance patterns."


def flat(documents, relevant, groups=1, **more):
    """One list of `groups` even ties; its first documents of each are relevant."""
    size = documents // groups
    at = np.arange(documents)
    table = {
        "query_id": "q",
        "doc_id": at.astype(str),
        "score": -(at // size),
        "relevance": at % size < relevant,
    }
    return Ranking.of(Runs.from_frame(pd.DataFrame(table | {"reranker": "A"} | more)), "A")


@given(SHORT)
def test_each_pattern_is_listed_once_with_its_orderings_its_chance_and_what_each_of_them_scores(docs):
    found = every_pattern(ranking(docs), "q", BY_GRADES, limit=1000)
    behind = Counter(tuple(doc.grade for doc in order) for order in all_orderings(docs))
    grades = [tuple(map(float, text.replace("|", " ").split())) for text in found["grades"]]
    assert dict(zip(grades, found["orderings"], strict=True)) == behind
    assert found["chance"].to_list() == pytest.approx([times / behind.total() for times in behind.values()])
    firsts = [first_rank([grade >= 1 for grade in row]) for row in grades]
    assert [None if pd.isna(rank) else rank for rank in found["first_relevant"]] == firsts
    for measure in BY_GRADES:
        exact = {
            tuple(doc.grade for doc in order): float(value_in_order(measure, judged_list(docs), order))
            for order in all_orderings(docs)
        }
        assert dict(zip(grades, found[measure], strict=True)) == pytest.approx(exact)


def test_the_ties_of_a_pattern_are_set_apart():
    found = every_pattern(ranking([Doc("a", 2, 0), Doc("b", 1, 0), Doc("c", 1, 2)]), "q", ["RR"], 9)
    assert found["grades"].to_list() == ["0 | 2 0", "0 | 0 2"]


@pytest.mark.parametrize(("limit", "rows"), [(1, 1), (3, 3), (4, 4), (50, 4)])
def test_no_more_patterns_are_given_than_asked_for(limit, rows):
    docs = [Doc(name, 1, name == "a") for name in "abcd"]
    assert len(every_pattern(ranking(docs), "q", ["RR"], limit)) == rows


def test_measures_that_grades_do_not_tell_are_left_open_in_patterns():
    found = every_pattern(ranking([Doc("a", 1, 1), Doc("b", 1, 0)]), "q", ["RR", "DR@1", "Judged@1", "TsRR"], 9)
    assert found["RR"].notna().all()
    assert found[["DR@1", "Judged@1", "TsRR"]].isna().all(axis=None)


@given(SHORT, st.sampled_from(BY_GRADES))
def test_the_distribution_of_a_measure_is_that_of_the_enumeration(docs, measure):
    one = ranking(docs)
    found = distribution(one, "q", measure, first_rank_chances(one, "q"))
    assert as_dict(found) == pytest.approx(
        {v: float(c) for v, c in shares(every_value(measure, judged_list(docs))).items()}
    )
    assert found["value"].is_monotonic_increasing


@given(SHORT, st.sampled_from(["RR", "AP", "nDCG@3", "P@2"]))
def test_the_mean_and_deviation_of_the_distribution_are_the_exact_ones(docs, measure):
    one = ranking(docs)
    found = distribution(one, "q", measure, first_rank_chances(one, "q"))
    exact = list_values(one, "q", [measure], ["expected"]).loc[measure]
    mean = (found["value"] * found["chance"]).sum()
    assert mean == pytest.approx(exact["expected"], abs=1e-11)
    if measure != "AP":
        spread = ((found["value"] - mean) ** 2 * found["chance"]).sum()
        assert spread == pytest.approx(exact["std"] ** 2, abs=1e-11)


def test_the_distribution_of_a_first_rank_is_exact_however_large_the_tie():
    one = flat(100_000, 3)
    found = distribution(one, "q", "RR", first_rank_chances(one, "q"))
    assert len(found) == 99_998
    assert found["value"].iloc[-1] == 1
    assert found["chance"].iloc[-1] == pytest.approx(3 / 100_000)
    assert (found["value"] * found["chance"]).sum() == pytest.approx(
        list_values(one, "q", ["RR"], ["expected"]).loc["RR", "expected"]
    )


def test_ties_below_the_cutoff_do_not_keep_a_distribution_from_being_exact():
    one = flat(120, 2, groups=12)
    found = distribution(one, "q", "P@10", first_rank_chances(one, "q"))
    assert as_dict(found) == pytest.approx({0.2: 1})
    assert distribution(one, "q", "AP", first_rank_chances(one, "q")) is None


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "DR@5", "Judged@5", "taRR"])
def test_there_is_no_exact_distribution_of_too_many_patterns_or_where_grades_do_not_tell(measure):
    one = flat(100_000, 400)
    assert distribution(one, "q", measure, first_rank_chances(one, "q")) is None


def test_equal_values_are_gathered():
    table = gathered(np.array([0.1 + 0.2, 0.3, 1.0]), np.array([0.25, 0.25, 0.5]))
    assert as_dict(table) == {0.3: 0.5, 1.0: 0.5}


@given(lists())
def test_the_values_of_a_list_are_those_of_the_evaluation(docs):
    runs = Runs.from_frame(frame({"A": {"other": [Doc("x", 1, 1)], "q": docs}}))
    measures = [*BY_GRADES, "DR@2", "Div@2", "Judged@2", "TsRR", "taRR", "GRAG-RR", "GRAG-Hits@2"]
    found = list_values(Ranking.of_query(runs, "A", "q"), "q", measures, TIES)
    closed = [name for name in measures if name not in ("AP", "DR@2", "Div@2")]
    every = evaluate(runs, measures, TIES).scores.loc[("A", "q")]
    spread = evaluate(runs, closed, ["std"]).scores.loc[("A", "q")]
    for measure in measures:
        assert found.loc[measure, TIES].to_list() == pytest.approx(every[measure][TIES].to_list())
    assert found.loc[closed, "std"].to_list() == pytest.approx(spread.to_list())
    assert found.loc[["AP", "DR@2", "Div@2"], "std"].isna().all()


@given(
    st.dictionaries(st.sampled_from(["q1", "q2", "7", "absent"]), lists(), min_size=1), st.sampled_from([1, 2])
)
def test_one_list_alone_is_that_list_among_all(queries, relevant_from):
    runs = Runs.from_frame(frame({"A": queries}))
    every = Ranking.of(runs, "A", relevant_from, "decimals:1")
    for query in queries:
        alone = Ranking.of_query(runs, "A", query, relevant_from, "decimals:1")
        assert alone.query_ids.to_pylist() == [query]
        pd.testing.assert_frame_equal(ladder(alone, query), ladder(every, query))
        pd.testing.assert_frame_equal(first_rank_chances(alone, query), first_rank_chances(every, query))


def test_one_list_of_a_query_that_nobody_judged_or_ranked_is_empty():
    run = read(File("run.trec", b"q1 Q0 a 1 1 t\n"))
    runs = Runs.from_sources([run, read(File("qrels.txt", b"q1 0 a 1\nq2 0 a 1\n"))])
    assert Ranking.of_query(runs, "run", "q3").n_lists == 0
    assert (
        Ranking.of_query(runs, "run", "q2").n_lists,
        len(ladder(Ranking.of_query(runs, "run", "q2"), "q2")),
    ) == (1, 0)


@given(lists(), st.integers(0, 5))
def test_every_value_drawn_is_one_that_an_ordering_has_and_the_seed_decides_which(docs, seed):
    one = ranking(docs)
    for measure in ("RR", "nDCG@3", "AP"):
        found = sample_values(one, "q", measure, 40, seed)
        exact = {round(float(value), 9) for value in every_value(measure, judged_list(docs))}
        assert set(found.round(9).tolist()) <= exact
        assert (found == sample_values(one, "q", measure, 40, seed)).all()


WIDE = [Doc(f"d{at}", -(at // 6), at % 4 == 1 and 1 + at % 3) for at in range(18)]


@pytest.mark.parametrize("measure", ["RR", "Hits@3", "P@5", "nDCG@10", "AP", "DR@4"])
@pytest.mark.parametrize("seed", range(5))
def test_the_mean_of_draws_is_within_four_of_its_standard_errors_of_the_exact_value(measure, seed):
    one = ranking(WIDE)
    found = sampled_mean(one, "q", measure, 4000, seed)
    exact = list_values(one, "q", [measure], ["expected"]).loc[measure]
    assert abs(found.mean - exact["expected"]) <= 4 * found.standard_error
    if not np.isnan(exact["std"]):
        assert found.standard_error == pytest.approx(exact["std"] / math.sqrt(4000), rel=0.1)


@pytest.mark.parametrize("measure", ["RR", "nDCG", "AP", "Hits@50"])
def test_draws_from_a_large_tie_find_the_exact_value_within_their_standard_error(measure):
    one = flat(20_000, 40, groups=2)
    found = sampled_mean(one, "q", measure, 3000, seed=7)
    exact = list_values(one, "q", [measure], ["expected"]).loc[measure]
    assert abs(found.mean - exact["expected"]) <= 4 * found.standard_error


@pytest.mark.parametrize(("size", "held"), [(5, 2), (5, 5), (4, 1), (24, 3), (40, 2), (60, 2)])
def test_places_are_drawn_distinct_and_each_choice_as_often_as_chance_has_it(size, held):
    found = drawing._sample_distinct(size, held, 60_000, np.random.default_rng(0))  # noqa: SLF001 what a draw rests on
    assert (np.diff(np.sort(found, axis=1), axis=1) > 0).all()
    times = Counter(map(tuple, found.tolist()))
    choices = math.perm(size, held)
    assert set(times) <= set(permutations(range(size), held))
    squares = sum((count - 60_000 / choices) ** 2 for count in times.values())
    squares += (choices - len(times)) * (60_000 / choices) ** 2
    spread = squares / (60_000 / choices) - (choices - 1)
    assert abs(spread) <= 5 * math.sqrt(2 * choices)


def test_draws_do_not_depend_on_how_many_are_scored_at_once_in_their_mean(monkeypatch):
    one = ranking(WIDE)
    exact = list_values(one, "q", ["nDCG@10"], ["expected"]).loc["nDCG@10", "expected"]
    monkeypatch.setattr(drawing, "CELLS", 50)
    values = sample_values(one, "q", "nDCG@10", 2000, 3)
    assert abs(values.mean() - exact) <= 4 * values.std(ddof=1) / math.sqrt(2000)


def test_a_list_with_nothing_relevant_draws_zeros():
    one = ranking([Doc("a", 1, 0), Doc("b", 1, 0)])
    assert sample_values(one, "q", "RR", 5, 0).tolist() == [0] * 5


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_the_running_mean_is_the_mean_of_the_first_draws_with_its_standard_error(values):
    found = running_mean(np.array(values))
    assert found["draws"].iloc[-1] == len(values)
    for row in found.itertuples():
        head = np.array(values[: row.draws])
        assert row.mean == pytest.approx(head.mean(), abs=1e-12)
        assert row.standard_error == pytest.approx(head.std(ddof=1) / math.sqrt(row.draws), abs=1e-7)


def test_a_running_mean_of_many_draws_has_few_points_from_ten_on():
    found = running_mean(np.random.default_rng(0).random(100_000))
    assert (found["draws"].iloc[0], found["draws"].iloc[-1]) == (10, 100_000)
    assert len(found) <= 200
    assert found["draws"].is_monotonic_increasing


def test_orderings_score_judged_documents_and_distinct_targets_by_what_was_judged():
    run = b"q Q0 a 1 1 t\nq Q0 b 2 1 t\nq Q0 c 3 0 t\n"
    judged = "query_id,doc_id,relevance,target_id\nq,b,0,T\nq,c,1,T\n"
    runs = Runs.from_sources([read(File("run.trec", run)), read(File("qrels.csv", judged.encode()))])
    found = every_ordering(Ranking.of(runs, "run"), "q", ["Judged@1", "DR@2", "DR@3"], 10)
    assert found["documents"].to_list() == ["a b c", "b a c"]
    assert found["Judged@1"].to_list() == [0, 1]
    assert (found["DR@2"].to_list(), found["DR@3"].to_list()) == ([0, 0], [1, 1])


@given(lists())
def test_the_tie_groups_of_a_list_cover_its_places_and_hold_its_relevant_documents(docs):
    rows = ladder(ranking(docs), "q")
    found = tie_groups(rows)
    assert found["documents"].sum() == len(docs)
    assert found["relevant"].sum() == sum(doc.grade >= 1 for doc in docs)
    assert found["score"].to_list() == sorted({doc.score for doc in docs}, reverse=True)
    assert (found["last"] - found["first"] + 1 == found["documents"]).all()


def test_texts_are_those_of_the_rows_asked_for_and_empty_where_there_is_none():
    table = pd.DataFrame({"query_id": ["q"] * 3, "doc_id": list("abc"), "score": [1, 3, 2], "relevance": 0})
    runs = Runs.from_frame(table.assign(doc_text=["one", None, "<b>three</b>"]))
    one = Ranking.of_query(runs, runs.rerankers[0], "q")
    rows = one.rows[one.documents_of("q")]
    assert text_column(runs, runs.rerankers[0], rows, "doc_text") == ["", "<b>three</b>", "one"]
    assert text_column(runs, runs.rerankers[0], rows[:0], "doc_text") == []
    assert text_column(runs, runs.rerankers[0], rows, "query_text") is None


def test_texts_are_found_in_a_table_of_several_pieces():
    table = pa.concat_tables(
        [
            pa.table({"query_id": ["q"], "doc_id": [name], "score": [1.0], "doc_text": [name * 2]})
            for name in "abc"
        ]
    )
    runs = Runs({"A": table})
    assert text_column(runs, "A", np.array([2, 0]), "doc_text") == ["cc", "aa"]
