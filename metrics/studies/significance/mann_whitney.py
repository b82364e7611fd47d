"""The unpaired test, for rerankers that ran on different queries."""

import numpy as np
from scipy import stats

from metrics.studies.significance.paired_tests import Comparison, TestResult, is_constant
from metrics.studies.significance.resampling import round_differences
from metrics.support.arrays import FloatArray


def mann_whitney(comparison: Comparison) -> list[TestResult]:
    """U counts the pairs of lists in which the reranker's is better; the interval is Welch's, of the means."""
    results = []
    for baseline, reranker in comparison.pairs:
        ours, theirs = (
            round_differences(one[np.isfinite(one)]) for one in comparison.scores[:, [reranker, baseline]].T
        )
        results.append(_unpaired(ours, theirs, comparison.level))
    return results


def _unpaired(ours: FloatArray, theirs: FloatArray, level: float) -> TestResult:
    n, m = len(ours), len(theirs)
    difference = float((ours.mean() if n else 0.0) - (theirs.mean() if m else 0.0))
    if min(n, m) < 2:  # noqa: PLR2004 a spread needs two
        return TestResult(1.0, difference, difference, "fewer than two queries: nothing can be tested")
    if is_constant(np.concatenate([ours, theirs])):
        return TestResult(1.0, 0.0, 0.0, "no query differs")
    p = float(stats.mannwhitneyu(ours, theirs).pvalue)
    errors = ours.var(ddof=1) / n, theirs.var(ddof=1) / m
    if is_constant(ours) and is_constant(theirs):
        return TestResult(p, difference, difference, "every query of each has the same value, d has no bound")
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / (n - 1) + errors[1] ** 2 / (m - 1))
    low, high = stats.t.interval(level, freedom, difference, np.sqrt(sum(errors)))
    return TestResult(p, float(low), float(high))
