from fractions import Fraction
from math import log2

import pandas as pd
import pytest

from metrics.evaluation import ScoringOptions, score_runs
from metrics.runs.model import Runs

GRADES = [[600, 700, 3], [500, 501, 0], [2, 1, 0], [1500, 1501, 1499], [5000, 4999, 5000]]
TREATMENTS = ["input", "expected", "optimistic", "pessimistic"]


def exact_ndcg(grades):
    def dcg(ordered):
        return sum((2**grade - 1) * Fraction(1 / log2(place + 2)) for place, grade in enumerate(ordered))

    return float(dcg(grades) / dcg(sorted(grades, reverse=True)))


def scores_of(lists, scores, measures):
    rows = [
        (f"q{number}", f"d{place}", score, grade)
        for number, grades in enumerate(lists)
        for place, (grade, score) in enumerate(zip(grades, scores, strict=True))
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])
    return score_runs(Runs.from_frame(frame), measures, TREATMENTS, ScoringOptions()).scores


def test_ndcg_of_grades_past_500_is_that_of_exact_fractions():
    scores = scores_of(GRADES, [3, 2, 1], ["nDCG"])
    for ties in TREATMENTS:
        assert scores["nDCG", ties].to_list() == pytest.approx(list(map(exact_ndcg, GRADES)), rel=1e-12)


def test_a_tie_of_grades_past_500_is_the_mean_of_its_orders():
    value = scores_of([[600, 700]], [1, 1], ["nDCG"])["nDCG", "expected"].iloc[0]
    assert value == pytest.approx((exact_ndcg([600, 700]) + exact_ndcg([700, 600])) / 2, rel=1e-12)
