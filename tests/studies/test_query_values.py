import pytest
from drawing import frame as drawn
from drawing import tables
from enumeration import Doc
from hypothesis import given

from metrics import Runs, evaluate
from metrics.studies.prose import plain
from metrics.studies.query_values import win_loss, win_loss_finding

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


def test_the_baseline_is_not_compared_with_itself():
    lists = {name: {"q": ranked("a", "b")} for name in "ABC"}
    assert outcomes(lists, "B").index.to_list() == ["A", "C"]


def test_queries_one_of_the_two_lacks_do_not_count():
    lists = {"A": {"q": ranked("a", "b")}, "B": {"q": ranked("b", "a"), "r": ranked("a")}}
    assert outcomes(lists).loc["B", "n"] == 1


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
