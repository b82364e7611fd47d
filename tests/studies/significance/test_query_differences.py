import numpy as np
import pytest
from comparing import VALUES, scored
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, UsageError, evaluate
from metrics.studies.significance.query_differences import query_differences

BEFORE = {"A": {"p": 1, "q": 0.5, "r": 0.5, "alone": 1}, "B": {"p": 0.5, "q": 0.5, "r": 0.25}}
TIED = {"A": {"p": 0.6, "q": 0.5, "r": 0.5, "alone": 1}, "B": {"p": 0.5, "q": 0.25, "r": 0}}
SCORED = scored(input=BEFORE, expected=TIED)
COLUMNS = [
    "query_id",
    *("a", "b", "difference", "a_before", "b_before", "difference_before"),
    *("moved", "tie_ratio_a", "tie_ratio_b"),
]


def test_each_common_query_is_told_once_with_both_values():
    rows = query_differences(SCORED, "RR", "A", "B", "input")
    assert rows.columns.to_list() == COLUMNS
    assert rows.iloc[0].to_list() == ["p", 0.6, 0.5, 0.1, 1, 0.5, 0.5, 0.4, 0.5, 0.5]
    assert rows["query_id"].to_list() == ["p", "r", "q"]


def test_by_difference_the_farthest_apart_come_first():
    assert query_differences(SCORED, "RR", "A", "B", "input", sort_by="difference")["query_id"].to_list() == [
        "r",
        "q",
        "p",
    ]


@pytest.mark.parametrize("n", [0, 2, 9])
def test_no_more_rows_come_than_asked_for(n):
    assert len(query_differences(SCORED, "RR", "A", "B", "input", n)) == min(n, 3)


def test_with_the_rerankers_swapped_differences_are_negated():
    forth, back = (
        query_differences(SCORED, "RR", "A", "B", "input"),
        query_differences(SCORED, "RR", "B", "A", "input"),
    )
    for name in ("difference", "difference_before", "moved"):
        assert forth[name].to_list() == (-back[name]).to_list()


def test_ties_are_those_of_each_list():
    strict = [Doc("a", 2, 1), Doc("b", 1, 0)]
    tied = [Doc("a", 1, 0), Doc("b", 1, 1), Doc("c", 0, 0)]
    lists = Runs.from_frame(frame({"A": {"q": strict}, "B": {"q": tied}}))
    row = query_differences(evaluate(lists, ["RR"], ["input", "expected"]), "RR", "A", "B", "input").iloc[0]
    assert row[["a", "b", "b_before", "moved"]].to_list() == [1, 0.75, 0.5, 0.25]
    assert row[["tie_ratio_a", "tie_ratio_b"]].to_list() == [0, 2 / 3]


@given(tables())
def test_rows_are_in_order_hold_no_gap_and_add_up(lists):
    lists = {"first": next(iter(lists.values()))} | lists
    evaluation = evaluate(Runs.from_frame(frame(lists)), ["RR"], ["input", "expected"])
    for other in lists:
        for sort_key in ("moved", "difference"):
            rows = query_differences(evaluation, "RR", "first", other, "input", sort_by=sort_key)
            assert rows.notna().all(axis=None)
            assert rows[sort_key].abs().is_monotonic_decreasing
            assert np.allclose(rows["moved"], rows["difference_before"] - rows["difference"], atol=1e-11)
            assert np.allclose(rows["difference"], rows["a"] - rows["b"], atol=1e-11)


@given(st.dictionaries(st.sampled_from("pqrs"), VALUES), st.dictionaries(st.sampled_from("pqrs"), VALUES))
def test_only_queries_both_have_are_told(ours, theirs):
    evaluation = scored(expected={"A": ours, "B": theirs, "C": {"x": 1}})
    rows = query_differences(evaluation, "RR", "A", "B", "expected")
    assert set(rows["query_id"]) == set(ours) & set(theirs)
    assert (rows["moved"] == 0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"a": "Z"}, "no reranker 'Z'"),
        ({"traditional": "random:1"}, "random:1"),
        ({"sort_by": "size"}, "size"),
    ],
)
def test_what_was_not_evaluated_is_refused(options, words):
    with pytest.raises(UsageError, match=words):
        query_differences(SCORED, **{"measure": "RR", "a": "A", "b": "B", "traditional": "input"} | options)
