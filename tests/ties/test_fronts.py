"""Several criteria: lists stand by non-dominated fronts, and a front is a tie."""

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, UsageError, evaluate
from metrics.support import arrays
from metrics.ties import fronts
from metrics.ties.fronts import front_numbers

MEASURES = ["RR", "AP", "nDCG@3", "Hits@2"]
TIES = ["expected", "input", "optimistic", "pessimistic"]
VALUES = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf])


@st.composite
def lists_of_points(draw):
    """Points of one to four criteria in up to four lists."""
    n_criteria = draw(st.integers(1, 4))
    points = st.lists(st.tuples(*[VALUES] * n_criteria), max_size=9)
    return n_criteria, draw(st.lists(points, max_size=4))


def peeled(points):
    """Fronts as they are defined: what no other point dominates, then the same of the rest."""
    numbers, left = {}, dict(enumerate(points))
    while left:
        front = [
            at
            for at, point in left.items()
            if not any(
                other != point and all(a >= b for a, b in zip(other, point, strict=True))
                for other in left.values()
            )
        ]
        numbers |= dict.fromkeys(front, max(numbers.values(), default=-1) + 1)
        left = {at: point for at, point in left.items() if at not in front}
    return [numbers[at] for at in range(len(points))]


@given(lists_of_points())
def test_fronts_are_those_that_peeling_gives(drawn):
    n_criteria, lists = drawn
    points = [point for points in lists for point in points]
    criteria = [np.array([point[column] for point in points]) for column in range(n_criteria)]
    starts = np.cumsum([0, *map(len, lists)])
    assert front_numbers(criteria, starts).tolist() == [number for points in lists for number in peeled(points)]


def test_lists_of_every_length_are_put_into_fronts_apart(monkeypatch):
    random = np.random.default_rng(5)
    starts = np.cumsum([0, *random.integers(0, 60, 40)])
    criteria = list(random.integers(0, 9, (2, starts[-1])).astype(float))
    together = front_numbers(criteria, starts)
    monkeypatch.setattr(arrays, "_CELLS", 64)
    assert front_numbers(criteria, starts).tolist() == together.tolist()
    for first, end in pairwise(starts):
        alone = front_numbers([column[first:end] for column in criteria], np.array([0, end - first]))
        assert alone.tolist() == together[first:end].tolist()


def runs(**columns):
    n_docs = len(columns["score"])
    table = {"query_id": ["q"] * n_docs, "doc_id": [str(place) for place in range(n_docs)], **columns}
    return Runs({"A": pa.table(table)})


@given(st.lists(st.tuples(VALUES, VALUES, st.sampled_from([0.0, 1.0, 2.0])), min_size=1, max_size=10))
def test_every_treatment_takes_fronts_for_ties(rows):
    score, cost, relevance = map(list, zip(*rows, strict=True))
    numbers = peeled([(high, low if low == -math.inf else -low) for high, low in zip(score, cost, strict=True)])
    by_fronts = evaluate(
        runs(score=score, cost=cost, relevance=relevance), MEASURES, TIES, criteria=("score", "cost:asc")
    )
    as_scores = evaluate(runs(score=[-1.0 - number for number in numbers], relevance=relevance), MEASURES, TIES)
    assert by_fronts.scores.equals(as_scores.scores)
    assert by_fronts.lists.equals(as_scores.lists)


@pytest.mark.parametrize("criterion", ["cost", "cost:desc", "cost:asc"])
def test_a_missing_score_is_last_whichever_way_a_criterion_points(criterion):
    table = runs(score=[0.0] * 3, cost=[-math.inf, 1.0, 2.0], relevance=[1.0, 0.0, 0.0])
    assert evaluate(table, ["RR"], ["expected"], criteria=[criterion]).scores.iloc[0, 0] == pytest.approx(1 / 3)


@given(st.sampled_from(["score", "cost", "cost:asc", "a:desc", "a:b"]), st.booleans())
def test_a_criterion_is_written_as_it_is_read(column, highest_best):
    text = fronts.criterion_text(column, highest_best=highest_best)
    assert fronts.criterion(text) == (column, highest_best)


def test_one_criterion_is_a_score():
    table = runs(score=[1.0, 2.0, 2.0], other=[3.0, 1.0, 2.0], relevance=[1.0, 0.0, 2.0])
    renamed = runs(score=[3.0, 1.0, 2.0], relevance=[1.0, 0.0, 2.0])
    assert evaluate(table, criteria=["other"]).scores.equals(evaluate(renamed).scores)


def test_further_scores_split_fronts_and_precision_rounds_criteria_first():
    table = runs(score=[2.0, 1.04, 1.0], cost=[3.0, 1.0, 1.0], relevance=[0.0, 0.0, 1.0], third=[0.0, 0.0, 1.0])
    by = {"criteria": ("score", "cost:asc"), "measures": ["RR"], "ties": ["expected"]}
    assert evaluate(table, **by).scores.iloc[0, 0] == pytest.approx(1 / 3)
    rounded = evaluate(table, **by, precision="decimals:1").scores.iloc[0, 0]
    assert rounded == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert evaluate(table, **by, precision="decimals:1", tiebreak_by=["third"]).scores.iloc[0, 0] == 1


def test_what_cannot_be_ranked_by_is_said():
    table = runs(score=[1.0], cost=[1.0], relevance=[1.0])
    with pytest.raises(UsageError, match=r"no score column 'price' to rank by\. There are: cost"):
        evaluate(table, criteria=["score", "price:asc"])


def test_a_list_too_long_for_fronts_is_refused(monkeypatch):
    monkeypatch.setattr(fronts, "MAX_LIST", 2)
    with pytest.raises(UsageError, match=r"3 documents is too long .*several criteria.* the limit is 2"):
        evaluate(runs(score=[1.0] * 3, relevance=[1.0] * 3), criteria=["score"])


def test_a_sentence_names_the_direction_of_a_criterion_where_the_lowest_is_best():
    assert fronts.criteria_words(["score", "fresh:asc", "cost"]) == "score, fresh (lowest first) and cost"
    assert fronts.criteria_words(["cost:desc"]) == "cost"
