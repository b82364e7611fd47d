"""Tests of significance: the p value and interval of each pair of rerankers, or of all pairs together."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.studies.query_values import agreeing_signs, alpha, round_differences
from metrics.studies.resampling import (
    CELLS,
    DRAWS,
    EXACT,
    MANY_COMPARISONS,
    MANY_DRAWS,
    MANY_QUERIES,
    SignFlips,
    all_flips,
    flip_test,
    flipped_sums,
    percentile_interval,
    resampled_means,
)
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.progress import begin_step
from metrics.support.wording import count_of

with needs("stats"):
    from scipy.special import ndtr, stdtr, stdtrit

MAX_CELLS = 2**24
"""Most additions for an exact p: 50 values a side, or 250 differences (about 10 ms). Larger samples use the
normal distribution. Its error is below 0.01 for p below 0.1, largest if most values are 0."""
MAX_CHOICES = 1e300
"""Largest number of splits that floats can count."""


def signed_rank_p(differences: FloatArray) -> float:
    """Return p of a signed-rank sum by flipping the signs of (n,) differences, none of them 0.

    Equal sizes share their mean rank.

    Source: Wilcoxon, Biometrics Bulletin 1(6), 1945; Pratt & Gibbons, Concepts of Nonparametric Theory, 1981.
    """
    if not len(differences):
        return 1.0
    ranks = _doubled_ranks(np.abs(differences))
    step = int(np.gcd.reduce(ranks))
    ranks //= step
    total, positive = int(ranks.sum()), int(ranks[differences > 0].sum())
    reached = min(positive, total - positive)
    if len(ranks) * (reached + 1) > MAX_CELLS:
        return _normal_p(total / 2 - reached, float((ranks**2).sum() / 4))
    chances = np.zeros(reached + 1)
    chances[0] = 1.0
    for rank in ranks.tolist():
        chances[rank:] += chances[: max(0, len(chances) - rank)]
        chances /= 2
    return min(1.0, 2 * float(chances.sum()))


def rank_sum_p(ours: FloatArray, theirs: FloatArray) -> float:
    """Return the two-sided p of a rank sum by splitting all values at random.

    Source: Mann & Whitney, Annals of Mathematical Statistics 18(1), 1947; with ties: Lehmann, Nonparametrics,
    1975, section 1.4.
    """
    ranks = _doubled_ranks(np.concatenate([ours, theirs]))
    ranks -= ranks.min()
    ranks //= int(np.gcd.reduce(ranks)) or 1
    n, size = len(ranks), min(len(ours), len(theirs))
    smaller = ranks[: len(ours)] if size == len(ours) else ranks[len(ours) :]
    reached = int(smaller.sum())
    if n * reached > size * int(ranks.sum()):
        ranks, reached = ranks.max() - ranks, size * int(ranks.max()) - reached
    if n * (size + 1) * (reached + 1) > MAX_CELLS or comb(n, size) > MAX_CHOICES:
        variance = size * (n - size) / (n - 1) * float(ranks.var())
        return _normal_p(size * float(ranks.mean()) - reached, variance)
    counts = _choices(ranks, size, reached) / comb(n, size)
    below = float(counts[:-1].sum())
    return min(1.0, 2 * min(below + float(counts[-1]), 1 - below))


def _doubled_ranks(values: FloatArray) -> IntArray:
    """Return (n,) twice the rank of each value; equal values share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: IntArray = (2 * np.cumsum(count) - count + 1)[place]
    return ranks


def _choices(ranks: IntArray, size: int, largest: int) -> FloatArray:
    counts = np.zeros((size + 1, largest + 1))
    counts[0, 0] = 1.0
    for n_before, rank in enumerate(np.sort(ranks).tolist()):
        if rank > largest:
            break
        first, last = max(0, size - len(ranks) + n_before), min(n_before, size - 1)
        counts[first + 1 : last + 2, rank:] += counts[first : last + 1, : largest + 1 - rank]
    return np.asarray(counts[size])


def _normal_p(distance: float, variance: float) -> float:
    return min(1.0, 2 * float(ndtr(-max(0.0, distance - 0.5) / np.sqrt(variance))))


Pair = tuple[int, int]
"""Column of the baseline and column of the reranker."""
Pairs = Sequence[Pair] | IntArray
"""Pairs as a sequence or as an array (n_pairs, 2)."""


class TestResult(NamedTuple):
    """The result of a test of one pair: p, the interval of the difference of means, and a note."""

    p: float
    low: float
    high: float
    note: str = ""


class TestResults(NamedTuple):
    """The fields of `TestResult` for many pairs, each an array (n_pairs,)."""

    p: FloatArray
    low: FloatArray
    high: FloatArray
    note: npt.NDArray[np.object_]

    @classmethod
    def of(cls, results: Sequence[TestResult]) -> "TestResults":
        """Return results as columns."""
        p, low, high, note = zip(*results, strict=True) if results else ((), (), (), ())
        return cls(np.array(p, float), np.array(low, float), np.array(high, float), np.array(note, object))

    def put(self, places: Sequence[int] | IntArray, results: "TestResults") -> None:
        """Overwrite the results of some pairs."""
        for column, values in zip(self, results, strict=True):
            column[places] = values


class PairDifferences(NamedTuple):
    """Statistics of the differences of each pair, (n_pairs,) each.

    Attributes:
        mean: mean difference, 0 without queries.
        squares: sum of squared deviations from the mean.
        range: largest minus smallest difference.
        won: number of positive differences.
        lost: number of negative differences.
    """

    mean: FloatArray
    squares: FloatArray
    range: FloatArray
    won: IntArray
    lost: IntArray


@dataclass(frozen=True, eq=False)
class Comparison:
    """Pairs of rerankers to compare, and their values.

    Attributes:
        scores: (n_queries, n_rerankers); NaN without a value, which only unpaired tests accept.
        pairs: (baseline, reranker) columns; a difference is reranker minus baseline.
        level: confidence level of the intervals, such as 0.95.
        seed: seed of random draws.
        comparisons: number of comparisons that the correction covers.
    """

    scores: FloatArray
    pairs: Pairs
    level: float = 0.95
    seed: int = 0
    comparisons: int = 1

    def differences(self, pair: Pair) -> FloatArray:
        """Return (n_queries,) differences; those from rounding are exactly 0."""
        return round_differences(self.scores[:, pair[1]] - self.scores[:, pair[0]])

    @cached_property
    def summary(self) -> PairDifferences:
        """The statistics of each pair, computed for a few thousand pairs at a time."""
        n_pairs, n = len(self.pairs), len(self.scores)
        mean, squares, widths = np.zeros((3, n_pairs))
        won, lost = np.zeros((2, n_pairs), dtype=np.int64)
        pairs, by_reranker = np.asarray(self.pairs).reshape(-1, 2), np.ascontiguousarray(self.scores.T)
        size = max(1, CELLS // max(1, n))
        for start in range(0, n_pairs if n else 0, size):
            begin_step("Testing", start, n_pairs)
            part = slice(start, start + size)
            baseline, reranker = pairs[part].T
            differences = round_differences(by_reranker[reranker] - by_reranker[baseline])
            mean[part] = differences.mean(axis=1)
            won[part] = np.count_nonzero(differences > 0, axis=1)
            lost[part] = np.count_nonzero(differences < 0, axis=1)
            widths[part] = np.ptp(differences, axis=1)
            squares[part] = ((differences - mean[part, None]) ** 2).sum(axis=1)
        return PairDifferences(mean, squares, widths, won, lost)


TestFunction = Callable[[Comparison], TestResults]


def is_constant(values: FloatArray) -> bool:
    """Return whether values differ only by rounding."""
    return bool(np.ptp(values) <= 2 * EQUAL)


UNTESTED = TestResult(1.0, -np.inf, np.inf)
"""Result with too few queries for a test."""


def agreement_result(n: int, difference: float, level: float, n_pairs: int = 1) -> TestResult:
    """Return the result if all n queries have the same difference.

    Student's t would be infinite, so two queries would prove a difference. p is the chance that n signs
    agree, 2 of 2^n cases, times the number of pairs that it holds for together.
    """
    if n < 2:  # noqa: PLR2004 a spread needs two
        return UNTESTED._replace(note=f"{('no', 'one')[n]} query in common: no test is possible")
    note = "all queries have the same difference: p is the chance that all signs agree, dz is infinite"
    return constant_result(min(1.0, n_pairs * agreeing_signs(n)), difference, level, note)


def constant_result(p: float, difference: float, level: float, note: str) -> TestResult:
    """Return the result if the values of each reranker do not vary."""
    low, high = (difference, difference) if p < alpha(level) else (-np.inf, np.inf)
    if abs(difference) <= EQUAL:
        return TestResult(1.0, low, high, "no query differs")
    return TestResult(p, low, high, note)


def _degenerate_results(comparison: Comparison) -> dict[int, TestResult]:
    summary, n = comparison.summary, len(comparison.scores)
    places = np.flatnonzero((summary.range <= 2 * EQUAL) | (n < 2))  # noqa: PLR2004 a spread needs two
    return {
        place: agreement_result(n, mean, comparison.level)
        for place, mean in zip(places.tolist(), summary.mean[places].tolist(), strict=True)
    }


def _varying(test: Callable[[Comparison], list[TestResult]]) -> TestFunction:

    @wraps(test)
    def run_where_varying(comparison: Comparison) -> TestResults:
        results = _degenerate_results(comparison)
        pairs = {place: tuple(pair) for place, pair in enumerate(comparison.pairs) if place not in results}
        if pairs:
            tested = test(replace(comparison, pairs=list(pairs.values())))
            results |= dict(zip(pairs, tested, strict=True))
        return TestResults.of([results[place] for place in sorted(results)])

    return run_where_varying


def t_test(comparison: Comparison) -> TestResults:
    """Test with Student's paired t, n - 1 degrees of freedom, and return its interval.

    t = mean / (sd / sqrt(n)) of the differences, which are assumed to be normal. With few queries, p can be
    smaller than any sign flip test allows.
    """
    summary, n = comparison.summary, len(comparison.scores)
    freedom = max(1, n - 1)
    error = np.sqrt(summary.squares / freedom / max(1, n))
    t = np.divide(summary.mean, error, out=np.zeros_like(error), where=error > 0)
    half = stdtrit(freedom, (1 + comparison.level) / 2) * error
    p, notes = 2 * stdtr(freedom, -np.abs(t)), np.full(len(t), "", dtype=object)
    results = TestResults(p, summary.mean - half, summary.mean + half, notes)
    if trivial := _degenerate_results(comparison):
        results.put(list(trivial), TestResults.of(list(trivial.values())))
    return results


@_varying
def wilcoxon(comparison: Comparison) -> list[TestResult]:
    """Test with the signed-rank sum of the differences that are not 0; the interval is that of `randomisation`.

    p is exact, also with ties, up to about 250 differences; above, it is normal with continuity correction.
    Zeros are dropped before: with five differences and forty zeros, the normal p would be smaller than any
    that five signs can give. No interval of ranks agrees with p, as p need not fall with larger shifts.
    """
    results = []
    for pair, result in zip(comparison.pairs, _flip_results(comparison, DRAWS), strict=True):
        differences = comparison.differences(pair)
        results.append(result._replace(p=signed_rank_p(differences[differences != 0]), note=""))
    return results


@_varying
def randomisation(comparison: Comparison) -> list[TestResult]:
    """Test with random sign flips of the differences.

    p is exact for up to 13 differences that are not 0, else drawn. The interval contains the shifts that
    these flips do not reject.
    """
    few = len(comparison.scores) > MANY_QUERIES and comparison.comparisons <= MANY_COMPARISONS
    return _flip_results(comparison, DRAWS if few else MANY_DRAWS)


def _flip_results(comparison: Comparison, draws: int) -> list[TestResult]:
    differences = {pair: comparison.differences(pair) for pair in comparison.pairs}
    drawn_pairs = {pair for pair, values in differences.items() if np.count_nonzero(values) > EXACT}
    flipped = np.empty((0, 0))
    if drawn_pairs:
        unit = np.ones((len(comparison.scores), 1))
        flipped = flipped_sums(np.hstack([comparison.scores, unit]), draws, comparison.seed)
    results = []
    for pair, values in differences.items():
        flips = (
            SignFlips(flipped[:, -1], flipped[:, pair[1]] - flipped[:, pair[0]])
            if pair in drawn_pairs
            else all_flips(values, comparison.seed)
        )
        p, low, high, hits = flip_test(values, flips, comparison.level)
        results.append(TestResult(p, low, high, _coarse_note(hits, p, comparison)))
    return results


@_varying
def bootstrap(comparison: Comparison) -> list[TestResult]:
    """Test with a percentile interval of means, widened for few queries; p is the level at which it excludes 0.

    If few queries differ, resamples without any of them are too rare: five of 43 would give p = 0.01, though
    five signs agree by chance in one of 16 cases. So p is at least that chance, and the interval is unbounded
    if that chance is not significant.
    """
    means = resampled_means(comparison.scores, comparison.seed)
    results = []
    for pair in comparison.pairs:
        resampled = means[:, pair[1]] - means[:, pair[0]]
        p, low, high, rarer = percentile_interval(resampled, len(comparison.scores), comparison.level)
        result = TestResult(p, low, high, _coarse_note(rarer, p, comparison))
        differing = int(np.count_nonzero(comparison.differences(pair)))
        results.append(_bounded_by_signs(result, differing, comparison.level))
    return results


def _bounded_by_signs(result: TestResult, differing: int, level: float) -> TestResult:
    if differing > EXACT:
        return result
    smallest = agreeing_signs(differing)
    differ = f"only {count_of(differing, 'query')} differ{'s' * (differing == 1)}"
    these = "this query" if differing == 1 else "these queries"
    if smallest < alpha(level):
        note = f"{differ}: the randomisation test is exact here, while the bootstrap is too optimistic"
        return result._replace(p=max(result.p, smallest), note=note)
    note = (
        f"{differ}: a sign test on {these} cannot give p below {smallest:.4g}, so the interval at level "
        f"{level:.4g} is unbounded"
    )
    return TestResult(max(result.p, smallest), -np.inf, np.inf, note)


def _coarse_note(hits: int, p: float, comparison: Comparison) -> str:
    if hits or p * comparison.comparisons < 1 - comparison.level:
        return ""
    comparisons = count_of(comparison.comparisons, "comparison")
    return (
        f"no random draw is as extreme as the data, so p is only an upper limit, too coarse for {comparisons}"
    )


def mann_whitney(comparison: Comparison) -> TestResults:
    """Test with U, the number of pairs of lists in which the reranker is better; the interval is Welch's."""
    results = []
    for baseline, reranker in comparison.pairs:
        ours, theirs = (
            round_differences(values[np.isfinite(values)])
            for values in comparison.scores[:, [reranker, baseline]].T
        )
        results.append(_unpaired(ours, theirs, comparison.level))
    return TestResults.of(results)


def _unpaired(ours: FloatArray, theirs: FloatArray, level: float) -> TestResult:
    n, m = len(ours), len(theirs)
    if min(n, m) < 2:  # noqa: PLR2004 a spread needs two
        return UNTESTED._replace(note="fewer than two queries: no test is possible")
    difference = float(ours.mean() - theirs.mean())
    if is_constant(ours) and is_constant(theirs):
        note = "each reranker has the same value on all its queries: d is infinite"
        return constant_result(min(1.0, 2 / comb(n + m, n)), difference, level, note)
    errors = ours.var(ddof=1) / n, theirs.var(ddof=1) / m
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / (n - 1) + errors[1] ** 2 / (m - 1))
    half = float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(sum(errors)))
    return TestResult(rank_sum_p(ours, theirs), difference - half, difference + half)


MAX_NODES = 100
"""Most p values integrated exactly (5 ms each); the others are interpolated."""
SMALLEST_CHANCE = 1e-12
"""Accuracy of the integral: smaller chances are 0."""


def tukey(comparison: Comparison) -> TestResults:
    """Test all pairs together with the studentised range of mean differences.

    q = |difference| / sqrt(MSE / n), where MSE is the residual mean square of the two-way layout of queries
    and k rerankers with (n - 1)(k - 1) degrees of freedom. Interval: difference ± q(level) sqrt(MSE / n).
    p values and intervals hold for all pairs together if residuals are normal. For two rerankers the test is
    the paired t-test.

    Source: Carterette, ACM TOIS 30(1), 2012, section 4.2; Sakai, Laboratory Experiments in Information
    Retrieval, 2018, chapter 4.
    """
    values = comparison.scores
    n, k = values.shape
    if k == 2:  # noqa: PLR2004 a pair
        return t_test(comparison)
    differences = comparison.summary.mean
    error = _standard_error(values) if n > 1 else 0.0
    if not error:
        return TestResults.of(
            [agreement_result(n, mean, comparison.level, comb(k, 2)) for mean in differences.tolist()]
        )
    with needs("stats"):
        from scipy.integrate import IntegrationWarning  # noqa: PLC0415 only for three rerankers or more
    freedom = (n - 1) * (k - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegrationWarning)  # far tails, where p is 0 to twelve digits
        half = error * _bound(comparison.level, k, freedom)
        p = _tail_chances(np.abs(differences) / error, k, freedom)
    notes = np.full(len(p), "", dtype=object)
    return TestResults(p, differences - half, differences + half, notes)


def _standard_error(values: FloatArray) -> float:
    n, k = values.shape
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    square = float((residuals**2).sum() / ((n - 1) * max(1, k - 1)))
    return float(np.sqrt(square / n)) if np.abs(residuals).max() > EQUAL else 0.0


@lru_cache(maxsize=64)
def _bound(level: float, k: int, freedom: int) -> float:
    from scipy.stats import studentized_range  # noqa: PLC0415 half a second, which other tests need not pay

    return float(studentized_range.ppf(level, k, freedom))


def _tail_chances(q: FloatArray, k: int, freedom: int) -> FloatArray:
    from scipy.stats import studentized_range  # noqa: PLC0415 as above

    if len(q) <= MAX_NODES:
        return np.asarray(np.clip(studentized_range.sf(q, k, freedom), 0.0, 1.0))
    even = np.linspace(0, 1, MAX_NODES // 2)
    nodes = np.unique(np.concatenate([np.quantile(q, even), q.min() + even * np.ptp(q)]))
    chances = np.log(np.clip(studentized_range.sf(nodes, k, freedom), SMALLEST_CHANCE, 1.0))
    from scipy.interpolate import PchipInterpolator  # noqa: PLC0415 as above

    log_chances = PchipInterpolator(nodes, chances)(q) if len(nodes) > 1 else np.full(len(q), chances[0])
    return np.asarray(np.exp(np.minimum(log_chances, 0.0)))
