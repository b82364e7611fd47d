"""Who could lead by ties and by unjudged documents."""

import numpy as np
import pandas as pd
import pytest

from metrics import parse
from metrics.studies.holes import can_lead, holds, hole_finding, order_finding
from metrics.studies.prose import plain

COUNTS = pd.DataFrame(
    {"documents": [10, 10, 10, 10], "unjudged": [4.0, 2.0, 0.0, 2.0]},
    index=pd.MultiIndex.from_product([["a", "b"], ["q1", "q2"]], names=["reranker", "query_id"]),
)
A = (0.5, 0.6, 0.6, 0.9)
WHY = "20% of the documents in the top 10 are unjudged, 30% for a."


def rows(*bars):
    """A row a reranker: lowest, worst, best, highest."""
    table = pd.DataFrame(bars, columns=["lowest", "worst", "best", "highest"], index=list("abcd")[: len(bars)])
    return table.assign(tied=table[["worst", "best"]].mean(axis=1))


def finding(table):
    return plain(hole_finding(table, COUNTS, parse("nDCG@10")))


@pytest.mark.parametrize(
    ("bars", "sentence"),
    [
        ([A, (0.4, 0.5, 0.7, 0.7)], "as many as by tie order alone"),
        (
            [(0.5, 0.6, 0.6, 0.9), (0.4, 0.5, 0.5, 0.7)],
            "Up to 2 of 2 rerankers could lead if every document were judged, but tie order alone lets only a",
        ),
        (
            [(0.5, 0.6, 0.6, 0.9), (0.5, 0.6, 0.6, 0.9), (0.4, 0.5, 0.5, 0.7)],
            "Up to 3 of 3 rerankers could lead if every document were judged, but tie order alone lets only 2",
        ),
        (
            [(0.5, 0.6, 0.6, 0.9), (0.1, 0.2, 0.2, 0.3)],
            "a leads in every tie order and for all grades of unjudged documents",
        ),
        ([(0.5, 0.5, 0.6, 0.6)], "Unjudged documents do not widen any bounds"),
        (
            [(0.4, 0.5, 0.6, 0.7)],
            "a has nDCG@10 between 0.400 and 0.700, depending on ties and unjudged documents (0.500 to 0.600",
        ),
        ([(0.4, 0.5, 0.5, 0.7)], "0.500 if no unjudged document is relevant"),
    ],
)
def test_the_finding_says_who_could_lead_by_the_bars_and_who_by_ties_alone(bars, sentence):
    text = finding(rows(*bars))
    assert sentence in text
    assert text.endswith((f": {WHY}", f"do not widen any bounds, although {WHY}"))


def test_who_is_not_scored_leads_nowhere_and_alone_says_nothing():
    table = rows((0.5, 0.6, 0.6, 0.9), (None, None, None, None))
    assert can_lead(table, "lowest", "highest").tolist() == [True, False]
    assert finding(table.iloc[1:]) == "No list is scored: every query was left out."


@pytest.mark.parametrize(
    ("is_safe", "is_significant", "words"),
    [
        ([False], [True], "in the comparison, the bounds of the difference include 0."),
        ([False, False], [True, False], "in both comparisons, the bounds"),
        ([True, False], [True, True], "1 of 2 comparisons keeps the same order"),
        (
            [True, False],
            [True, True],
            "(1 of the 2 significant comparisons). More comparisons may keep their order, because the bounds "
            "can be wider",
        ),
        ([True, True], [False, False], "for all grades of unjudged documents."),
    ],
)
def test_stable_comparisons_are_counted_among_all_and_significant_ones(is_safe, is_significant, words):
    assert words in plain(order_finding(np.array(is_safe), np.array(is_significant), shares_grades=True))


def test_where_each_bar_has_its_own_judgments_that_is_said():
    differences = pd.DataFrame({"lowest": [0.1, -0.2, -0.1], "highest": [0.2, 0.0, -0.01]})
    assert holds(differences).tolist() == [True, False, True]
    text = plain(order_finding(holds(differences).to_numpy(), np.zeros(3, dtype=bool), shares_grades=False))
    assert "More comparisons may keep their order, because the bounds" in text
    assert "different grades" in text
    assert text.endswith("in the two lists.")
