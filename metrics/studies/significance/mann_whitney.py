"""The unpaired test, for rerankers that ran on different queries."""

from math import comb

import numpy as np

from metrics.errors import needs
from metrics.studies.significance.paired_tests import (
    UNTESTED,
    Comparison,
    TestResult,
    TestResults,
    constant_result,
    is_constant,
)
from metrics.studies.significance.query_values import round_differences
from metrics.studies.significance.rank_sums import rank_sum_p
from metrics.support.arrays import FloatArray

with needs("stats"):
    from scipy.special import stdtrit


def mann_whitney(comparison: Comparison) -> TestResults:
    """Test by U, the pairs of lists in which the reranker's is better; the interval is Welch's."""
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
        return UNTESTED._replace(note="fewer than two queries: nothing can be tested")
    difference = float(ours.mean() - theirs.mean())
    if is_constant(ours) and is_constant(theirs):
        note = "every query of each has the same value, d has no bound"
        return constant_result(min(1.0, 2 / comb(n + m, n)), difference, level, note)
    errors = ours.var(ddof=1) / n, theirs.var(ddof=1) / m
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / (n - 1) + errors[1] ** 2 / (m - 1))
    half = float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(sum(errors)))
    return TestResult(rank_sum_p(ours, theirs), difference - half, difference + half)
