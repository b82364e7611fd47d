"""The paired t-test of every pair of rerankers at once: 19,900 pairs of 200 in one product of matrices."""

import numpy as np

from metrics.errors import needs
from metrics.evaluation import EQUAL
from metrics.studies.significance.query_values import agreeing_signs, round_differences
from metrics.support.arrays import FloatArray, IntArray

with needs("stats"):
    from scipy.special import stdtr

_CELLS = 2**18
"""Differences formed at a time: 2 MB."""
_CANCELLED = 1e-6
"""Share of the variances of two rerankers below which that of their difference is taken from each query."""


def paired_p(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test every pair of rerankers by Student's paired t, on the queries both have.

    t = mean / (sd / sqrt(n)) of the n differences. Of centred values x and y, the squares of x - y sum to
    those of x, and of y, less twice the products, so all pairs are one product of matrices. Where that
    cancels, the differences are formed; where all are the same, p is that of their signs agreeing by chance.

    Args:
        values: (n_queries, n_rerankers); NaN where a reranker has no value.

    Returns:
        (n_rerankers, n_rerankers) mean of row minus column, 0 where no query is common, and p of each pair,
        1 where nothing can be tested.

    Source: Student, Biometrika 6(1), 1908.
    """
    is_present = np.isfinite(values)
    present, filled = is_present.astype(np.float64), np.where(is_present, values, 0.0)
    centres = filled.sum(axis=0) / np.maximum(1, is_present.sum(axis=0))
    centred = np.where(is_present, values - centres, 0.0)
    n, sums, squares = present.T @ present, centred.T @ present, (centred**2).T @ present
    scale = squares + squares.T
    centred_mean = (sums - sums.T) / np.maximum(1, n)
    deviations = scale - 2 * centred.T @ centred - n * centred_mean**2
    difference = np.where(n > 0, centred_mean + centres[:, None] - centres, 0.0)
    p = _student_p(difference, np.maximum(deviations, 0.0), n)
    i, j = np.triu_indices(len(centres), 1)
    uncertain = deviations[i, j] <= np.maximum(_CANCELLED * scale[i, j], n[i, j] * EQUAL)
    i, j = i[uncertain], j[uncertain]
    difference[i, j], p[i, j] = _formed_p(values, i, j)
    difference[j, i], p[j, i] = -difference[i, j], p[i, j]
    return difference, p


def _student_p(mean: FloatArray, deviations: FloatArray, n: FloatArray) -> FloatArray:
    """Return p of means of n differences whose squared deviations have this sum; 1 where n is below 2."""
    freedom = np.maximum(1, n - 1)
    error = np.sqrt(deviations / freedom / np.maximum(1, n))
    t = np.divide(np.abs(mean), error, out=np.zeros_like(mean), where=error > 0)
    return np.where(n > 1, 2 * stdtr(freedom, -t), 1.0)


def _formed_p(values: FloatArray, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean difference and p of some pairs from the difference of each query, rounding left out."""
    means, p = np.zeros(len(i)), np.ones(len(i))
    by_reranker = np.ascontiguousarray(values.T)
    size = max(1, _CELLS // max(1, len(values)))
    for start in range(0, len(i), size):
        part = slice(start, start + size)
        differences = round_differences(by_reranker[i[part]] - by_reranker[j[part]])
        is_common = np.isfinite(differences)
        n = is_common.sum(axis=1).astype(np.float64)
        means[part] = mean = np.where(is_common, differences, 0.0).sum(axis=1) / np.maximum(1, n)
        centred = np.where(is_common, differences - mean[:, None], 0.0)
        alike = np.ptp(centred, axis=1) <= 2 * EQUAL
        by_signs = np.where(np.abs(mean) > EQUAL, [agreeing_signs(int(number)) for number in n], 1.0)
        p[part] = np.where(alike, by_signs, _student_p(mean, (centred**2).sum(axis=1), n))
    return means, p


def holm_pairs(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (n_rerankers, n_rerankers) mean differences and p as `paired_p`, and p adjusted for all pairs."""
    difference, p = paired_p(values)
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper])
    return difference, p, np.minimum(adjusted, adjusted.T)


def holm(p: FloatArray) -> FloatArray:
    """Return (n,) p-values adjusted for n comparisons, so that the chance of any false verdict is the level's.

    statsmodels' runs the garbage collector: a tenth of a second in a large process.

    Source: Holm, Scandinavian Journal of Statistics 6(2), 1979.
    """
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)
