"""Who could lead by ties and by unjudged documents."""

import pandas as pd
import pytest

from metrics import parse
from metrics.studies.leaderboard.holes import can_lead, hole_finding
from metrics.studies.prose import plain

COUNTS = pd.DataFrame(
    {"documents": [10, 10, 10, 10], "unjudged": [4.0, 2.0, 0.0, 2.0]},
    index=pd.MultiIndex.from_product([["a", "b"], ["q1", "q2"]], names=["reranker", "query_id"]),
)
A = (0.5, 0.6, 0.6, 0.9)
WHY = "20% of the documents in the top 10 were never judged, 30% of those of a."


def rows(*bars):
    """A row a reranker: lowest, worst, best, highest."""
    table = pd.DataFrame(bars, columns=["lowest", "worst", "best", "highest"], index=list("abcd")[: len(bars)])
    return table.assign(tied=table[["worst", "best"]].mean(axis=1))


def finding(table):
    return plain(hole_finding(table, COUNTS, parse("nDCG@10")))


@pytest.mark.parametrize(
    ("bars", "sentence"),
    [
        ([A, (0.4, 0.5, 0.7, 0.7)], "as many as by ties alone"),
        (
            [(0.5, 0.6, 0.6, 0.9), (0.4, 0.5, 0.5, 0.7)],
            "By the bars, 2 of 2 rerankers could lead, by ties alone only a",
        ),
        (
            [(0.5, 0.6, 0.6, 0.9), (0.5, 0.6, 0.6, 0.9), (0.4, 0.5, 0.5, 0.7)],
            "3 of 3 rerankers could lead, by ties alone 2",
        ),
        (
            [(0.5, 0.6, 0.6, 0.9), (0.1, 0.2, 0.2, 0.3)],
            "a leads however ties fall and unjudged documents are judged",
        ),
        ([(0.5, 0.5, 0.6, 0.6)], "What nobody judged moves no nDCG@10"),
        ([(0.4, 0.5, 0.6, 0.7)], "a nDCG@10 from 0.400 to 0.700, ties alone from 0.500 to 0.600"),
        ([(0.4, 0.5, 0.5, 0.7)], "a nDCG@10 from 0.400 to 0.700, it is 0.500 if none is relevant"),
    ],
)
def test_the_finding_says_who_could_lead_by_the_bars_and_who_by_ties_alone(bars, sentence):
    text = finding(rows(*bars))
    assert sentence in text
    assert text.endswith(f": {WHY}")


def test_who_is_not_scored_leads_nowhere_and_alone_says_nothing():
    table = rows((0.5, 0.6, 0.6, 0.9), (None, None, None, None))
    assert can_lead(table, "lowest", "highest").tolist() == [True, False]
    assert finding(table.iloc[1:]) == "No list is scored: every query was left out."
