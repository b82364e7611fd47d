"""The paired tests of significance: what each says of two rerankers on the same queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import NamedTuple

import numpy as np
from scipy import stats

from metrics.evaluation import EQUAL
from metrics.studies.significance.resampling import (
    CELLS,
    DRAWS,
    EXACT,
    MANY_COMPARISONS,
    MANY_DRAWS,
    MANY_QUERIES,
    exact_flip_p,
    flipped_sums,
    percentile_interval,
    resampled_means,
    round_differences,
    sampled_flip_p,
)
from metrics.support.arrays import FloatArray

Pair = tuple[int, int]
"""Columns of a baseline and of a reranker."""


class TestResult(NamedTuple):
    """The result of a test of one pair: p, the interval of the difference of means, and a note."""

    p: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Pairs of rerankers to compare, and the values to compare them on.

    Attributes:
        scores: (n_queries, n_rerankers); NaN where a reranker has no value, which paired tests never get.
        pairs: who is compared with whom; differences are the second's minus the first's.
        level: of the intervals, such as 0.95.
        seed: of what is drawn.
        comparisons: how many are corrected for, these among them.
    """

    scores: FloatArray
    pairs: Sequence[Pair]
    level: float = 0.95
    seed: int = 0
    comparisons: int = 1

    def differences(self, pair: Pair) -> FloatArray:
        """(n_queries,) differences, exactly 0 where they are rounding."""
        return round_differences(self.scores[:, pair[1]] - self.scores[:, pair[0]])


TestFunction = Callable[[Comparison], list[TestResult]]


def is_constant(values: FloatArray) -> bool:
    """Whether values differ by rounding only."""
    return bool(np.ptp(values) <= 2 * EQUAL)


def degenerate_result(differences: FloatArray) -> TestResult | None:
    """Return the result where nothing can be tested: too few queries, or differences alike; else None."""
    n = len(differences)
    if n > 1 and not is_constant(differences):
        return None
    return constant_result(n, float(differences.mean()) if n else 0.0)


def constant_result(n: int, difference: float) -> TestResult:
    """Return the result where n queries differ by the same.

    Other than 0, that gives a t without bound, which would make two queries proof. Signs can still be
    flipped: all n agree by chance in 2 of 2^n cases.
    """
    if n < 2:  # noqa: PLR2004 a spread needs two
        return TestResult(
            1.0, difference, difference, f"{('no', 'one')[n]} query in common: nothing can be tested"
        )
    if abs(difference) <= EQUAL:
        return TestResult(1.0, 0.0, 0.0, "no query differs")
    note = "every query differs by the same: p is that of all signs agreeing by chance, dz has no bound"
    return TestResult(2.0 ** (1 - n), difference, difference, note)


def _varying(test: TestFunction) -> TestFunction:
    """Make a test run only on pairs whose differences vary; the others get their `degenerate_result`."""

    @wraps(test)
    def run_where_varying(comparison: Comparison) -> list[TestResult]:
        trivial = [degenerate_result(comparison.differences(pair)) for pair in comparison.pairs]
        open_pairs = [pair for pair, answer in zip(comparison.pairs, trivial, strict=True) if answer is None]
        results = iter(test(replace(comparison, pairs=open_pairs)) if open_pairs else ())
        return [next(results) if answer is None else answer for answer in trivial]

    return run_where_varying


@_varying
def t_test(comparison: Comparison) -> list[TestResult]:
    """T = mean / (sd / sqrt(n)) of the differences, n - 1 degrees of freedom; the interval is that of t."""
    results = []
    size = max(1, CELLS // len(comparison.scores))
    for start in range(0, len(comparison.pairs), size):
        pairs = comparison.pairs[start : start + size]
        t_tests = stats.ttest_1samp(
            np.column_stack([comparison.differences(pair) for pair in pairs]), 0, axis=0
        )
        low, high = t_tests.confidence_interval(comparison.level)
        results += [
            TestResult(float(p), float(a), float(b)) for p, a, b in zip(t_tests.pvalue, low, high, strict=True)
        ]
    return results


@_varying
def wilcoxon(comparison: Comparison) -> list[TestResult]:
    """Rank sum of the positive among the differences that are not 0; interval by bootstrap.

    Exact with up to 13 such differences, or up to 50 without ties among them; else normal, its variance
    corrected for ties. Zeros go first: of five differences and forty zeros, the normal approximation finds
    a p below any that five signs can give.
    """
    return [
        answer._replace(p=_signed_rank(comparison.differences(pair)), note="")
        for pair, answer in zip(comparison.pairs, _bootstrap_results(comparison), strict=True)
    ]


def _signed_rank(differences: FloatArray) -> float:
    nonzero = differences[differences != 0]
    if len(nonzero) > EXACT:
        return float(stats.wilcoxon(nonzero).pvalue)
    return exact_flip_p(np.sign(nonzero) * stats.rankdata(np.abs(nonzero)))


@_varying
def randomisation(comparison: Comparison) -> list[TestResult]:
    """Chance of a mean as far from 0 if each query could as well have gone to the other reranker.

    Exact with up to 13 differences that are not 0, else from random flips. The interval is by bootstrap.
    """
    few = len(comparison.scores) > MANY_QUERIES and comparison.comparisons <= MANY_COMPARISONS
    draws = DRAWS if few else MANY_DRAWS
    differences = {pair: comparison.differences(pair) for pair in comparison.pairs}
    exact = {pair for pair, values in differences.items() if np.count_nonzero(values) <= EXACT}
    is_any_drawn = len(exact) < len(differences)
    sums = flipped_sums(comparison.scores, draws, comparison.seed) if is_any_drawn else np.empty((0, 0))
    results = []
    for (pair, values), result in zip(differences.items(), _bootstrap_results(comparison), strict=True):
        p, hits = (
            (exact_flip_p(values), 1)
            if pair in exact
            else sampled_flip_p(sums[:, pair[1]] - sums[:, pair[0]], values)
        )
        results.append(result._replace(p=p, note=_coarse_note(hits, p, comparison)))
    return results


@_varying
def bootstrap(comparison: Comparison) -> list[TestResult]:
    """Percentile interval of the mean difference, widened for few queries; p is where it leaves 0 out.

    Of few queries that differ, resamples that hold none of them are too rare: five of 43 on one side give
    p = 0.01, though five signs agree by chance in one of 16 cases. That is noted.
    """
    results = []
    for pair, result in zip(comparison.pairs, _bootstrap_results(comparison), strict=True):
        differing = np.count_nonzero(comparison.differences(pair))
        note = f"only {differing} queries differ: the randomisation test is exact there, this one too sure"
        results.append(result._replace(note=note) if differing <= EXACT else result)
    return results


def _bootstrap_results(comparison: Comparison) -> list[TestResult]:
    means = resampled_means(comparison.scores, comparison.seed)
    results = []
    for baseline, reranker in comparison.pairs:
        resampled = means[:, reranker] - means[:, baseline]
        p, low, high, rarer = percentile_interval(resampled, len(comparison.scores), comparison.level)
        results.append(TestResult(p, low, high, _coarse_note(rarer, p, comparison)))
    return results


def _coarse_note(hits: int, p: float, comparison: Comparison) -> str:
    """Return a note where no draw reached a value, and p corrected for all comparisons still proves nothing."""
    if hits or p * comparison.comparisons < 1 - comparison.level:
        return ""
    return f"no draw reaches it, so p is at most this: too coarse for {comparison.comparisons:,} comparisons"
