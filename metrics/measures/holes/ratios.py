"""The smallest and largest of ratios whose parts grow as more documents are judged relevant."""

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

_MAX_STEPS = 200
"""Steps of Dinkelbach's method, which takes a handful."""
_ROUNDING = 4 * np.finfo(np.float64).eps
"""How much larger a ratio may seem to be by rounding alone."""


def extreme_ratio(part: FloatArray, total: FloatArray, sign: int) -> FloatArray:
    """Return the largest (sign 1) or smallest (sign -1) of part/total in each column; 0 over 0 is 0.

    Args:
        part: (n_counts, n_columns).
        total: the same shape.
        sign: 1 or -1.
    """
    ratios = ratio(part, total)
    return np.asarray(ratios.max(axis=0) if sign > 0 else ratios.min(axis=0))


def largest_ratio(parts: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the largest ratio of each column, of all numbers of documents that each level of grades may have.

    A way to judge is a number x_l of documents for each level of grades, x_1 >= x_2 >= ..., for what reaches a
    grade reaches those below; its ratio is sum of parts[l, x_l] over sum of totals[l, x_l], 0 over 0 is 0.
    Dinkelbach: from the ratio q of some way go to the way that is best for parts - q * totals, which levels
    share only through their order; where it gains nothing, q is the largest. The first is the best of the ways
    that give every document the highest grade or none: mostly no way is better, not even out of order.

    Args:
        parts: (n_levels, n_counts, n_columns), weighted by the gain of each level; where a column has fewer
            counts, its last one again.
        totals: the same shape.

    Source: Dinkelbach, On nonlinear fractional programming, Management Science 1967.
    """
    ratios = extreme_ratio(parts.sum(axis=0), totals.sum(axis=0), 1)
    gains = (parts - ratios * totals).max(axis=1).sum(axis=0)
    open_lists = np.flatnonzero(gains > _ROUNDING * totals[:, -1].sum(axis=0))
    parts, totals = parts[..., open_lists], totals[..., open_lists]
    for _ in range(_MAX_STEPS):
        if not len(open_lists):
            break
        better = ratio(*_best(parts, totals, ratios[open_lists]))
        is_better = better > ratios[open_lists]
        open_lists = open_lists[is_better]
        ratios[open_lists] = better[is_better]
        parts, totals = parts[..., is_better], totals[..., is_better]
    return ratios


def ratio(part: FloatArray, total: FloatArray) -> FloatArray:
    """Return part/total; 0 over 0 is 0."""
    return np.asarray(part / np.where(total > 0, total, 1.0))


def _best(parts: FloatArray, totals: FloatArray, ratios: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return part and total of the way that is best for part - ratio * total, column by column."""
    part, total = parts[-1], totals[-1]
    cells = np.arange(part.size).reshape(part.shape)
    for level in reversed(range(len(parts) - 1)):
        leading = _leading(part - ratios * total, cells)
        part, total = parts[level] + part.take(leading), totals[level] + total.take(leading)
    best = (part - ratios * total).argmax(axis=0) * part.shape[1] + cells[0]
    return part.take(best), total.take(best)


def _leading(worth: FloatArray, cells: IntArray) -> IntArray:
    """Return, for each (count, column) cell, the number of the first above it, or it, that is worth most."""
    highest = np.maximum.accumulate(worth, axis=0)
    first = cells.copy()
    first[1:][highest[1:] == highest[:-1]] = 0
    return np.maximum.accumulate(first, axis=0)
