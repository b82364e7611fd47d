"""Tukey's honestly significant differences: all rerankers at once, on the queries all have."""

import warnings
from functools import lru_cache
from math import comb

import numpy as np

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.studies.significance.paired_tests import Comparison, TestResults, agreement_result, t_test
from metrics.support.arrays import FloatArray

MAX_NODES = 100
"""Pairs up to which each p is integrated (some 5 ms); of more, so many are and the others interpolated."""
SMALLEST_CHANCE = 1e-12
"""Chances below are 0 to how exactly the range is integrated."""


def tukey(comparison: Comparison) -> TestResults:
    """Test by the studentised range of differences of means over what queries and rerankers leave unexplained.

    q = |difference| / sqrt(MSE / n), with MSE the residual mean square of the two-way layout, values by query
    and reranker, (n - 1)(k - 1) degrees of freedom, k rerankers. Interval: difference ± q(level) sqrt(MSE / n),
    which hold together, for all pairs at once, as do the p, if residuals are normal. Of two rerankers it is
    the paired t-test, which needs no integral.

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
    """Return the standard error of a mean: the square root of MSE / n; 0 where rounding is all that is left."""
    n, k = values.shape
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    square = float((residuals**2).sum() / ((n - 1) * max(1, k - 1)))
    return float(np.sqrt(square / n)) if np.abs(residuals).max() > EQUAL else 0.0


@lru_cache(maxsize=64)
def _bound(level: float, k: int, freedom: int) -> float:
    """Return the range that this share of studentised ranges does not pass, alike for all measures."""
    from scipy.stats import studentized_range  # noqa: PLC0415 half a second, which other tests need not pay

    return float(studentized_range.ppf(level, k, freedom))


def _tail_chances(q: FloatArray, k: int, freedom: int) -> FloatArray:
    """Return the (n_pairs,) chances of a studentised range as large."""
    from scipy.stats import studentized_range  # noqa: PLC0415 as above

    if len(q) <= MAX_NODES:
        return np.asarray(np.clip(studentized_range.sf(q, k, freedom), 0.0, 1.0))
    even = np.linspace(0, 1, MAX_NODES // 2)
    nodes = np.unique(np.concatenate([np.quantile(q, even), q.min() + even * np.ptp(q)]))
    chances = np.log(np.clip(studentized_range.sf(nodes, k, freedom), SMALLEST_CHANCE, 1.0))
    from scipy.interpolate import PchipInterpolator  # noqa: PLC0415 as above

    log_chances = PchipInterpolator(nodes, chances)(q) if len(nodes) > 1 else np.full(len(q), chances[0])
    return np.asarray(np.exp(np.minimum(log_chances, 0.0)))
