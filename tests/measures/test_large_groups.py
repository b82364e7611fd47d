"""Tie groups of up to a million documents, straight from their counts, against exact integers."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import accumulate, product

import numpy as np
import pyarrow as pa
import pytest

from metrics import UsageError, parse
from metrics.measures import RefinedGroups
from metrics.ties import Judgments, Ranking, TieGroups, treatment

MILLION = 1_000_000
RELEVANT_COUNTS = [1, 2, 3, 1000, 499_999, 500_000, 999_990, 999_999, MILLION]
SIZES = [*range(1, 13), 31, 100, 333, 1000, 2000]


def groups(sizes, relevants, above=0, targets=None):
    """Lists of one tie group each, with so many relevant documents of grade 1, below others."""
    sizes, relevants = np.array(sizes), np.array(relevants)
    lists = np.repeat(np.arange(len(sizes)), relevants)
    grades = np.ones(len(lists))
    queries = pa.array(list(map(str, range(len(sizes)))))
    return TieGroups(
        judgments=Judgments(queries, 1, lists, grades, targets),
        n_docs=sizes + above,
        lists=np.arange(len(sizes)),
        above=np.full(len(sizes), above),
        size=sizes,
        first=np.cumsum(relevants) - relevants,
        grades=grades,
        targets=targets,
    )


def expected(measure, sizes, relevants, above=0):
    return parse(measure).values(groups(sizes, relevants, above))


def deviation(measure, sizes, relevants, above=0):
    return np.sqrt(parse(measure).variances(groups(sizes, relevants, above)))


@cache
def first_ranks(size, relevant):
    """P(l), l from 1, from integers of 400 bits or more; what is below 1e-30 in the end is left out."""
    chances, numerator, denominator = [], relevant, size
    for place in range(1, size - relevant + 2):
        chances.append(numerator / denominator)
        numerator *= size - relevant - place + 1
        denominator *= size - place
        if place % 50 == 0:
            shift = max(denominator.bit_length() - 400, 0)
            numerator, denominator = numerator >> shift, denominator >> shift
            if chances[-1] < 1e-30:
                break
    return chances


def reciprocal_rank(size, relevant, above=0, cutoff=math.inf):
    each = enumerate(first_ranks(size, relevant), above + 1)
    return math.fsum(chance / rank for rank, chance in each if rank <= cutoff)


@pytest.mark.parametrize("above", [0, 7])
@pytest.mark.parametrize("relevant", RELEVANT_COUNTS)
def test_reciprocal_rank_of_a_million_tied_documents(relevant, above):
    values = [*expected("RR", [MILLION], [relevant], above), *expected("RR@10", [MILLION], [relevant], above)]
    cut = reciprocal_rank(MILLION, relevant, above, cutoff=10)
    assert values == pytest.approx([reciprocal_rank(MILLION, relevant, above), cut], rel=1e-9)


@pytest.mark.parametrize("relevant", RELEVANT_COUNTS)
def test_spread_of_the_reciprocal_rank_of_a_million_tied_documents(relevant):
    mean = reciprocal_rank(MILLION, relevant)
    pairs = enumerate(first_ranks(MILLION, relevant), 1)
    exact = math.sqrt(math.fsum(chance * (1 / rank - mean) ** 2 for rank, chance in pairs))
    assert deviation("RR", [MILLION], [relevant]) == pytest.approx([exact], rel=1e-9)


@pytest.mark.parametrize("relevant", [*RELEVANT_COUNTS, 900_000])
def test_hits_of_a_million_tied_documents_and_their_spread(relevant):
    missed = Fraction(math.perm(MILLION - relevant, 10), math.perm(MILLION, 10))
    spread = math.sqrt(missed * (1 - missed))
    assert expected("Hits@10", [MILLION], [relevant]) == pytest.approx([float(1 - missed)], rel=1e-9)
    assert deviation("Hits@10", [MILLION], [relevant]) == pytest.approx([spread], rel=1e-9, abs=1e-15)


def exact_ap(size, relevant, harmonic):
    """The expected sum over hits of (hits so far) / place, over R."""
    if relevant == 1:
        return harmonic / size
    pairs = Fraction(relevant - 1, size - 1)
    return (harmonic + pairs * (size - harmonic)) / size


@cache
def harmonic_number(n):
    return Fraction(math.fsum(1 / place for place in range(1, n + 1)))


@pytest.mark.parametrize("relevant", RELEVANT_COUNTS)
def test_average_precision_of_a_million_tied_documents(relevant):
    exact = exact_ap(MILLION, relevant, harmonic_number(MILLION))
    assert expected("AP", [MILLION], [relevant]) == pytest.approx([float(exact)], rel=1e-9)


@pytest.mark.parametrize(
    ("size", "relevant"), [(MILLION, 1), (MILLION, 3), (20_000, 30), (2000, 100), (100, 100)]
)
def test_err_of_certain_satisfaction_is_the_reciprocal_rank(size, relevant):
    share = Fraction(1, 16)  # of grade 1, each by itself; which of them do, the order does not tell
    satisfying = [
        (float(math.comb(relevant, n) * share**n * (1 - share) ** (relevant - n)), n)
        for n in range(1, relevant + 1)
    ]
    for name, cutoff in (("ERR", math.inf), ("ERR@10", 10)):
        exact = math.fsum(
            chance * reciprocal_rank(size, n, 3, cutoff) for chance, n in satisfying if chance > 1e-15
        )
        assert expected(name, [size], [relevant], 3) == pytest.approx([exact], rel=1e-9)


def test_a_tie_that_would_take_err_minutes_is_refused():
    with pytest.raises(UsageError, match=r"ERR: the mean .* 1,000,000 tied documents, 499,999 of them"):
        expected("ERR", [MILLION], [499_999])
    with pytest.raises(UsageError, match=r"ERR: the standard deviation .* Give a cut-off, as in ERR@10"):
        deviation("ERR", [MILLION], [1000])


def exact_iprec(sizes, relevant):
    """Sum over all values v of the step to v times the chance to reach it, counted in whole numbers."""
    need = max(math.floor(0.1 * sum(relevant) + 0.9), 1)
    ties = list(
        zip(sizes, relevant, accumulate(sizes, initial=0), accumulate(relevant, initial=0), strict=False)
    )
    values = {
        Fraction(c + j, b + place)
        for n, r, b, c in ties
        for j in range(max(need - c, 1), r + 1)
        for place in range(j, n - r + j + 1)
    }
    total, last = Fraction(0), Fraction(0)
    for value in sorted(values):
        below = Fraction(1)
        for n, r, b, c in ties:
            ways = [1] + [0] * r
            for place in range(1, n + 1):
                for j in range(min(place, r), 0, -1):
                    is_below = c + j < need or Fraction(c + j, b + place) < value
                    ways[j] += ways[j - 1] * is_below
            below *= Fraction(ways[r], math.comb(n, r))
        total, last = total + (value - last) * (1 - below), value
    return float(total)


@pytest.mark.parametrize(
    ("sizes", "relevant"), [([20, 15, 25], [6, 3, 10]), ([30], [29]), ([1, 40], [1, 4]), ([24, 24], [0, 12])]
)
def test_interpolated_precision_of_large_ties_is_exact(sizes, relevant):
    tie_scores = -np.repeat(np.arange(len(sizes)), sizes)
    grades = [grade for n, r in zip(sizes, relevant, strict=True) for grade in [1] * r + [0] * (n - r)]
    ranking = Ranking.of_one(tie_scores, np.array(grades), np.empty(0), 1)
    value = next(RefinedGroups(ranking).values(parse("IPrec"), [treatment("expected")]))
    assert value == pytest.approx([exact_iprec(sizes, relevant)], rel=1e-12)


def test_a_tie_that_would_take_iprec_minutes_is_refused():
    for relevant in (100, 499_999):
        with pytest.raises(UsageError, match=r"IPrec: .* list of 1,000,000 documents .* Use AP"):
            expected("IPrec", [MILLION], [relevant])


UNIT = 10**40
"""One, in fixed point."""


@cache
def place_sums(size, above):
    """Sums over the places of a tie, and over pairs of them, that its relevant documents do not change."""
    weights = [UNIT // place for place in range(above + 1, above + size + 1)]
    single = sum(weights)
    squares = [weight * weight for weight in weights]
    later = sum(weight * i for i, weight in enumerate(weights))
    squared_later = sum(square * i for i, square in enumerate(squares))
    later_squared = sum(square * i * (i - 1) for i, square in enumerate(squares))
    before = accumulate(weights, initial=0)
    before_later = accumulate((weight * i for i, weight in enumerate(weights)), initial=0)
    pairs = sum(weight * upto for weight, upto in zip(weights, before, strict=False))
    pairs_later = sum(weight * upto for weight, upto in zip(weights, before_later, strict=False))
    return single, sum(squares), later, squared_later, later_squared, pairs, pairs_later


def exact_ap_spread(size, relevant, above, relevant_above):
    """The standard deviation of AP, not divided by R, from raw moments of all places in fixed point."""
    single, squares, later, squared_later, later_squared, pairs, pairs_later = place_sums(size, above)
    p1, p2, p3, p4 = (Fraction(math.perm(relevant, m), math.perm(size, m) or 1) for m in range(1, 5))
    mean_single, mean_pair = p1 * single, p2 * later
    square_single = p1 * squares + 2 * p2 * pairs
    product = p2 * (squared_later + pairs) + p3 * (single * later - squared_later - pairs)
    square_pair = p2 * squared_later + p3 * (later_squared + 4 * pairs_later)
    square_pair += p4 * (later**2 - squared_later - later_squared - 4 * pairs_later)
    c = relevant_above + 1
    variance = c * c * (square_single - mean_single**2) + 2 * c * (product - mean_single * mean_pair)
    return math.sqrt((variance + square_pair - mean_pair**2) / UNIT**2)


@pytest.mark.parametrize("above", [0, 3, 10**7])
@pytest.mark.parametrize("size", [4, 333, 100_000])
def test_spread_of_the_average_precision_of_a_large_tie(size, above):
    relevants = sorted({1, 2, size // 2, size - 2, size - 1})
    exact = [exact_ap_spread(size, relevant, above, 0) / relevant for relevant in relevants]
    assert deviation("AP", [size] * len(relevants), relevants, above) == pytest.approx(exact, rel=1e-12)


def test_spread_of_the_average_precision_of_a_million_tied_documents():
    exact = exact_ap_spread(MILLION, 500_000, 0, 0) / 500_000
    assert deviation("AP", [MILLION], [500_000]) == pytest.approx([exact], rel=1e-12)


def exact_distinct_spread(size, targets, within):
    """The standard deviation of the number of targets met in the first places, from binomials."""

    every = math.comb(size, within)

    @cache
    def without(documents):
        return math.comb(size - documents, within)

    alike, variance = Counter(targets), 0  # in integers: times the square of every way to fill the places
    for (first, n_first), (second, n_second) in product(alike.items(), repeat=2):
        pairs = n_first * (n_second - (first == second))
        apart = without(first) * without(second)
        variance += pairs * (without(min(first + second, size)) * every - apart)
        if first == second:
            variance += n_first * (without(first) * every - apart)
    return math.sqrt(Fraction(variance, every**2))


@pytest.mark.parametrize("within", [1, 2, 10, 500])
@pytest.mark.parametrize(
    "targets",
    [
        [1] * 3,
        [1] * 99_999,
        [1] * 99_998 + [2],
        [2] * 50_000,
        [2, 1] * 33_333,
        [5, 3, 1] * 10,
        list(range(1, 60)),
        [50_000, 33_333],
    ],
    ids=lambda targets: f"{len(targets)} targets of {sorted(set(targets))}",
)
def test_spread_of_distinct_targets_of_a_large_tie(targets, within):
    documents = np.repeat(np.arange(len(targets)), targets)
    tie = groups([100_000], [len(documents)], 7, documents)
    spread = exact_distinct_spread(100_000, targets, within)
    assert np.sqrt(parse(f"Div@{within + 7}").variances(tie)) == pytest.approx([spread], rel=1e-9)
    assert np.sqrt(parse(f"DR@{within + 7}").variances(tie)) == pytest.approx([spread / len(targets)], rel=1e-9)


@pytest.mark.parametrize("documents", [[1] * 10, [4, 6], [10]])
def test_distinct_targets_that_are_certain_have_no_spread(documents):
    tie = groups([10], [10], 0, np.repeat(np.arange(len(documents)), documents))
    certain = [1, *range(1 if documents[0] == 1 else 7, 10)]
    assert [float(parse(f"Div@{k}").variances(tie)[0]) for k in certain] == [0] * len(certain)


@pytest.mark.parametrize("relevant", RELEVANT_COUNTS)
def test_p_and_r_of_a_million_tied_documents_have_closed_forms(relevant):
    share = relevant / MILLION
    assert expected("P@10", [MILLION], [relevant], 4) == pytest.approx([share * 6 / 10], rel=1e-12)
    assert expected("R@1000", [MILLION], [relevant]) == pytest.approx([1e-3], rel=1e-12)
    variance = Fraction(10 * relevant * (MILLION - relevant) * (MILLION - 10), MILLION**2 * (MILLION - 1))
    exact = math.sqrt(variance) / 10
    assert deviation("P@10", [MILLION], [relevant]) == pytest.approx([exact], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("relevant", RELEVANT_COUNTS)
def test_ndcg_and_rbp_of_a_million_tied_documents(relevant):
    discounts = [1 / math.log2(place + 1) for place in range(1, 11)]
    share = relevant / MILLION
    exact = share * math.fsum(discounts) / math.fsum(discounts[:relevant])
    assert expected("nDCG@10", [MILLION], [relevant]) == pytest.approx([exact], rel=1e-9)
    assert expected("RBP(0.8)", [MILLION], [relevant]) == pytest.approx([share], rel=1e-9)


def grid():
    """Group sizes from 1 to 2000, each with every, or every so many, numbers of relevant documents."""
    for size in SIZES:
        yield from ((size, relevant) for relevant in range(1, size + 1, max(size // 12, 1)))
        yield size, size


@pytest.mark.parametrize("above", [0, 3])
def test_reciprocal_rank_and_hits_are_exact_for_groups_of_every_size(above):
    sizes, relevants = zip(*grid(), strict=True)
    rr, hits = [], []
    for size, relevant in grid():
        rr.append(reciprocal_rank(size, relevant, above))
        places = min(10 - above, size)
        missed = Fraction(math.comb(size - relevant, places), math.comb(size, places))
        hits.append(float(1 - missed))
    assert expected("RR", sizes, relevants, above) == pytest.approx(rr, rel=1e-12)
    assert expected("Hits@10", sizes, relevants, above) == pytest.approx(hits, rel=1e-12)


def test_average_precision_is_exact_for_groups_of_every_size():
    sizes, relevants = zip(*grid(), strict=True)
    harmonics = list(accumulate((Fraction(1, place) for place in range(1, 2001)), initial=Fraction(0)))
    exact = [float(exact_ap(size, relevant, harmonics[size])) for size, relevant in grid()]
    assert expected("AP", sizes, relevants) == pytest.approx(exact, rel=1e-12)


def test_hits_that_are_certain_have_no_spread():
    sizes = list(range(1, 11))
    assert deviation("Hits@10", sizes, [1] * 10) == pytest.approx([0] * 10, abs=1e-15)
