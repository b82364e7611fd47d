"""Tests of pairs of rerankers by name: p of each pair, and the interval of its difference at any level."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.progress import begin_step

ALPHA = 0.05
"""Adjusted p values below it are significant, and intervals have this chance of error."""
LARGEST_FLIPS = 1_999
"""Flips for the largest statistic: the 99th largest decides."""
DRAWS = 9_999
"""Flips, resamples and permutations for p values that a correction multiplies."""
MOST_PERMUTED = 200
"""Values of two rerankers up to which Mann-Whitney's test permutes them; above, U is taken as normal."""
_ROUNDING = 1e-9
"""Relative rounding error of sums of the same numbers."""
_CELLS = 2**17
"""Numbers computed together: 1 MB, which fits the processor cache."""
Interval = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""(n_pairs,) chances of error → (n_pairs,) low and high ends of the differences."""


class PairStatistics(NamedTuple):
    """Columns of `pairs.compare`, (n_pairs,) each; 0 without queries that both rerankers have."""

    n: IntArray
    mean_baseline: FloatArray
    mean: FloatArray
    difference: FloatArray
    squares: FloatArray  # sum of squared deviations of the differences from their mean
    won: IntArray
    lost: IntArray


@dataclass(frozen=True, eq=False)
class Comparison:
    """Pairs of rerankers and their values; a difference is reranker minus baseline."""

    values: FloatArray  # (n_queries, n_rerankers); NaN without a value
    pairs: IntArray  # (n_pairs, 2) columns of baseline and reranker
    seed: int = 0  # of random draws

    def differences(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield blocks of pairs with their (n_queries, n_block) differences; NaN for queries not shared."""
        for part in self.blocks(len(self.values)):
            theirs, ours = self.pairs[part].T
            differences = self.values[:, ours] - self.values[:, theirs]
            differences[np.abs(differences) <= EQUAL] = 0
            yield part, differences

    def blocks(self, rows: int) -> Iterator[slice]:
        """Yield slices of the pairs, small enough to compute so many numbers for each pair."""
        size = max(1, _CELLS // max(1, rows))
        for start in range(0, len(self.pairs), size):
            begin_step("Comparing", start, len(self.pairs))
            yield slice(start, start + size)

    @cached_property
    def statistics(self) -> PairStatistics:
        """The statistics of each pair."""
        n, won, lost = np.zeros((3, len(self.pairs)), dtype=np.int64)
        mean_baseline, mean, difference, squares = np.zeros((4, len(self.pairs)))
        for part, differences in self.differences():
            is_shared = np.isfinite(differences)
            n[part] = is_shared.sum(axis=0)
            divisor = np.maximum(1, n[part])
            for means, columns in zip((mean_baseline, mean), self.pairs[part].T, strict=True):
                means[part] = np.where(is_shared, self.values[:, columns], 0).sum(axis=0) / divisor
            won[part], lost[part] = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
            difference[part] = np.where(is_shared, differences, 0).sum(axis=0) / divisor
            centred = np.where(is_shared, differences - difference[part], 0)
            squares[part] = np.where(np.ptp(centred, axis=0) > 2 * EQUAL, np.square(centred).sum(axis=0), 0)
        difference[np.abs(difference) <= EQUAL] = 0
        return PairStatistics(n, mean_baseline, mean, difference, squares, won, lost)


class Results(NamedTuple):
    """Results of a test of all pairs together, (n_pairs,) each."""

    p: FloatArray
    p_adjusted: FloatArray
    low: FloatArray
    high: FloatArray


def largest_statistic(comparison: Comparison) -> Results:
    """Test all pairs together by the largest statistic under flips of signs, in a single step.

    A flip changes the signs of all differences of some queries. The statistic of a pair,

        s = |sum of d| / sqrt(sum of d²) over its differences d,

    grows with Student's t = s sqrt((n - 1) / (n - s²)), and flips change its numerator only. p is the share of
    flips that reach the s of the pair, p_adjusted the share whose largest s over all pairs reaches it. With c
    the critical largest s, the interval contains the shifts of d whose s is at most c:

        difference ± c sqrt(squares / (n (n - c²))), unbounded where c² >= n.

    So 0 lies outside exactly the intervals of pairs with p_adjusted < 0.05, and all intervals hold
    together. The test is exact for symmetric differences.

    Source: Westfall & Young, Resampling-Based Multiple Testing, 1993, section 2.3; Fisher, The Design of
    Experiments, 1935, section 21; drawn flips: Phipson & Smyth, Statistical Applications in Genetics and
    Molecular Biology 9(1), 2010.
    """
    n, _, _, difference, squares, *_ = comparison.statistics
    signs, n_lacking = _signs(comparison, LARGEST_FLIPS)
    n_flips = len(signs) + n_lacking
    roots = np.sqrt(squares + n * difference**2)[:, None]
    weights = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    observed = n * np.abs(difference) * weights[:, 0]
    hits, largest = np.zeros(len(n)), np.zeros(len(signs))
    for part, sums in _flipped_sums(comparison, signs):
        statistics = np.abs(sums) * (weights[part] * (1 + _ROUNDING))
        hits[part] = (statistics >= observed[part, None]).sum(axis=1)
        np.maximum(largest, statistics.max(axis=0), out=largest)
    largest.sort()
    reached = len(largest) - np.searchsorted(largest, observed)
    place = _places(ALPHA, n_flips, n_lacking)
    critical = largest[-place] if place else np.sqrt(len(comparison.values)) + 1
    half = _half_width(critical**2, n, squares)
    p, p_adjusted = ((count + n_lacking) / n_flips for count in (hits, reached))
    return Results(p, p_adjusted, difference - half, difference + half)


def _half_width(critical: FloatArray, n: IntArray, squares: FloatArray) -> FloatArray:
    """Return half the width of intervals with these squared critical statistics."""
    half: FloatArray = np.full(len(n), np.inf)
    np.divide(critical * squares, n * (n - critical), out=half, where=n > critical)
    return half**0.5


def _places(chances: FloatArray | float, n_flips: int, n_lacking: int) -> IntArray:
    """Return the place of the critical statistic among drawn ones, the largest at 1; 0 where none is critical.

    If all flips are drawn, two reach any statistic: those of no sign and of every sign.
    """
    places: IntArray = np.ceil(np.asarray(chances) * n_flips * (1 - EQUAL)).astype(np.int64) - n_lacking
    return places * (places > (0 if n_lacking else 2))


def _signs(comparison: Comparison, draws: int) -> tuple[FloatArray, int]:
    """Return (n_flips, n_queries) signs, and the flips they lack: 0 for all of queries that differ, else 1."""
    n, differs = len(comparison.values), np.ptp(np.nan_to_num(comparison.values), axis=1) > EQUAL
    is_flipped = differs | (2**n <= draws + 1)
    n_patterns = 2 ** int(is_flipped.sum())
    if n_patterns <= draws + 1:
        patterns = np.arange(n_patterns if is_flipped.all() else draws + 1 - (draws + 1) % n_patterns)
        signs = np.ones((len(patterns), n))
        signs[:, is_flipped] = 1 - 2 * (patterns[:, None] >> np.arange(is_flipped.sum()) & 1)
        return signs, 0
    random = np.random.default_rng(comparison.seed)
    return np.asarray(2.0 * random.integers(0, 2, (draws, n), dtype=np.int8) - 1, dtype=np.float64), 1


def _flipped_sums(comparison: Comparison, signs: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of pairs with the (n_block, n_flips) sums of their differences under flips of signs."""
    if np.isfinite(comparison.values).all():
        sums = np.ascontiguousarray((signs @ comparison.values).T)
        for part in comparison.blocks(len(signs)):
            theirs, ours = comparison.pairs[part].T
            yield part, sums[ours] - sums[theirs]
    else:
        for part, differences in comparison.differences():
            yield part, (signs @ np.nan_to_num(differences)).T


def t_test(comparison: Comparison) -> tuple[FloatArray, Interval]:
    """Test with Student's paired t, t = difference / (sd / sqrt(n)), n - 1 degrees of freedom.

    Where all differences of a pair are equal, p is the chance that n signs agree, 2 of 2^n cases.
    """
    with needs("stats"):
        from scipy.special import stdtr, stdtrit  # noqa: PLC0415 the default test does without
    n, _, _, difference, squares, *_ = comparison.statistics
    freedom = np.maximum(1, n - 1)
    error = np.sqrt(squares / freedom / np.maximum(1, n))
    agreeing = np.minimum(1, 2.0 ** (1 - n))
    t = np.divide(difference, error, out=np.zeros(len(n)), where=error > 0)
    p = np.where(error > 0, 2 * stdtr(freedom, -np.abs(t)), np.where(difference == 0, 1, agreeing))

    def interval(chances: FloatArray) -> tuple[FloatArray, FloatArray]:
        half = np.where(agreeing < chances, 0, np.inf)
        half = np.where(error > 0, stdtrit(freedom, 1 - chances / 2) * error, half)
        return difference - half, difference + half

    return p, interval


def wilcoxon(comparison: Comparison) -> tuple[FloatArray, Interval]:
    """Test with the sum of signed ranks, zeros dropped and equal sizes sharing their mean rank, by flips.

    The flips are those of scipy's `PermutationMethod`, the same for all pairs. The interval is Student's.
    """
    with needs("stats"):
        from scipy.stats import rankdata  # noqa: PLC0415 the default test does without
    signs, n_lacking = _signs(comparison, DRAWS)
    hits = np.zeros(len(comparison.pairs))
    for part, differences in comparison.differences():
        sizes = np.where(differences == 0, np.nan, np.abs(differences).round(12))
        ranks = np.nan_to_num(rankdata(sizes, axis=0, nan_policy="omit") * np.sign(differences))
        sums, observed = np.abs(signs @ ranks), np.abs(ranks.sum(axis=0))
        hits[part] = (sums >= observed - _ROUNDING).sum(axis=0)
    return (hits + n_lacking) / (len(signs) + n_lacking), t_test(comparison)[1]


def sign_flips(comparison: Comparison) -> tuple[FloatArray, Interval]:
    """Test each pair by itself with flips of signs; its interval is that of its own critical statistic.

    `largest_statistic` has the formulas.
    """
    n, _, _, difference, squares, *_ = comparison.statistics
    signs, n_lacking = _signs(comparison, DRAWS)
    n_flips, observed = len(signs) + n_lacking, n * np.abs(difference)
    hits, total = np.zeros(len(n)), squares + n * difference**2
    for part, sums in _flipped_sums(comparison, signs):
        hits[part] = (np.abs(sums) * (1 + _ROUNDING) >= observed[part, None]).sum(axis=1)

    def interval(chances: FloatArray) -> tuple[FloatArray, FloatArray]:
        places, largest = _places(chances, n_flips, n_lacking), np.zeros(len(n))
        for part, sums in _flipped_sums(comparison, signs):
            largest[part] = np.take_along_axis(np.sort(np.abs(sums)), -places[part, None], axis=1)[:, 0]
        critical = np.divide(np.square(largest * (1 + _ROUNDING)), total, out=np.zeros(len(n)), where=total > 0)
        half = np.where(places > 0, _half_width(critical, n, squares), np.inf)
        return difference - half, difference + half

    return (hits + n_lacking) / n_flips, interval


def bootstrap(comparison: Comparison) -> tuple[FloatArray, Interval]:
    """Test with means over queries drawn with replacement, by expanded percentile intervals.

    An interval takes the a-th quantile of the resampled means from either end, a = Phi(-sqrt(n / (n - 1)) t),
    with Student's t of half the chance of error, n - 1 degrees of freedom. p is the level at which 0 leaves it.
    """
    with needs("stats"):
        from scipy.special import ndtr, ndtri, stdtr, stdtrit  # noqa: PLC0415 the default test does without
    n, squares = comparison.statistics.n, comparison.statistics.squares
    n_queries = len(comparison.values)
    times = np.random.default_rng(comparison.seed).multinomial(n_queries, [1 / n_queries] * n_queries, DRAWS)
    times = times.astype(np.float64)
    freedom, shrinkage = np.maximum(1, n - 1), np.sqrt(np.maximum(1, n - 1) / np.maximum(1, n))

    def resampled() -> Iterator[tuple[slice, FloatArray]]:
        for part, differences in comparison.differences():
            counts = times @ np.isfinite(differences)
            sums = times @ np.nan_to_num(differences)
            yield part, np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0).T

    rarer = np.zeros(len(n))
    for part, means in resampled():
        rarer[part] = np.minimum((means <= EQUAL).sum(axis=1), (means >= -EQUAL).sum(axis=1))
    share = np.minimum(0.5, (1 + rarer) / (1 + DRAWS))
    agreeing, agreeing_interval = t_test(comparison)
    p = np.where(squares > 0, 2 * stdtr(freedom, shrinkage * ndtri(share)), agreeing)

    def interval(chances: FloatArray) -> tuple[FloatArray, FloatArray]:
        tails = ndtr(stdtrit(freedom, chances / 2) / shrinkage)
        places, ends = np.ceil((DRAWS + 1) * tails).astype(np.int64) - 2, np.empty((2, len(n)))
        for part, means in resampled():
            ordered, place, rows = np.sort(means), np.maximum(0, places[part]), np.arange(len(means))
            ends[:, part] = ordered[rows, place], ordered[rows, -1 - place]
        ends[:, places < 0] = [[-np.inf], [np.inf]]
        low, high = np.where(squares > 0, ends, agreeing_interval(chances))
        return low, high

    return p, interval


def mann_whitney(comparison: Comparison) -> tuple[FloatArray, Interval]:
    """Test all values of each reranker, unpaired, with the rank sum U; the interval is Welch's of the means."""
    with needs("stats"):
        from scipy import stats  # noqa: PLC0415 the default test does without
    samples = [values[np.isfinite(values)].round(12) for values in comparison.values.T]
    p = np.ones(len(comparison.pairs))
    for number, columns in enumerate(np.sort(comparison.pairs)):
        begin_step("Comparing", number, len(p))
        a, b = (samples[column] for column in columns)
        if min(len(a), len(b)) > 1 and len(np.unique([*a, *b])) > 1:
            permuted = stats.PermutationMethod(n_resamples=DRAWS, rng=np.random.default_rng(comparison.seed))
            method = permuted if len(a) + len(b) <= MOST_PERMUTED else "asymptotic"
            p[number] = stats.mannwhitneyu(a, b, method=method).pvalue
    n = np.isfinite(comparison.values).sum(axis=0)
    means, freedoms = np.nansum(comparison.values, axis=0) / np.maximum(1, n), np.maximum(1, n - 1)
    shares = np.nansum((comparison.values - means) ** 2, axis=0) / freedoms / np.maximum(1, n)
    baseline, reranker = comparison.pairs.T
    difference, squared = means[reranker] - means[baseline], shares[reranker] + shares[baseline]
    parts = sum(shares[one] ** 2 / freedoms[one] for one in (baseline, reranker))
    freedom = np.divide(squared**2, parts, out=np.ones_like(squared), where=parts > 0)

    def interval(chances: FloatArray) -> tuple[FloatArray, FloatArray]:
        half = stats.t.isf(chances / 2, freedom) * np.sqrt(squared)
        return difference - half, difference + half

    return p, interval


@dataclass(frozen=True)
class Test:
    """A test of pairs."""

    name: str  # as typed on the command line
    label: str  # in the app
    summary: str  # its question and its assumptions
    interval: str  # what its interval is
    source: str
    function: Callable[[Comparison], tuple[FloatArray, Interval]]  # p of each pair, its interval at any level
    is_paired: bool = True  # whether it compares query by query


TESTS = (
    Test(
        "flips",
        "sign flips",
        "Is the mean difference further from 0 than with random signs? Assumes symmetric differences.",
        "interval of the differences that sign flips do not reject",
        "Fisher, The Design of Experiments, 1935, section 21",
        sign_flips,
    ),
    Test(
        "t",
        "paired t-test",
        "Is the mean difference 0? Assumes normal differences or many queries.",
        "Student's t interval",
        "Student, Biometrika 6(1), 1908",
        t_test,
    ),
    Test(
        "wilcoxon",
        "Wilcoxon signed-rank test",
        "Are the ranked differences balanced around 0? Assumes symmetric differences; drops equal queries.",
        "Student's t interval of the mean difference (p compares ranks)",
        "Wilcoxon, Biometrics Bulletin 1(6), 1945",
        wilcoxon,
    ),
    Test(
        "bootstrap",
        "bootstrap",
        "Is the mean difference 0 in resamples of the queries? Needs some 20 queries.",
        "expanded percentile interval",
        "Efron & Tibshirani, An Introduction to the Bootstrap, 1993; Hesterberg, The American Statistician "
        "69(4), 2015",
        bootstrap,
    ),
    Test(
        "mann-whitney",
        "Mann-Whitney U test",
        "For runs on different queries: do lists of one reranker score higher than lists of the other?",
        "Welch's t interval of the mean difference (p compares ranks)",
        "Mann & Whitney, Annals of Mathematical Statistics 18(1), 1947; Welch, Biometrika 34, 1947",
        mann_whitney,
        is_paired=False,
    ),
)
