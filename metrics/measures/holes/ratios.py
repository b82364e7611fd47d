"""The smallest and largest of ratios whose parts grow as more documents are judged relevant."""

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

_MAX_STEPS = 200
"""Steps of Dinkelbach's method, which takes a handful."""
_ROUNDING = 4 * np.finfo(np.float64).eps
"""How much larger a ratio may seem to be by rounding alone."""


def extreme_ratio(part: FloatArray, total: FloatArray, sign: int) -> FloatArray:
    """Return the largest (sign 1) or smallest (sign -1) of part/total in each row; 0 over 0 is 0.

    Args:
        part: (n_rows, n_counts).
        total: the same shape.
        sign: 1 or -1.
    """
    ratios = _ratio(part, total)
    return np.asarray(ratios.max(axis=1) if sign > 0 else ratios.min(axis=1))


def largest_ratio(parts: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the largest ratio of each row, of all numbers of documents that each level of grades may have.

    A way to judge is a number x_l of documents for each level of grades, x_1 >= x_2 >= ..., for what reaches a
    grade reaches those below; its ratio is sum of parts[l, x_l] over sum of totals[l, x_l], 0 over 0 is 0.
    Dinkelbach: from the ratio q of some way go to the way that is best for parts - q * totals, which levels
    share only through their order; where it gains nothing, q is the largest. The first is the best of the ways
    that give every document the highest grade or none: mostly no way is better, not even out of order.

    Args:
        parts: (n_levels, n_rows, n_counts), weighted by the gain of each level; where a row has fewer counts,
            its last one again.
        totals: the same shape.

    Source: Dinkelbach, On nonlinear fractional programming, Management Science 1967.
    """
    ratios = extreme_ratio(parts.sum(axis=0), totals.sum(axis=0), 1)
    gains = (parts - ratios[:, None] * totals).max(axis=2).sum(axis=0)
    open_rows = np.flatnonzero(gains > _ROUNDING * totals[..., -1].sum(axis=0))
    parts, totals = parts[:, open_rows], totals[:, open_rows]
    for _ in range(_MAX_STEPS):
        if not len(open_rows):
            break
        better = _ratio(*_best(parts, totals, ratios[open_rows]))
        is_better = better > ratios[open_rows]
        open_rows = open_rows[is_better]
        ratios[open_rows] = better[is_better]
        parts, totals = parts[:, is_better], totals[:, is_better]
    return ratios


def _ratio(part: FloatArray, total: FloatArray) -> FloatArray:
    return np.divide(part, total, out=np.zeros_like(part), where=total > 0)


def _best(parts: FloatArray, totals: FloatArray, ratios: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return part and total of the way that is best for part - ratio * total, row by row."""
    part, total = parts[-1], totals[-1]
    cells = np.arange(part.size).reshape(part.shape)
    for level in reversed(range(len(parts) - 1)):
        leading = _leading(part - ratios[:, None] * total, cells)
        part, total = parts[level] + part.take(leading), totals[level] + total.take(leading)
    best = cells[:, 0] + (part - ratios[:, None] * total).argmax(axis=1)
    return part.take(best), total.take(best)


def _leading(worth: FloatArray, cells: IntArray) -> IntArray:
    """Return, for each (row, count) cell, the number of the first of its row up to it that is worth most."""
    highest = np.maximum.accumulate(worth, axis=1)
    first = cells.copy()
    first[:, 1:][highest[:, 1:] == highest[:, :-1]] = 0
    return np.maximum.accumulate(first, axis=1)
