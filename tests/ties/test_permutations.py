import math
import tracemalloc
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from drawing import frame, lists
from enumeration import all_orderings, rank_counts
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs
from metrics.ties import Orderings, Ranking, first_relevant_rank, log10_factorials


def ranking(docs):
    runs = Runs.from_frame(frame({"A": {"q": docs}}))
    return Ranking.of(runs, "A")


@given(lists())
def test_orderings_are_all_the_enumeration_gives_and_as_many_as_counted(docs):
    tied_ranking = ranking(docs)
    orderings = Orderings.of(tied_ranking, "q")
    ids = tied_ranking.ids(range(len(docs))).to_pylist()
    in_order = [tuple(ids[document] for document in order) for order in orderings]
    assert len(in_order) == orderings.count
    assert sorted(in_order) == sorted(tuple(doc.id for doc in order) for order in all_orderings(docs))


@given(lists())
def test_the_first_ordering_is_the_input_order(docs):
    tied_ranking = ranking(docs)
    first = next(iter(Orderings.of(tied_ranking, "q")))
    ids = [tied_ranking.ids([document])[0].as_py() for document in first]
    assert ids == [doc.id for doc in sorted(docs, key=lambda doc: -doc.score)]


def test_orderings_come_one_by_one_and_are_not_held_in_memory():
    orderings = Orderings((tuple(range(8)), (8, 9)))
    tracemalloc.start()
    first = next(iter(orderings))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first == tuple(range(10))
    assert peak < 100_000


def test_the_last_tie_group_changes_fastest():
    assert list(islice(Orderings(((0, 1), (2,), (3, 4))), 3)) == [
        (0, 1, 2, 3, 4),
        (0, 1, 2, 4, 3),
        (1, 0, 2, 3, 4),
    ]


def test_the_count_of_a_thousand_tied_documents_is_an_exact_integer():
    assert Orderings((tuple(range(1000)), (1000, 1001, 1002))).count == math.factorial(1000) * 6


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


@given(
    lists(scores=st.just(1.0), grades=st.sampled_from([0, 1])).filter(lambda docs: any(d.grade for d in docs))
)
def test_chances_of_the_first_relevant_rank_are_those_of_the_enumeration(docs):
    counts = rank_counts(docs)
    relevant = sum(doc.grade for doc in docs)
    chances = first_relevant_rank(np.array([len(docs)]), np.array([relevant]), len(docs))[0]
    exact = [counts[rank] / counts.total() for rank in range(1, len(docs) + 1)]
    assert chances == pytest.approx(exact, rel=1e-14)


def test_chances_are_given_for_several_groups_at_once():
    chances = first_relevant_rank(np.array([1, 3]), np.array([1, 2]), 3)
    assert chances == pytest.approx(np.array([[1, 0, 0], [2 / 3, 1 / 3, 0]]))


@pytest.mark.parametrize("size", [0, 1, 2, 10, 170, 171, 5000])
def test_log10_of_a_factorial_is_that_of_the_exact_integer(size):
    assert log10_factorials(size)[size] == pytest.approx(math.log10(math.factorial(size)), rel=1e-13)
