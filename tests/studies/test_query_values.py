import numpy as np
import pytest
from comparing import VALUES, scored
from drawing import frame as drawn
from drawing import tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.studies.prose import plain
from metrics.studies.query_values import query_differences, win_loss, win_loss_finding

TIES = ["expected", "input"]


def ranked(*order, hit="a"):
    return [Doc(d, len(order) - at, int(d == hit)) for at, d in enumerate(order)]


TIED = [Doc(d, 1, int(d == "a")) for d in "abc"]


def outcomes(lists, baseline="A"):
    evaluation = evaluate(Runs.from_frame(drawn(lists)), ["RR"], TIES)
    return win_loss(evaluation, "RR", baseline, "input")


def test_outcomes_are_counted_by_tied_and_by_traditional_values():
    lists = {
        "A": {"q": ranked("a", "b"), "r": ranked("b", "a"), "s": TIED},
        "B": {"q": ranked("b", "a"), "r": ranked("a", "b"), "s": ranked("a", "b")},
    }
    row = outcomes(lists).loc["B"]
    assert row[["won", "equal", "lost"]].to_list() == [2, 0, 1]
    assert row[["won_before", "equal_before", "lost_before"]].to_list() == [1, 1, 1]
    assert (row["changed"], row["n"]) == (1, 3)


@given(tables())
def test_outcomes_add_up_and_are_mirrored_when_the_baseline_is_the_other(lists):
    first = next(iter(lists))
    for other, forth in outcomes(lists, first).iterrows():
        back = outcomes(lists, other).loc[first]
        assert forth["won"] + forth["equal"] + forth["lost"] == forth["n"] == back["n"]
        assert (forth["won"], forth["equal"], forth["lost"]) == (back["lost"], back["equal"], back["won"])
        assert forth["changed"] == back["changed"] <= forth["n"]


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ({"A": {"q": ranked("a", "b")}}, "nothing to compare"),
        ({"A": {"q": ranked("a", "b")}, "B": {"q": ranked("b", "a")}}, "Ties change no outcome"),
        ({"A": {"q": TIED}, "B": {"q": ranked("a", "b")}}, "on 1 of 1 query for B: 0 won and 0 lost"),
    ],
)
def test_the_finding_says_what_ties_decide(lists, words):
    assert words in plain(win_loss_finding(outcomes(lists), "A"))


BEFORE = {"A": {"p": 1, "q": 0.5, "r": 0.5, "alone": 1}, "B": {"p": 0.5, "q": 0.5, "r": 0.25}}
TIED_VALUES = {"A": {"p": 0.6, "q": 0.5, "r": 0.5, "alone": 1}, "B": {"p": 0.5, "q": 0.25, "r": 0}}
SCORED = scored(input=BEFORE, expected=TIED_VALUES)
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


def test_ties_are_those_of_each_list():
    strict = [Doc("a", 2, 1), Doc("b", 1, 0)]
    tied = [Doc("a", 1, 0), Doc("b", 1, 1), Doc("c", 0, 0)]
    evaluation = evaluate(Runs.from_frame(drawn({"A": {"q": strict}, "B": {"q": tied}})), ["RR"], TIES)
    row = query_differences(evaluation, "RR", "A", "B", "input").iloc[0]
    assert row[["a", "b", "b_before", "moved"]].to_list() == [1, 0.75, 0.5, 0.25]
    assert row[["tie_ratio_a", "tie_ratio_b"]].to_list() == [0, 2 / 3]


@given(tables())
def test_rows_are_in_order_hold_no_gap_and_add_up(lists):
    lists = {"first": next(iter(lists.values()))} | lists
    evaluation = evaluate(Runs.from_frame(drawn(lists)), ["RR"], ["input", "expected"])
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
