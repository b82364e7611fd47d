"""Orderings and relevance patterns of ties, and the chances of ranks."""

import math
from collections import Counter
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from drawing import frame, lists
from enumeration import all_orderings
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs
from metrics.measures.first_hit import first_relevant_rank
from metrics.ties import Ranking, log10_factorials
from metrics.ties.permutations import OrderingCounts, Orderings, count_orderings, place_chances


def ranking(docs):
    runs = Runs.from_frame(frame({"A": {"q": docs}}))
    return Ranking.of(runs, "A")


@given(lists())
def test_orderings_are_all_the_enumeration_gives_and_as_many_as_counted(docs):
    tied_ranking = ranking(docs)
    orderings = Orderings.of(tied_ranking, "q")
    ids = tied_ranking.ids(range(len(docs))).to_pylist()
    in_order = [tuple(ids[document] for document in order) for order in orderings]
    assert len(in_order) == count_orderings(tied_ranking, "q").orderings
    assert sorted(in_order) == sorted(tuple(doc.id for doc in order) for order in all_orderings(docs))


@given(lists())
def test_the_first_ordering_is_the_input_order(docs):
    tied_ranking = ranking(docs)
    first = next(iter(Orderings.of(tied_ranking, "q")))
    ids = [tied_ranking.ids([document])[0].as_py() for document in first]
    assert ids == [doc.id for doc in sorted(docs, key=lambda doc: -doc.score)]


def test_the_last_tie_group_changes_fastest():
    assert list(islice(Orderings(((0, 1), (2,), (3, 4))), 3)) == [
        (0, 1, 2, 3, 4),
        (0, 1, 2, 4, 3),
        (1, 0, 2, 3, 4),
    ]


@given(st.integers(1, 7).flatmap(lambda size: st.tuples(st.just(size), st.integers(1, size))))
def test_chances_of_the_first_relevant_rank_are_those_of_the_binomials(group):
    size, relevant = group
    depth = size + 2
    exact = [
        float(Fraction(math.comb(max(size - place, 0), relevant - 1), math.comb(size, relevant)))
        if place <= size
        else 0
        for place in range(1, depth + 1)
    ]
    chances = first_relevant_rank(np.array([size]), np.array([relevant]), depth)
    assert chances[0] == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("size", [0, 1, 2, 10, 170, 171, 5000])
def test_log10_of_a_factorial_is_that_of_the_exact_integer(size):
    assert log10_factorials(size)[size] == pytest.approx(math.log10(math.factorial(size)), rel=1e-13)


@given(lists())
def test_each_pattern_stands_for_as_many_orderings_as_it_says(docs):
    tied_ranking = ranking(docs)
    counts = count_orderings(tied_ranking, "q")
    behind = Counter(tuple(doc.grade for doc in order) for order in all_orderings(docs))
    assert counts.patterns == len(behind)
    assert set(behind.values()) == {counts.orderings // counts.patterns}
    assert counts.log10_orderings == pytest.approx(math.log10(counts.orderings), abs=1e-9)
    assert counts.log10_patterns == pytest.approx(math.log10(counts.patterns), abs=1e-9)


def test_a_query_without_documents_has_one_empty_ordering():
    assert list(Orderings(())) == [()]
    assert OrderingCounts.of(np.empty(0, np.int64), np.empty(0)) == OrderingCounts(0, 1, 0, 1, ())


@pytest.mark.parametrize("sizes", [[8], [9], [4, 4, 3], [17], [18], [20], [12, 9]])
def test_a_number_of_orders_is_exact_below_ten_to_the_fifteenth_and_its_logarithm_beyond(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    grades = np.concatenate([np.arange(size) % 3 for size in sizes]).astype(float)
    counts = OrderingCounts.of(groups, grades)
    orders = math.prod(map(math.factorial, sizes))
    alike = [np.bincount(np.arange(size) % 3) for size in sizes]
    shared = math.prod(math.factorial(times) for numbers in alike for times in numbers.tolist())
    assert counts.orderings == (orders if orders < 10**15 else None)
    assert counts.log10_orderings == pytest.approx(math.log10(orders))
    assert counts.patterns == orders // shared
    assert counts.tie_sizes == tuple(sizes)


@pytest.mark.parametrize(
    ("sizes", "total", "tractable", "draws"),
    [
        ([2, 2], 4, True, 1000),
        ([3, 3, 2], 72, True, 1000),
        ([5], 120, True, 1000),
        ([8], 40_320, False, 4032),
        ([4, 4, 3], 3456, True, 1000),
        ([], 1, True, 1000),
        ([20], None, False, 10_000),
    ],
)
def test_complexity_is_that_of_the_notebook(sizes, total, tractable, draws):
    groups = np.repeat(np.arange(len(sizes) + 3), [*sizes, 1, 1, 1])
    counts = OrderingCounts.of(groups, np.zeros(len(groups)))
    assert (counts.orderings, counts.tie_sizes) == (total, tuple(sizes))
    assert (counts.tractable, counts.draws) == (tractable, draws)


@given(lists())
def test_chances_of_places_are_those_of_the_enumeration(docs):
    tied_ranking = ranking(docs)
    size = tied_ranking.sizes[tied_ranking.groups]
    first = tied_ranking.above[tied_ranking.groups] + 1
    chances = place_chances(first, first + size - 1, len(docs))
    orders = list(Orderings.of(tied_ranking, "q"))
    counts = np.zeros_like(chances)
    for order in orders:
        counts[list(order), range(len(order))] += 1
    assert chances == pytest.approx(counts / len(orders))


def test_chances_of_places_stop_where_asked():
    assert place_chances([1, 2], [1, 4], 2).tolist() == [[1.0, 0.0], [0.0, 1 / 3]]
