"""Tests of significance: the p value and interval of each pair of rerankers, or of all pairs together."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.studies.query_values import agreeing_signs, alpha, holm, round_differences
from metrics.studies.resampling import (
    CELLS,
    DRAWS,
    EXACT,
    MANY_COMPARISONS,
    MANY_DRAWS,
    MANY_QUERIES,
    all_flips,
    flip_test,
    flipped_sums,
    percentile_interval,
    resampled_means,
)
from metrics.support.arrays import BoolArray, FloatArray, IntArray
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
NO_TEST = "no test is possible"
"""Part of the note of a comparison with fewer than two queries; its p is 1."""


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


class TestResults(NamedTuple):
    """The results of a test, (n_pairs,) each: p, the interval of the difference of means, and a note."""

    p: FloatArray
    low: FloatArray
    high: FloatArray
    note: npt.NDArray[np.object_]


Result = tuple[float, float, float, str]
"""The fields of `TestResults` for one pair."""


def _columns(results: Sequence[Result]) -> TestResults:
    table = np.array(results, dtype=object).reshape(-1, 4).T
    p, low, high = table[:3].astype(np.float64)
    return TestResults(p, low, high, table[3])


class PairDifferences(NamedTuple):
    """Statistics of each pair over the queries that both rerankers have, (n_pairs,) each.

    Attributes:
        n: number of common queries.
        mean_baseline: mean of the baseline, 0 without queries.
        mean: mean of the reranker, 0 without queries.
        difference: mean of the rounded differences, 0 without queries.
        squares: sum of squared deviations of the differences from their mean.
        is_constant: whether the differences vary only by rounding, or there are fewer than two.
        won: number of positive differences.
        lost: number of negative differences.
    """

    n: IntArray
    mean_baseline: FloatArray
    mean: FloatArray
    difference: FloatArray
    squares: FloatArray
    is_constant: BoolArray
    won: IntArray
    lost: IntArray


@dataclass(frozen=True, eq=False)
class Comparison:
    """Pairs of rerankers to compare, and their values.

    Attributes:
        scores: (n_queries, n_rerankers); NaN without a value.
        pairs: (n_pairs, 2) columns of baseline and reranker; a difference is reranker minus baseline.
        level: confidence level of the intervals, such as 0.95.
        seed: seed of random draws.
        comparisons: number of comparisons that the correction covers.
    """

    scores: FloatArray
    pairs: IntArray
    level: float = 0.95
    seed: int = 0
    comparisons: int = 1

    @cached_property
    def samples(self) -> list[FloatArray]:
        """The rounded values of each reranker on its own queries."""
        return [round_differences(values[np.isfinite(values)]) for values in self.scores.T]

    def differences(self) -> Iterator[FloatArray]:
        """Yield the differences of each pair; those from rounding are exactly 0."""
        for baseline, reranker in self.pairs:
            yield round_differences(self.scores[:, reranker] - self.scores[:, baseline])

    @cached_property
    def summary(self) -> PairDifferences:
        """The statistics of each pair, computed for a few hundred pairs at a time."""
        n_pairs, by_reranker = len(self.pairs), np.ascontiguousarray(self.scores.T)
        n, won, lost = np.zeros((3, n_pairs), dtype=np.int64)
        mean_baseline, mean, difference, squares, widths = np.zeros((5, n_pairs))
        size = max(1, CELLS // max(1, len(self.scores)))
        for start in range(0, n_pairs, size):
            begin_step("Testing", start, n_pairs)
            part = slice(start, start + size)
            theirs, ours = (by_reranker[columns] for columns in self.pairs[part].T)
            differences = round_differences(ours - theirs)
            is_common = np.isfinite(differences)
            n[part] = is_common.sum(axis=1)
            if not is_common.all():
                theirs, ours, differences = (np.where(is_common, one, 0) for one in (theirs, ours, differences))
            divisor = np.maximum(1, n[part])
            mean_baseline[part], mean[part] = theirs.sum(axis=1) / divisor, ours.sum(axis=1) / divisor
            won[part], lost[part] = ((sign * differences > 0).sum(axis=1) for sign in (1, -1))
            difference[part] = differences.sum(axis=1) / divisor
            centred = (differences - difference[part, None]) * is_common
            widths[part] = centred.max(axis=1, initial=0.0) - centred.min(axis=1, initial=0.0)
            squares[part] = np.square(centred).sum(axis=1)
        difference[np.abs(difference) <= EQUAL] = 0
        is_constant = widths <= 2 * EQUAL
        return PairDifferences(n, mean_baseline, mean, difference, squares, is_constant, won, lost)


TestFunction = Callable[[Comparison], TestResults]


def is_constant(values: FloatArray) -> bool:
    """Return whether values differ only by rounding."""
    return bool(np.ptp(values) <= 2 * EQUAL)


def agreement_results(n: IntArray, difference: FloatArray, level: float, n_pairs: int = 1) -> TestResults:
    """Return the results of pairs whose n queries all have the same difference.

    Student's t would be infinite, so two queries would prove a difference. p is the chance that n signs
    agree, 2 of 2^n cases, times the number of pairs that it holds for together.
    """
    note = "all queries have the same difference: p is the chance that all signs agree, dz is infinite"
    results = _constant_results(np.minimum(1.0, n_pairs * 2.0 ** (1 - n)), difference, level, note)
    for number, count in enumerate(("no", "one")):  # a spread needs two
        results.note[n == number] = f"{count} query in common: {NO_TEST}"
    return results


def _constant_results(p: FloatArray, difference: FloatArray, level: float, note: str) -> TestResults:
    """Return results if the values of each reranker, or their differences, do not vary."""
    half, is_equal = np.where(p < alpha(level), 0.0, np.inf), np.abs(difference) <= EQUAL
    notes = np.where(is_equal, np.array("no query differs", dtype=object), note)  # texts are shared
    return TestResults(np.where(is_equal, 1.0, p), difference - half, difference + half, notes)


def _resampling(test: Callable[[Comparison], list[Result]]) -> TestFunction:
    """Test pairs whose differences vary with `test`, those with the same common queries together."""

    @wraps(test)
    def run_where_varying(comparison: Comparison) -> TestResults:
        summary, is_present = comparison.summary, np.isfinite(comparison.scores)
        results = agreement_results(summary.n, summary.difference, comparison.level)
        places = np.flatnonzero(~summary.is_constant)
        patterns = np.unique(is_present, axis=1, return_inverse=True)[1].ravel()
        kinds = pd.DataFrame(np.sort(patterns[comparison.pairs[places]], axis=1))
        for rows in kinds.groupby([0, 1]).indices.values():
            pairs = comparison.pairs[places[rows]]
            columns, local = np.unique(pairs, return_inverse=True)
            common = is_present[:, pairs[0]].all(axis=1)
            scores = np.asfortranarray(comparison.scores[np.ix_(common, columns)])
            tested = _columns(test(replace(comparison, scores=scores, pairs=local.reshape(-1, 2))))
            for column, values in zip(results, tested, strict=True):
                column[places[rows]] = values
        return results

    return run_where_varying


def t_test(comparison: Comparison) -> TestResults:
    """Test with Student's paired t, n - 1 degrees of freedom, and return its interval.

    t = mean / (sd / sqrt(n)) of the differences, which are assumed to be normal. With few queries, p can be
    smaller than any sign flip test allows.
    """
    n, _, _, difference, squares, is_constant, *_ = comparison.summary
    freedom = np.maximum(1, n - 1)
    error = np.sqrt(squares / freedom / np.maximum(1, n))
    t = np.divide(difference, error, out=np.zeros_like(error), where=error > 0)
    each_freedom, place = np.unique(freedom, return_inverse=True)  # a quantile takes 10 µs
    half = stdtrit(each_freedom, (1 + comparison.level) / 2)[place] * error
    p, no_notes = 2 * stdtr(freedom, -np.abs(t)), np.full(len(n), "", dtype=object)
    tested = TestResults(p, difference - half, difference + half, no_notes)
    agreeing = agreement_results(n, difference, comparison.level)
    return TestResults(*(np.where(is_constant, *columns) for columns in zip(agreeing, tested, strict=True)))


def paired_p(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test every pair of rerankers by Student's paired t-test on common queries.

    `values` is (n_queries, n_rerankers), NaN where a reranker has no value.

    Returns:
        (n_rerankers, n_rerankers) mean of row minus column, 0 without common queries, and p, 1 if untestable.
    """
    row, column = np.triu_indices(values.shape[1], 1)
    comparison = Comparison(values, np.column_stack([row, column]))
    ahead = comparison.summary.mean_baseline - comparison.summary.mean
    difference, p = np.zeros((values.shape[1],) * 2), np.ones((values.shape[1],) * 2)
    difference[row, column] = np.where(np.abs(ahead) <= EQUAL, 0.0, ahead)
    p[row, column] = p[column, row] = t_test(comparison).p
    return difference - difference.T, p


def holm_pairs(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean differences and p of `paired_p`, and p adjusted for all pairs."""
    difference, p = paired_p(values)
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper])
    return difference, p, np.minimum(adjusted, adjusted.T)


@_resampling
def wilcoxon(comparison: Comparison) -> list[Result]:
    """Test with the signed-rank sum of the differences that are not 0; the interval is that of `randomisation`.

    p is exact, also with ties, up to about 250 differences; above, it is normal with continuity correction.
    Zeros are dropped before: with five differences and forty zeros, the normal p would be smaller than any
    that five signs can give. No interval of ranks agrees with p, as p need not fall with larger shifts.
    """
    flipped = zip(comparison.differences(), _flip_results(comparison, DRAWS), strict=True)
    return [(signed_rank_p(values[values != 0]), low, high, "") for values, (_, low, high, _) in flipped]


@_resampling
def randomisation(comparison: Comparison) -> list[Result]:
    """Test with random sign flips of the differences.

    p is exact for up to 13 differences that are not 0, else drawn. The interval contains the shifts that
    these flips do not reject.
    """
    few = len(comparison.scores) > MANY_QUERIES and comparison.comparisons <= MANY_COMPARISONS
    return _flip_results(comparison, DRAWS if few else MANY_DRAWS)


def _flip_results(comparison: Comparison, draws: int) -> list[Result]:
    differences = list(comparison.differences())
    is_drawn = [bool(np.count_nonzero(values) > EXACT) for values in differences]
    if any(is_drawn):
        unit = np.ones((len(comparison.scores), 1))
        flipped = flipped_sums(np.hstack([comparison.scores, unit]), draws, comparison.seed)
    results = []
    for (baseline, reranker), values, drawn in zip(comparison.pairs, differences, is_drawn, strict=True):
        signs, sums = (
            (flipped[:, -1], flipped[:, reranker] - flipped[:, baseline])
            if drawn
            else all_flips(values, comparison.seed)
        )
        p, low, high, hits = flip_test(values, signs, sums, comparison.level, is_drawn=drawn)
        results.append((p, low, high, _coarse_note(hits, p, comparison)))
    return results


@_resampling
def bootstrap(comparison: Comparison) -> list[Result]:
    """Test with a percentile interval of means, widened for few queries; p is the level at which it excludes 0.

    If few queries differ, resamples without any of them are too rare: five of 43 would give p = 0.01, though
    five signs agree by chance in one of 16 cases. So p is at least that chance, and the interval is unbounded
    if that chance is not significant.
    """
    means, level = resampled_means(comparison.scores, comparison.seed), comparison.level
    results = []
    for (baseline, reranker), values in zip(comparison.pairs, comparison.differences(), strict=True):
        resampled = means[:, reranker] - means[:, baseline]
        p, low, high, rarer = percentile_interval(resampled, len(values), level)
        note, n_differing = _coarse_note(rarer, p, comparison), int(np.count_nonzero(values))
        if n_differing <= EXACT:
            smallest, one = agreeing_signs(n_differing), n_differing == 1
            p, note = max(p, smallest), f"only {count_of(n_differing, 'query')} differ{'s' * one}: "
            if smallest < alpha(level):
                note += "the randomisation test is exact here, while the bootstrap is too optimistic"
            else:
                low, high = -np.inf, np.inf
                note += (
                    f"a sign test on {'this query' if one else 'these queries'} cannot give p below "
                    f"{smallest:.4g}, so the confidence interval at level {level:.4g} is unbounded"
                )
        results.append((p, low, high, note))
    return results


def _coarse_note(hits: int, p: float, comparison: Comparison) -> str:
    if hits or p * comparison.comparisons < 1 - comparison.level:
        return ""
    comparisons = count_of(comparison.comparisons, "comparison")
    return (
        "no random draw is as extreme as the data, so p is an upper limit, which may not be "
        f"significant after correction for {comparisons}"
    )


def mann_whitney(comparison: Comparison) -> TestResults:
    """Test with U, the number of pairs of lists in which the reranker is better; the interval is Welch's."""
    samples, level = comparison.samples, comparison.level
    return _columns([_unpaired(samples[ours], samples[theirs], level) for theirs, ours in comparison.pairs])


def _unpaired(ours: FloatArray, theirs: FloatArray, level: float) -> Result:
    n, m = len(ours), len(theirs)
    if min(n, m) < 2:  # noqa: PLR2004 a spread needs two
        return 1.0, -np.inf, np.inf, f"fewer than two queries: {NO_TEST}"
    difference = ours.mean() - theirs.mean()
    if is_constant(ours) and is_constant(theirs):
        note = "each reranker has the same value on all its queries: d is infinite"
        results = _constant_results(np.array(min(1.0, 2 / comb(n + m, n))), difference, level, note)
        return results.p.item(), results.low.item(), results.high.item(), results.note.item()
    errors = ours.var(ddof=1) / n, theirs.var(ddof=1) / m
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / (n - 1) + errors[1] ** 2 / (m - 1))
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(sum(errors))
    return rank_sum_p(ours, theirs), difference - half, difference + half, ""


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
    differences = comparison.summary.difference
    error = _standard_error(values) if n > 1 else 0.0
    if not error:
        return agreement_results(comparison.summary.n, differences, comparison.level, comb(k, 2))
    with needs("stats"):
        from scipy.integrate import IntegrationWarning  # noqa: PLC0415 only for three rerankers or more
    freedom = (n - 1) * (k - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegrationWarning)  # far tails, where p is 0 to twelve digits
        half = error * _bound(comparison.level, k, freedom)
        p = _tail_chances(np.abs(differences) / error, k, freedom)
    return TestResults(p, differences - half, differences + half, np.full(len(p), "", dtype=object))


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
