"""Ties of up to a million documents, straight from their counts and as lists, against exact integers."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import accumulate, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, UsageError, evaluate, parse
from metrics.ties import Judgments, TieGroups

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


def missed_hits(size, relevant, places):
    """The chance that no relevant document is within so many places of a tie."""
    return Fraction(math.perm(size - relevant, places), math.perm(size, places))


@pytest.mark.parametrize("relevant", [*RELEVANT_COUNTS, 900_000])
def test_hits_of_a_million_tied_documents_and_their_spread(relevant):
    missed = missed_hits(MILLION, relevant, 10)
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
        hits.append(float(1 - missed_hits(size, relevant, min(10 - above, size))))
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


@pytest.mark.parametrize(
    ("size", "above"), [(1, 0), (2, 0), (5, 0), (1000, 0), (MILLION, 0), (5000, 1), (5000, 9), (5000, 5000)]
)
def test_mtrr_of_a_tie_with_one_relevant_is_a_difference_of_harmonic_numbers_over_n(size, above):
    exact = float(harmonic_number(above + size) - harmonic_number(above)) / size
    assert values(one_tie(size, 1, above), "RR")[0] == pytest.approx(exact, rel=1e-12)


MANY_RELEVANT = [300_000, 500_000, 999_999, MILLION]


@pytest.mark.parametrize(
    ("relevant", "above"), [*product([1, 2, 3], [0, 7]), *((relevant, 0) for relevant in MANY_RELEVANT)]
)
def test_mtrr_of_a_list_of_a_million_tied_documents_is_exact(relevant, above):
    score = values(one_tie(MILLION, relevant, above), "RR")[0]
    assert score == pytest.approx(reciprocal_rank(MILLION, relevant, above), rel=1e-9)


@pytest.mark.parametrize(
    ("size", "rr", "rr_at_10", "hits_at_10"),
    [(10, 0.2929, 0.2929, 1), (20, 0.1799, 0.1464, 0.5), (100, 0.0519, 0.0293, 0.1)],
)
def test_a_constant_scorer_gets_the_known_values(size, rr, rr_at_10, hits_at_10):
    scores = values(one_tie(size, 1), "RR", "RR@10", "Hits@10")
    assert scores == pytest.approx([rr, rr_at_10, hits_at_10], abs=5e-5)


@pytest.mark.parametrize("relevant", [1, 2, 1000, 500_000, MILLION])
def test_tmhits_of_a_million_tied_documents_is_exact(relevant):
    cutoffs = [1, 10, 500]
    scores = values(one_tie(MILLION, relevant, above=3), *(f"Hits@{cutoff}" for cutoff in cutoffs))
    exact = [float(1 - missed_hits(MILLION, relevant, max(cutoff - 3, 0))) for cutoff in cutoffs]
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
    assert scores.to_list() == pytest.approx([float(harmonic_number(n)) / n for n in sizes], rel=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (5,), (3, 1, 4), (2000, 7, 2000)])
def test_log10_orderings_is_that_of_the_exact_product_of_factorials(sizes):
    scores = np.repeat(np.arange(len(sizes)), sizes)
    table = pd.DataFrame({"query_id": "q", "doc_id": range(len(scores)), "score": scores, "relevance": 1})
    exact = math.log10(math.prod(map(math.factorial, sizes)))
    log10_orderings = evaluate(Runs.from_frame(table), ["RR"], ["expected"]).lists["log10_orderings"].iloc[0]
    assert log10_orderings == pytest.approx(exact, rel=1e-12)
