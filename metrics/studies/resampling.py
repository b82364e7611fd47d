"""Sign flips and bootstrap resamples of queries, drawn once for all rerankers.

Both are linear in the values of a query, so one matrix of signs or of counts serves all rerankers. scipy's
`permutation_test` and `bootstrap` draw for each pair: 9,999 draws of 10,000 queries take them seconds per
pair, here one second for all pairs. The tests compare both.
"""

from collections.abc import Iterator

import numpy as np

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.studies.query_values import alpha
from metrics.support.arrays import FloatArray

DRAWS = 9_999
"""Bootstrap resamples; also random sign flips for more than `MANY_QUERIES` and few comparisons."""
MANY_DRAWS = 99_999
"""Random sign flips otherwise: p is at least 1 / (draws + 1), which corrections multiply."""
MANY_QUERIES, MANY_COMPARISONS = 1_000, 200
EXACT = 13
"""Most differences whose flips are enumerated: 2^13 is less than `DRAWS`."""
CELLS = 2**18
"""Numbers drawn together: 2 MB."""


def all_flips(differences: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return the (n_flips,) sums of signs and of differences, for all flips of the differences that are not 0.

    At most `EXACT` differences are not 0. Differences of 0 change no sum. Their signs matter once differences
    are shifted, and are drawn.
    """
    sizes = differences[differences != 0]
    n_zeros, n_flips = len(differences) - len(sizes), 2 ** len(sizes)
    patterns = np.arange(n_flips if not n_zeros else n_flips * -(-DRAWS // n_flips)) % n_flips
    signs = 2.0 * (patterns[:, None] >> np.arange(len(sizes)) & 1) - 1
    of_zeros = n_zeros - 2.0 * np.random.default_rng(seed).binomial(n_zeros, 0.5, len(patterns))
    return signs.sum(axis=1) + of_zeros, signs @ sizes


def flipped_sums(values: FloatArray, draws: int, seed: int) -> FloatArray:
    """Return (draws, n_rerankers) sums over queries with random signs, the same for all rerankers."""
    random = np.random.default_rng(seed)
    parts = []
    for size in _batches(draws, len(values)):
        random_bytes = np.frombuffer(random.bytes(-(-size * len(values) // 8)), np.uint8)
        signs = np.unpackbits(random_bytes, count=size * len(values)).reshape(size, -1)
        parts.append(2 * (signs.astype(np.float64) @ values) - values.sum(axis=0))
    return np.concatenate(parts)


def flip_test(
    differences: FloatArray, signs: FloatArray, sums: FloatArray, level: float, *, is_drawn: bool
) -> tuple[float, float, float, int]:
    """Return p of a sign flip test, the interval of shifts not rejected, and the number of flips as extreme.

    `signs` and `sums` are the (n_flips,) sums of the signs, and of the differences with these signs. `is_drawn`
    tells random flips from all flips.

    Subtract a shift below the mean from all differences. A flip then makes their sum as extreme if the mean
    of the flipped differences, or of the others, is at most the shift (above the mean, mirrored). So p is
    read off these means at 0, and the interval ends where p reaches 1 - level: it excludes 0 exactly if p is
    smaller. It is unbounded if no p can be that small. For drawn flips p = (1 + flips as extreme) /
    (1 + draws): the observed signs are one of the flips, so p is never 0.

    Source: Fisher, The Design of Experiments, 1935, section 21; interval: Hartigan, Journal of the American
    Statistical Association 64, 1969; drawn: Phipson & Smyth, Statistical Applications in Genetics and
    Molecular Biology 9(1), 2010.
    """
    n, total = len(differences), float(differences.sum())
    rounding = EQUAL * n * max(1.0, float(np.abs(differences).max()))
    parts, sizes = np.concatenate([total - sums, total + sums]), np.concatenate([n - signs, n + signs])
    parts[np.abs(parts) <= 2 * rounding] = 0.0
    means = parts[sizes > 0] / sizes[sizes > 0]
    n_empty, n_observed = len(sizes) - len(means), int(is_drawn)
    n_flips = len(sums) + n_observed
    hits = min(len(sums), n_empty + int(np.count_nonzero(means <= 0 if total > 0 else means >= 0)))
    p = 1.0 if abs(total) <= rounding else (n_observed + hits) / n_flips
    place = int(np.ceil(alpha(level) * n_flips * (1 - EQUAL))) - n_observed - n_empty - 1
    return p, *_order_interval(means, place), hits


def _order_interval(means: FloatArray, place: int) -> tuple[float, float]:
    """Return the means at a place from either end, counted from 0; unbounded for a place before the first."""
    if place < 0:
        return -np.inf, np.inf
    ordered = np.partition(means, [place, len(means) - 1 - place])
    return float(ordered[place]), float(ordered[len(means) - 1 - place])


def resampled_means(values: FloatArray, seed: int) -> FloatArray:
    """Return (DRAWS, n_rerankers) means over queries drawn with replacement, the same for all rerankers.

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
    """Return p, low and high of a mean from its resamples, and the number of resamples on the rarer side of 0.

    The percentile interval takes the order statistics at a = (1 - level) / 2 from either end. For few queries
    it is too narrow, so a = Phi(-sqrt(n / (n - 1)) t), where t is the quantile of Student's t for
    (1 - level) / 2 with n - 1 degrees of freedom. p is the level at which 0 leaves the interval:
    p = 2 T(sqrt((n - 1) / n) Phi^-1(c)), c = (1 + resamples on the rarer side of 0) / (1 + DRAWS), T the
    distribution function of that t. So p is never below that of one draw. The interval is unbounded if a is
    at most one draw (two or three queries, eight at a level of 0.99).

    Source: Hesterberg, The American Statistician 69(4), 2015 (expanded percentile interval).
    """
    with needs("stats"):
        from scipy import stats  # noqa: PLC0415 what only draws does without

    shrinkage = np.sqrt((n - 1) / n)
    tail = stats.norm.cdf(stats.t.ppf((1 - level) / 2, n - 1) / shrinkage)
    rarer = min(np.count_nonzero(means <= EQUAL), np.count_nonzero(means >= -EQUAL))
    share = (1 + rarer) / (1 + len(means))
    p = float(2 * stats.t.cdf(shrinkage * stats.norm.ppf(min(share, 0.5)), n - 1))
    return p, *_order_interval(means, int(np.ceil((len(means) + 1) * tail)) - 2), int(rarer)


def _batches(draws: int, n: int) -> Iterator[int]:
    size = max(1, CELLS // n)
    for start in range(0, draws, size):
        yield min(size, draws - start)
