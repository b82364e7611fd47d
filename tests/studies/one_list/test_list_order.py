import pandas as pd
import pytest

from metrics import Runs, evaluate
from metrics.studies.one_list.list_order import list_label, lists_by_gap


def evaluated(rows, measures=("RR", "TsRR")):
    """The evaluation of lists, each the reranker, the query, and score and grade of its documents."""
    table = pd.DataFrame(
        [
            (reranker, query, f"d{place}", score, grade)
            for reranker, query, documents in rows
            for place, (score, grade) in enumerate(documents)
        ],
        columns=["reranker", "query_id", "doc_id", "score", "relevance"],
    )
    return evaluate(Runs.from_frame(table), measures, ["input", "expected", "optimistic", "pessimistic"])


UNTIED = [(3, 1), (2, 0), (1, 0)]
HALF = [(2, 1), (2, 0), (1, 0)]
"""RR 1 by the order of the file, .75 once ties are averaged."""
THIRD = [(2, 0), (2, 0), (2, 1)]
"""RR 1/3 by the order of the file, 11/18 once ties are averaged."""
LATE = [(2, 1), (1, 0), (1, 0)]
"""Two documents tie, and no order of them changes RR."""


def test_lists_are_ordered_by_the_size_of_the_gap_over_all_rerankers_whatever_its_sign():
    lists = lists_by_gap(evaluated([("a", "q1", HALF), ("a", "q2", UNTIED), ("b", "q1", THIRD)]), "RR", "input")
    assert list(zip(lists["reranker"], lists["query_id"], strict=True)) == [
        ("b", "q1"),
        ("a", "q1"),
        ("a", "q2"),
    ]
    assert lists["gap"].to_list() == pytest.approx([1 / 3 - 11 / 18, 0.25, 0])


def test_lists_of_one_gap_are_ordered_by_their_tied_documents_then_as_the_data_has_them():
    more_ties = [*HALF, (0, 0), (0, 0)]
    rows = [("a", "q1", HALF), ("a", "q2", HALF), ("b", "q1", more_ties)]
    lists = lists_by_gap(evaluated(rows), "RR", "input")
    assert (lists["reranker"] + lists["query_id"]).to_list() == ["bq1", "aq1", "aq2"]


def test_where_no_list_has_a_gap_the_one_with_the_most_ties_is_first():
    rows = [("a", "q1", UNTIED), ("a", "q2", LATE)]
    assert lists_by_gap(evaluated(rows), "RR", "input").loc[0, "query_id"] == "q2"


def test_a_measure_with_its_own_rule_is_ordered_by_the_measure_whose_ties_it_settles():
    rows = [("a", "q1", HALF), ("b", "q1", THIRD)]
    assert lists_by_gap(evaluated(rows), "TsRR", "input").equals(lists_by_gap(evaluated(rows), "RR", "input"))


@pytest.mark.parametrize(
    ("gap", "ties", "label"),
    [
        (0.5, 0.614, "q1 · gap +0.500 · 61% tied"),
        (-0.00031, 0.0001, "q1 · gap −0.00031 · under 1% tied"),
        (0.0, 1.0, "q1 · no gap · 100% tied"),
        (0.0, 0.0, "q1 · no ties"),
    ],
)
def test_the_label_of_a_list_begins_with_its_id_and_says_its_gap_and_its_ties(gap, ties, label):
    assert list_label("q1", gap, ties) == label
