"""The tables an evaluation holds."""

import math
import statistics

import pandas as pd
import pytest
from drawing import frame, tables
from enumeration import Doc, tie_groups
from hypothesis import given

from metrics import Running, Runs, UsageError, evaluate

TIED = {"A": {"q1": [Doc("a", 2, 0), Doc("b", 1, 1), Doc("c", 1, 0)], "q2": [Doc("a", 1, 1)]}}
RANKED = {"z": TIED["A"], "a": {"q1": [Doc("a", 1, 1)]}}


def scored(table, *args, **policies):
    return evaluate(Runs.from_frame(frame(table)), *args, **policies)


def test_scores_are_indexed_by_reranker_and_query_with_columns_measure_and_ties():
    scores = scored(RANKED, ["Hits@2", "RR"], ["pessimistic", "expected"]).scores
    assert scores.index.names == ["reranker", "query_id"]
    assert scores.index.to_list() == [("z", "q1"), ("z", "q2"), ("a", "q1")]
    assert scores.columns.names == ["measure", "ties"]
    assert scores.columns.to_list() == [
        ("Hits@2", "pessimistic"),
        ("Hits@2", "expected"),
        ("RR", "pessimistic"),
        ("RR", "expected"),
    ]


def test_a_measure_or_treatment_asked_for_twice_is_given_once():
    evaluation = scored(TIED, ["RR", "MRR", "mtrr"], ["expected", "expected"])
    assert evaluation.measures == ("RR",)
    assert evaluation.ties == ("expected",)
    assert evaluation.scores.columns.to_list() == [("RR", "expected")]


def test_lists_describe_the_ties_of_each_list():
    lists = scored(TIED, ["Hits@1", "RR@2", "Hits@3"], ["expected"]).lists
    assert lists.loc[("A", "q1")].to_dict() == {
        "n_docs": 3,
        "n_relevant": 1,
        "n_tie_groups": 1,
        "max_tie_size": 2,
        "tied_docs": 2,
        "tie_ratio": pytest.approx(2 / 3),
        "log10_orderings": pytest.approx(0.30103),
        "straddles_1": False,
        "straddles_2": True,
        "straddles_3": False,
    }
    assert lists.loc[("A", "q2"), ["n_tie_groups", "max_tie_size", "tie_ratio"]].to_list() == [0, 1, 0]


@given(tables())
def test_lists_count_what_plain_counting_finds(table):
    lists = scored(table, ["Hits@1", "Hits@3"], ["expected"]).lists
    for (reranker, query), row in lists.iterrows():
        docs = table[reranker][query]
        sizes = [len(group) for group in tie_groups(docs)]
        tied = [size for size in sizes if size > 1]
        starts = [sum(sizes[:at]) for at in range(len(sizes))]
        assert row["n_docs"] == len(docs)
        assert row["n_relevant"] == sum(doc.grade >= 1 for doc in docs)
        assert row["n_tie_groups"] == len(tied)
        assert row["max_tie_size"] == max(sizes)
        assert row["tied_docs"] == sum(tied)
        assert row["tie_ratio"] == pytest.approx(sum(tied) / len(docs))
        for k in (1, 3):
            crosses = any(start < k < start + size for start, size in zip(starts, sizes, strict=True))
            assert row[f"straddles_{k}"] == crosses


def test_a_cutoff_is_only_straddled_where_it_is_asked_for():
    columns = scored(TIED, ["RR"], ["expected"]).lists.columns
    assert not [name for name in columns if name.startswith("straddles")]


@given(tables())
def test_the_summary_is_mean_sample_deviation_and_number_of_each_rerankers_lists(table):
    evaluation = scored(table, ["RR", "Hits@2"], ["input", "expected"])
    summary = evaluation.summary()
    assert summary.index.to_list() == list(table)
    for reranker in table:
        for column in evaluation.scores:
            values = evaluation.scores.loc[reranker][column].to_list()
            assert summary.loc[reranker, (*column, "mean")] == pytest.approx(statistics.fmean(values))
            assert summary.loc[reranker, (*column, "n")] == len(values)
            if len(values) > 1:
                spread = statistics.stdev(values)
                assert summary.loc[reranker, (*column, "std")] == pytest.approx(spread, abs=1e-12)


def test_the_flat_summary_has_a_row_per_reranker_and_measure_tied_first():
    evaluation = scored(RANKED, ["RR", "Hits@2"], ["input", "expected", "optimistic"])
    flat = evaluation.summary(flat=True)
    assert flat.columns.to_list() == ["reranker", "measure", "n", "expected", "input", "optimistic"]
    wide = evaluation.summary()
    for row in flat.to_dict("records"):
        means = wide.loc[row["reranker"], row["measure"]]
        assert row["n"] == means["expected", "n"]
        assert [row[ties] for ties in evaluation.ties] == [means[ties, "mean"] for ties in evaluation.ties]
    pairs = [(reranker, measure) for reranker in wide.index for measure in evaluation.measures]
    assert list(zip(flat["reranker"], flat["measure"], strict=True)) == pairs


def test_the_flat_summary_of_what_is_scored_by_default_fits_80_columns():
    table = {"cross-encoder-v2": {"q": [Doc("a", 1, 1), Doc("b", 1, 0)]}}
    printed = str(evaluate(Runs.from_frame(frame(table))).summary(flat=True))
    assert max(map(len, printed.splitlines())) <= 80
    assert "\n\n" not in printed


def test_the_deviation_of_one_list_is_not_a_number():
    summary = scored({"A": {"q": [Doc("a", 1, 1)]}}, ["RR"], ["expected"]).summary()
    assert summary.columns.to_list() == [
        ("RR", "expected", "mean"),
        ("RR", "expected", "std"),
        ("RR", "expected", "n"),
    ]
    assert pd.isna(summary["RR", "expected", "std"].iloc[0])


def test_the_order_of_rerankers_is_the_order_given():
    assert scored(RANKED, ["RR"], ["expected"]).summary().index.to_list() == ["z", "a"]
    assert scored(RANKED, ["RR"], ["expected"]).policies.index.to_list() == ["z", "a"]


def test_only_some_rerankers_keep_their_values_in_the_order_asked():
    evaluation = scored(RANKED, ["RR"], ["expected"])
    selection = evaluation.only(["a", "z"])
    assert selection.summary().index.to_list() == ["a", "z"]
    assert selection.scores.loc["z"].equals(evaluation.scores.loc["z"])
    assert evaluation.only(["a"]).lists.index.to_list() == [("a", "q1")]
    assert evaluation.only(["a", "z", "a"]).scores.equals(selection.scores)
    whole = selection.only(selection.policies.index)
    pd.testing.assert_frame_equal(whole.scores, selection.scores)
    whole.scores.iloc[:] = -1
    assert selection.scores.ge(0).all(axis=None)
    assert selection.only(["z", "a"]).summary().index.to_list() == ["z", "a"]


def test_a_reranker_with_every_list_left_out_can_be_picked():
    table = RANKED | {"none": {"q1": [Doc("a", 1, 0)]}}
    evaluation = scored(table, ["RR"], ["expected"], empty="skip")
    assert not len(evaluation.only(["none"]).scores)
    assert evaluation.only(["z", "none"]).scores.equals(evaluation.only(["z"]).scores)


@pytest.mark.parametrize(("measures", "ties"), [([], ["expected"]), (["RR"], [])])
def test_an_evaluation_of_nothing_is_refused(measures, ties):
    with pytest.raises(UsageError, match="at least one"):
        scored(TIED, measures, ties)


def test_evaluating_leaves_the_runs_as_they_were():
    runs = Runs.from_frame(frame(TIED))
    before = {name: table.to_pydict() for name, table in runs.tables.items()}
    evaluate(runs)
    assert {name: table.to_pydict() for name, table in runs.tables.items()} == before


def test_gm_map_is_the_geometric_mean_of_ap_with_the_floor_of_trec_eval():
    table = pd.DataFrame(
        {"query_id": [*"qqrrs"], "doc_id": [*"ababa"], "score": [1, 1, 2, 1, 1], "relevance": [0, 1, 0, 1, 0]}
    )
    evaluation = evaluate(table, ["AP", "gm_map"], ["expected", "pessimistic"])
    for ties, values in {"expected": [0.75, 0.5, 1e-5], "pessimistic": [0.5, 0.5, 1e-5]}.items():
        mean = pytest.approx(math.prod(values) ** (1 / 3))
        assert evaluation.means("gm_map")[ties].to_list() == [mean]
        assert evaluation.summary()["gm_map", ties, "mean"].to_list() == [mean]
        assert evaluation.means("AP")[ties].to_list() == [pytest.approx((values[0] + 0.5) / 3)]
    running = Running(["gm_map"])
    for query in "qrs":
        running.add(table[table["query_id"] == query])
    assert running.means()["tied"].to_list() == [pytest.approx((0.75 * 0.5 * 1e-5) ** (1 / 3))]
