"""Sign flips and bootstrap resamples of queries, drawn once for all rerankers.

Both are linear in the values of a query. So one matrix of signs, or of how often each query is drawn, serves
every reranker, and what a draw says of two of them is the difference of what it says of each. scipy's
`permutation_test` and `bootstrap` draw anew for every pair: 9,999 draws of 10,000 queries cost them seconds
a pair, here a second for all. The tests hold these against them.
"""

from collections.abc import Iterator

import numpy as np
from scipy import stats

from metrics.evaluation import EQUAL
from metrics.support.arrays import FloatArray

DRAWS = 9_999
"""Resamples of an interval, and random sign flips where there are many queries and few comparisons."""
MANY_DRAWS = 99_999
"""Random sign flips elsewhere: p cannot fall below 1 / (draws + 1), and corrections multiply it."""
MANY_QUERIES, MANY_COMPARISONS = 1_000, 200
"""More queries, and more comparisons, are many."""
EXACT = 13
"""Differences whose flips are all looked at: 2^13 are fewer than `DRAWS`."""
CELLS = 2**18
"""Numbers drawn at a time: 2 MB."""


def round_differences(differences: FloatArray) -> FloatArray:
    """Round differences to 12 decimals, so that those that differ by rounding are equal, or 0."""
    return np.where(np.abs(differences) <= EQUAL, 0.0, np.round(differences, 12))


def exact_flip_p(differences: FloatArray) -> float:
    """Chance that flipped signs take the sum as far from 0 as it is, over all 2^n flips.

    Args:
        differences: (n,) with n at most `EXACT` that are not 0; those that are 0 change nothing.

    Source: Fisher, The Design of Experiments, 1935, section 21.
    """
    sizes = differences[differences != 0]
    bits = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1
    sums = (2.0 * bits - 1) @ sizes
    return float(np.mean(np.abs(sums) >= abs(sizes.sum()) - _rounding(sizes)))


def flipped_sums(values: FloatArray, draws: int, seed: int) -> FloatArray:
    """(draws, n_rerankers) sums over queries, each query's sign drawn at random, the same for all rerankers.

    Args:
        values: (n_queries, n_rerankers).
        draws: how many.
        seed: of the generator; the same seed draws the same signs for as many queries.
    """
    random = np.random.default_rng(seed)
    parts = []
    for size in _batches(draws, len(values)):
        random_bytes = np.frombuffer(random.bytes(-(-size * len(values) // 8)), np.uint8)
        signs = np.unpackbits(random_bytes, count=size * len(values)).reshape(size, -1)
        parts.append(2 * (signs.astype(np.float64) @ values) - values.sum(axis=0))
    return np.concatenate(parts)


def sampled_flip_p(sums: FloatArray, differences: FloatArray) -> tuple[float, int]:
    """P of a random sign flip test, and how many draws came as far from 0.

    p = (1 + draws as far) / (1 + draws), for what was found is one of the flips, so p is never 0.

    Args:
        sums: (draws,) flipped sums of the differences.
        differences: (n,).

    Source: Phipson & Smyth, Statistical Applications in Genetics and Molecular Biology 9(1), 2010.
    """
    reached = abs(differences.sum()) - _rounding(differences)
    hits = int(np.count_nonzero(np.abs(sums) >= reached))
    return (1 + hits) / (1 + len(sums)), hits


def resampled_means(values: FloatArray, seed: int) -> FloatArray:
    """(DRAWS, n_rerankers) means over queries drawn with replacement, the same queries for all rerankers.

    Args:
        values: (n_queries, n_rerankers).
        seed: of the generator.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6.
    """
    random = np.random.default_rng(seed)
    n = len(values)
    parts = []
    for size in _batches(DRAWS, n):
        cells = random.integers(n, size=(size, n), dtype=np.uint32).astype(np.int64)
        cells += (n * np.arange(size))[:, None]
        times = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n)
        parts.append(times.astype(np.float64) @ values / n)
    return np.concatenate(parts)


def percentile_interval(means: FloatArray, n: int, level: float) -> tuple[float, float, float, int]:
    """p, low and high of a mean from its resamples, and how many of them lie on the rarer side of 0.

    The percentile interval takes the order statistics at a = (1 - level) / 2 from either end. That is too
    narrow for few queries by what parts z from t and n from n - 1, so a = Phi(-sqrt(n / (n - 1)) t), t the
    quantile of Student's t for (1 - level) / 2 with n - 1 degrees of freedom. p is where that interval
    begins to leave 0 out: p = 2 T(sqrt((n - 1) / n) Phi^-1(c)), c = (1 + resamples on the rarer side of 0) /
    (1 + DRAWS), T the distribution function of that t. Where a is less than one draw (of two or three queries,
    of five at a level of 0.99), the interval is the range of all resamples, and p is no smaller than that of
    one draw, so it may be above 1 - level where the interval leaves 0 out.

    Args:
        means: (DRAWS,) resampled means.
        n: queries, 2 or more.
        level: of the interval, such as 0.95.

    Source: Hesterberg, The American Statistician 69(4), 2015 (expanded percentile interval).
    """
    shrinkage = np.sqrt((n - 1) / n)
    tail = stats.norm.cdf(stats.t.ppf((1 - level) / 2, n - 1) / shrinkage)
    tail_place = min(max(int((len(means) + 1) * tail), 1), len(means) // 2) - 1
    ordered = np.partition(means, [tail_place, len(means) - 1 - tail_place])
    rarer = min(np.count_nonzero(means <= EQUAL), np.count_nonzero(means >= -EQUAL))
    share = (1 + rarer) / (1 + len(means))
    p = 2 * stats.t.cdf(shrinkage * stats.norm.ppf(min(share, 0.5)), n - 1)
    return float(p), float(ordered[tail_place]), float(ordered[len(means) - 1 - tail_place]), int(rarer)


def _rounding(differences: FloatArray) -> float:
    """How far sums of so many differences may be off by rounding."""
    return EQUAL * len(differences) * max(1.0, float(np.abs(differences).max(initial=0)))


def _batches(draws: int, n: int) -> Iterator[int]:
    """Sizes of batches of draws over n queries, that hold about `CELLS` numbers each."""
    size = max(1, CELLS // n)
    for start in range(0, draws, size):
        yield min(size, draws - start)
