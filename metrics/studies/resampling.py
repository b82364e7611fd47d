"""Sign flips and bootstrap resamples of queries, drawn once for all rerankers.

Both are linear in the values of a query. So one matrix of signs, or of how often each query is drawn, serves
every reranker, and what a draw says of two of them is the difference of what it says of each. scipy's
`permutation_test` and `bootstrap` draw anew for every pair: 9,999 draws of 10,000 queries cost them seconds
a pair, here a second for all. The tests hold these against them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.studies.query_values import alpha
from metrics.support.arrays import FloatArray

DRAWS = 9_999
"""Resamples of a bootstrap, and random sign flips where there are many queries and few comparisons."""
MANY_DRAWS = 99_999
"""Random sign flips elsewhere: p cannot fall below 1 / (draws + 1), and corrections multiply it."""
MANY_QUERIES, MANY_COMPARISONS = 1_000, 200
"""More queries, and more comparisons, are many."""
EXACT = 13
"""Differences whose flips are all looked at: 2^13 are fewer than `DRAWS`."""
CELLS = 2**18
"""Numbers drawn at a time: 2 MB."""


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Sums of signs, and of differences with these signs.

    Attributes:
        signs: (draws,) sum of the signs of all queries.
        sums: (draws,) sum of the differences with these signs.
        is_complete: whether they stand for all 2^n flips; else they are drawn.
    """

    signs: FloatArray
    sums: FloatArray
    is_complete: bool = False


def all_flips(differences: FloatArray, seed: int) -> SignFlips:
    """Return all flips of the differences that are not 0, of which there are `EXACT` at most.

    Those that are 0 change no sum; their signs, which shifted differences have too, are drawn.
    """
    sizes = differences[differences != 0]
    n_zeros, n_flips = len(differences) - len(sizes), 2 ** len(sizes)
    patterns = np.arange(n_flips if not n_zeros else n_flips * -(-DRAWS // n_flips)) % n_flips
    signs = 2.0 * (patterns[:, None] >> np.arange(len(sizes)) & 1) - 1
    of_zeros = n_zeros - 2.0 * np.random.default_rng(seed).binomial(n_zeros, 0.5, len(patterns))
    return SignFlips(signs.sum(axis=1) + of_zeros, signs @ sizes, is_complete=True)


def flipped_sums(values: FloatArray, draws: int, seed: int) -> FloatArray:
    """Return the (draws, n_rerankers) sums over queries, each with a drawn sign, the same for all rerankers.

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


def flip_test(differences: FloatArray, flips: SignFlips, level: float) -> tuple[float, float, float, int]:
    """Return the p of a sign flip test, the interval of shifts not rejected, and the number of flips as far.

    A flip takes the sum of the differences, each less a shift, as far from 0 as it is where the mean of those
    it flips, or of those it leaves, is not above the shift (for shifts below the mean; above it, mirrored).
    So p is read off these means at 0, and the interval ends at the one where p reaches 1 - level: it leaves 0
    out exactly where p is below. Without a bound where no p can be below. Of drawn flips, p = (1 + draws as
    far) / (1 + draws), for what was found is one of the flips, so p is never 0.

    Args:
        differences: (n,) not all equal.
        flips: of these differences.
        level: of the interval.

    Source: Fisher, The Design of Experiments, 1935, section 21; interval: Hartigan, Journal of the American
    Statistical Association 64, 1969; drawn: Phipson & Smyth, Statistical Applications in Genetics and
    Molecular Biology 9(1), 2010.
    """
    n, total = len(differences), float(differences.sum())
    rounding = EQUAL * n * max(1.0, float(np.abs(differences).max()))
    parts = np.concatenate([total - flips.sums, total + flips.sums])
    sizes = np.concatenate([n - flips.signs, n + flips.signs])
    parts[np.abs(parts) <= 2 * rounding] = 0.0
    means = parts[sizes > 0] / sizes[sizes > 0]
    n_empty, n_observed = len(sizes) - len(means), 0 if flips.is_complete else 1
    n_flips = len(flips.sums) + n_observed
    hits = min(len(flips.sums), n_empty + int(np.count_nonzero(means <= 0 if total > 0 else means >= 0)))
    p = 1.0 if abs(total) <= rounding else (n_observed + hits) / n_flips
    place = int(np.ceil(alpha(level) * n_flips * (1 - EQUAL))) - n_observed - n_empty - 1
    if place < 0:
        return p, -np.inf, np.inf, hits
    ordered = np.partition(means, [place, len(means) - 1 - place])
    return p, float(ordered[place]), float(ordered[len(means) - 1 - place]), hits


def resampled_means(values: FloatArray, seed: int, draws: int = DRAWS) -> FloatArray:
    """Return the (draws, n_rerankers) means over queries drawn with replacement, the same for all rerankers.

    Args:
        values: (n_queries, n_rerankers).
        seed: of the generator.
        draws: how many.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6.
    """
    random = np.random.default_rng(seed)
    n = len(values)
    parts = []
    for size in _batches(draws, n):
        cells = random.integers(n, size=(size, n), dtype=np.uint32).astype(np.int64)
        cells += (n * np.arange(size))[:, None]
        times = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n)
        parts.append(times.astype(np.float64) @ values / n)
    return np.concatenate(parts)


def percentile_interval(means: FloatArray, n: int, level: float) -> tuple[float, float, float, int]:
    """Return p, low and high of a mean from its resamples, and how many of them lie on the rarer side of 0.

    The percentile interval takes the order statistics at a = (1 - level) / 2 from either end. That is too
    narrow for few queries by what parts z from t and n from n - 1, so a = Phi(-sqrt(n / (n - 1)) t), t the
    quantile of Student's t for (1 - level) / 2 with n - 1 degrees of freedom. p is where that interval
    begins to leave 0 out: p = 2 T(sqrt((n - 1) / n) Phi^-1(c)), c = (1 + resamples on the rarer side of 0) /
    (1 + DRAWS), T the distribution function of that t. So p is never below that of one draw, and where a is
    not above one draw (two or three queries, eight at a level of 0.99), the interval has no bound.

    Args:
        means: (DRAWS,) resampled means.
        n: queries, 2 or more.
        level: of the interval, such as 0.95.

    Source: Hesterberg, The American Statistician 69(4), 2015 (expanded percentile interval).
    """
    with needs("stats"):
        from scipy import stats  # noqa: PLC0415 what only draws does without

    shrinkage = np.sqrt((n - 1) / n)
    tail = stats.norm.cdf(stats.t.ppf((1 - level) / 2, n - 1) / shrinkage)
    rarer = min(np.count_nonzero(means <= EQUAL), np.count_nonzero(means >= -EQUAL))
    share = (1 + rarer) / (1 + len(means))
    p = float(2 * stats.t.cdf(shrinkage * stats.norm.ppf(min(share, 0.5)), n - 1))
    place = int(np.ceil((len(means) + 1) * tail)) - 2
    if place < 0:
        return p, -np.inf, np.inf, int(rarer)
    ordered = np.partition(means, [place, len(means) - 1 - place])
    return p, float(ordered[place]), float(ordered[len(means) - 1 - place]), int(rarer)


def _batches(draws: int, n: int) -> Iterator[int]:
    """Yield sizes of batches of draws over n queries, that hold about `CELLS` numbers each."""
    size = max(1, CELLS // n)
    for start in range(0, draws, size):
        yield min(size, draws - start)
