"""Ties too large to enumerate, against sums that are exact term by term."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, evaluate

MILLION = 1_000_000


@cache
def names(n):
    return pa.array(map(str, range(n)), pa.string())


def one_tie(size, relevant, above=0):
    rows = above + size
    table = {
        "query_id": pa.repeat("q", rows),
        "doc_id": names(MILLION + 10).slice(0, rows),
        "score": np.r_[np.arange(above, 0, -1) + 1.0, np.ones(size)],
        "relevance": np.r_[np.zeros(rows - relevant), np.ones(relevant)],
    }
    return Runs({"A": pa.table(table)})


def values(runs, *measures, ties="expected"):
    return evaluate(runs, measures, [ties]).scores.iloc[0].to_numpy()


def harmonic(low, high):
    return math.fsum(1 / place for place in range(low + 1, high + 1))


def expected_rr(size, relevant, above=0):
    """Sum of P(l) / (above + l), from integers: every term where r is small, else those that matter."""
    chance, total = Fraction(relevant, size), []
    if relevant <= 3:
        n_arrangements = math.perm(size, relevant)
        return math.fsum(
            relevant * math.perm(size - place, relevant - 1) / (n_arrangements * (above + place))
            for place in range(1, size - relevant + 2)
        )
    for place in range(1, 400):
        total.append(float(chance / (above + place)))
        chance *= Fraction(max(size - relevant - place + 1, 0), size - place) if place < size else 0
    return math.fsum(total)


def expected_hits(size, relevant, places):
    missed = Fraction(1)
    for place in range(min(places, size)):
        missed *= Fraction(max(size - relevant - place, 0), size - place)
    return float(1 - missed)


@pytest.mark.parametrize("size", [1, 2, 5, 1000, MILLION])
def test_mtrr_of_a_full_tie_is_the_harmonic_number_over_n(size):
    assert values(one_tie(size, 1), "RR")[0] == pytest.approx(harmonic(0, size) / size, rel=1e-12)


@pytest.mark.parametrize("above", [1, 9, 5000])
def test_mtrr_of_a_tie_below_others_is_the_difference_of_harmonic_numbers_over_n(above):
    exact = (harmonic(0, above + 5000) - harmonic(0, above)) / 5000
    assert values(one_tie(5000, 1, above), "RR")[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("size", "rr", "rr_at_10", "hits_at_10"),
    [(10, 0.2929, 0.2929, 1), (20, 0.1799, 0.1464, 0.5), (100, 0.0519, 0.0293, 0.1)],
)
def test_a_constant_scorer_gets_the_known_values(size, rr, rr_at_10, hits_at_10):
    scores = values(one_tie(size, 1), "RR", "RR@10", "Hits@10")
    assert scores == pytest.approx([rr, rr_at_10, hits_at_10], abs=5e-5)


@pytest.mark.parametrize("relevant", [1, 2, 3])
@pytest.mark.parametrize("above", [0, 7])
def test_mtrr_of_a_million_tied_documents_is_exact_with_few_relevant(relevant, above):
    score = values(one_tie(MILLION, relevant, above), "RR")[0]
    assert score == pytest.approx(expected_rr(MILLION, relevant, above), rel=1e-9)


@pytest.mark.parametrize("relevant", [300_000, 500_000, 999_999, MILLION])
def test_mtrr_of_a_million_tied_documents_is_exact_with_many_relevant(relevant):
    score = values(one_tie(MILLION, relevant), "RR")[0]
    assert score == pytest.approx(expected_rr(MILLION, relevant), rel=1e-9)


@pytest.mark.parametrize("relevant", [1, 2, 1000, 500_000, MILLION])
def test_tmhits_of_a_million_tied_documents_is_exact(relevant):
    cutoffs = [1, 10, 500]
    scores = values(one_tie(MILLION, relevant, above=3), *(f"Hits@{cutoff}" for cutoff in cutoffs))
    exact = [expected_hits(MILLION, relevant, max(cutoff - 3, 0)) for cutoff in cutoffs]
    assert scores == pytest.approx(exact, rel=1e-9)


def test_best_and_worst_of_a_million_tied_documents_are_the_ends_of_the_tie():
    runs = one_tie(MILLION, 2, above=1)
    assert values(runs, "RR", ties="optimistic")[0] == pytest.approx(1 / 2)
    assert values(runs, "RR", ties="pessimistic")[0] == pytest.approx(1 / MILLION)


def test_lists_of_very_different_sizes_are_each_exact():
    sizes = [1, 2, 3, 17, 1000, 20_000]
    parts = [
        pd.DataFrame({"query_id": f"q{n}", "doc_id": range(n), "score": 0.5, "relevance": [0] * (n - 1) + [1]})
        for n in sizes
    ]
    scores = evaluate(Runs.from_frame(pd.concat(parts)), ["RR"], ["expected"]).scores["RR", "expected"]
    assert scores.to_list() == pytest.approx([harmonic(0, n) / n for n in sizes], rel=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (5,), (3, 1, 4), (2000, 7, 2000)])
def test_log10_orderings_is_that_of_the_exact_product_of_factorials(sizes):
    scores = np.repeat(np.arange(len(sizes)), sizes)
    table = pd.DataFrame({"query_id": "q", "doc_id": range(len(scores)), "score": scores, "relevance": 1})
    exact = math.log10(math.prod(map(math.factorial, sizes)))
    log10_orderings = evaluate(Runs.from_frame(table), ["RR"], ["expected"]).lists["log10_orderings"].iloc[0]
    assert log10_orderings == pytest.approx(exact, rel=1e-12)
