"""Changes between two evaluations, and which of them tie order cannot explain."""

import pandas as pd
import pytest

from metrics import evaluate
from metrics.report.review import change_finding, value_changes
from metrics.studies.prose import plain

TREATMENTS = ["expected", "optimistic", "pessimistic", "input"]


def state(**scores):
    """Rerankers with the scores of three documents, of which the first is relevant."""
    rows = [
        {"reranker": name, "query_id": "q", "doc_id": document, "score": score, "relevance": document == "a"}
        for name, values in scores.items()
        for document, score in zip("abc", values, strict=True)
    ]
    return evaluate(pd.DataFrame(rows), ["RR"], TREATMENTS)


BEFORE = state(same=(3, 2, 1), tied=(1, 1, 1), up=(1, 2, 3), down=(3, 2, 1), gone=(1, 2, 3))
AFTER = state(same=(9, 2, 1), tied=(1, 1, 0), up=(3, 1, 1), down=(1, 2, 2), new=(1, 2, 3))
CHANGES = value_changes(BEFORE, AFTER, "input").set_index("reranker")


def test_a_change_is_one_in_every_order_where_the_ranges_of_the_orders_are_apart():
    assert CHANGES["verdict"].to_dict() == {
        "same": "equal",
        "tied": "within the ties",
        "up": "higher in every order",
        "down": "lower in every order",
        "new": "new",
        "gone": "gone",
    }


def test_changes_are_those_of_the_tied_values():
    assert CHANGES.loc["tied", "change"] == pytest.approx(3 / 4 - 11 / 18)
    assert CHANGES.loc["tied", ["traditional_before", "traditional"]].to_list() == [1, 1]
    assert CHANGES.loc[["new", "gone"], "change"].isna().all()


def test_the_finding_counts_changes_and_names_the_largest_that_no_order_makes():
    words = plain(change_finding(CHANGES.reset_index()))
    assert words == "3 of 4 values changed, 2 of them in every tie order: up is 0.6667 higher in RR."


def test_states_without_a_common_reranker_are_not_compared():
    changes = value_changes(state(a=(1, 2, 3)), state(b=(1, 2, 3)), "input")
    assert "no reranker in common" in plain(change_finding(changes))
    assert plain(change_finding(value_changes(BEFORE, BEFORE, "input"))) == "No value changed."
