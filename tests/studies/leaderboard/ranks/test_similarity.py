"""Rank similarity against enumeration of every way to break the ties of both rankings, in exact fractions."""

from fractions import Fraction
from itertools import permutations, product
from math import nan, sqrt

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import UsageError, rank_similarity
from metrics.studies.leaderboard.ranks.similarity import SIMILARITIES, leaderboard_similarity, similarity_words

HALF = Fraction(1, 2)
ITEMS = "abcdef"


def linear_orders(scores):
    """Every order that the ties of a ranking allow."""
    groups = [
        [item for item in scores if scores[item] == score] for score in sorted(set(scores.values()))[::-1]
    ]
    for parts in product(*(permutations(group) for group in groups)):
        yield [item for part in parts for item in part]


def tau_of(first, second):
    pairs = [(a, b) for place, a in enumerate(first) for b in first[place + 1 :]]
    agreements = sum(1 if second.index(a) < second.index(b) else -1 for a, b in pairs)
    return Fraction(agreements, len(pairs))


def tau_ap_of(truth, judged):
    shares = []
    for place in range(1, len(judged)):
        right = sum(truth.index(above) < truth.index(judged[place]) for above in judged[:place])
        shares.append(Fraction(right, place))
    return 2 * sum(shares) / (len(judged) - 1) - 1


def overlap_of(first, second):
    """Rank-biased overlap of persistence 1/2."""
    depth = min(len(first), len(second))
    agreements = [Fraction(len({*first[:d]} & {*second[:d]}), d) for d in range(1, depth + 1)]
    return sum(agreement * HALF**d for d, agreement in enumerate(agreements, 1)) + agreements[-1] * HALF**depth


def every_value(measure, first, second):
    strict = {"tau_b": tau_of, "tau_ap": tau_ap_of}.get(measure, overlap_of)
    return [strict(*orders) for orders in product(linear_orders(first), linear_orders(second))]


rankings = st.lists(st.integers(0, 3), min_size=2, max_size=5).map(
    lambda scores: dict(zip(ITEMS, scores, strict=False))
)


@st.composite
def pairs_of_rankings(draw, *, same_items):
    first = draw(rankings)
    items = list(first) if same_items else draw(st.permutations(ITEMS))[: draw(st.integers(1, 5))]
    return first, {item: draw(st.integers(0, 3)) for item in items}


@pytest.mark.parametrize("measure", SIMILARITIES)
@settings(max_examples=40)
@given(data=st.data())
def test_mean_least_and_most_are_those_of_every_way_to_break_the_ties(measure, data):
    first, second = data.draw(pairs_of_rankings(same_items=measure.startswith("tau")))
    values = every_value(measure, first, second)
    similarity = rank_similarity(first, second, measure, persistence=0.5)
    assert similarity.worst == pytest.approx(float(min(values)), abs=1e-12)
    assert similarity.best == pytest.approx(float(max(values)), abs=1e-12)
    assert similarity.expected == pytest.approx(float(sum(values) / len(values)), abs=1e-12)


@settings(max_examples=40)
@given(pair=pairs_of_rankings(same_items=True))
def test_tau_b_divides_by_the_pairs_that_each_ranking_orders(pair):
    first, second = pair
    signs = [
        ((first[a] > first[b]) - (first[a] < first[b]), (second[a] > second[b]) - (second[a] < second[b]))
        for a, b in product(first, first)
    ]
    ordered = sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs)
    expected = sum(s * t for s, t in signs) / sqrt(ordered) if ordered else nan
    assert rank_similarity(first, second).value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(ranking=rankings)
def test_a_ranking_and_itself_agree_wholly_where_its_ties_are_shared(ranking):
    assert rank_similarity(ranking, ranking, "rbo_b").value == pytest.approx(1)
    assert rank_similarity(ranking, ranking, "rbo_w").value == pytest.approx(1)
    assert rank_similarity(ranking, ranking, "rbo_a").best == pytest.approx(1)


def test_the_variants_of_overlap_say_different_things_of_one_tie():
    tied, strict = {"a": 1, "b": 1}, {"a": 2, "b": 1}
    values = {name: rank_similarity(tied, strict, f"rbo_{name}", persistence=0.5).value for name in "wab"}
    # depth 1: w finds {a, b} beside {a}, 2/3; a and b find half of a: 1/2, and 1/2 over sqrt(1/2); depth 2: all
    at_first = {"w": 2 / 3, "a": 1 / 2, "b": sqrt(1 / 2)}
    assert values == {name: pytest.approx(agreement / 2 + 1 / 2) for name, agreement in at_first.items()}


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ({"a": 1}, {"b": 1}, {}, "same items"),
        ({}, {"b": 1}, {}, "empty"),
        ({"a": nan}, {"a": 1}, {}, "'a' has no finite score"),
        ({"a": 1}, {"a": 1}, {"measure": "spearman"}, "tau_b, tau_ap"),
        ({"a": 1}, {"a": 1}, {"persistence": 1}, "above 0 and below 1"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_do(first, second, options, message):
    with pytest.raises(UsageError, match=message):
        rank_similarity(first, second, **options)


def test_a_published_leaderboard_is_held_against_the_tied_one_by_every_measure():
    published = pd.Series({"a": 0.6, "b": 0.5, "c": 0.5, "d": 0.4, "x": 0.9})
    tied = pd.Series({"b": 0.5, "a": 0.55, "c": 0.3, "d": 0.1 + 0.2, "y": 0.1})
    table = leaderboard_similarity(tied, published)
    assert list(table.index) == list(SIMILARITIES)
    exact = rank_similarity({"a": 3, "b": 2, "c": 1, "d": 1}, {"a": 3, "b": 2, "c": 2, "d": 1}, "tau_ap")
    assert tuple(table.loc["tau_ap", list(exact._fields)]) == pytest.approx(tuple(exact))
    assert table.loc["tau_b", ["worst", "best"]].tolist() == pytest.approx([1 / 3, 1])
    sentence = "in brackets by how level rerankers are ordered: Kendall's τ_b 0.800 (0.333 to 1.000); τ_AP"
    assert sentence in similarity_words(table)
    assert not len(leaderboard_similarity(tied[:1], published))
    assert not similarity_words(leaderboard_similarity(tied[:1], published))
    reversed_order = similarity_words(leaderboard_similarity(tied[:2], -tied[:2]))
    assert "τ_b −1.000; τ_AP −1.000; rank-biased overlap" in reversed_order
    assert "overlap" in similarity_words(leaderboard_similarity(0 * tied, published))
