"""The smallest and largest of ratios whose parts grow as more documents are judged relevant."""

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray

_MAX_STEPS = 200
"""Steps of Dinkelbach's method, which takes a handful."""


def extreme_ratio(parts: FloatArray, totals: FloatArray, is_count: BoolArray, sign: int) -> FloatArray:
    """Return the largest (sign 1) or smallest (sign -1) ratio of each row.

    A way to judge is a number x_l of documents for each level of grades, x_1 >= x_2 >= ..., for what reaches a
    grade reaches those below; its ratio is sum of parts[l, x_l] over sum of totals[l, x_l], 0 over 0 is 0.
    Dinkelbach: from the ratio q of some way go to the way that is best for parts - q * totals, which levels
    share only through their order; where it gains nothing, q is the extreme.

    Args:
        parts: (n_rows, n_counts, n_levels), weighted by the gain of each level.
        totals: the same shape.
        is_count: (n_rows, n_counts) which counts there are; the first always.
        sign: 1 or -1.

    Source: Dinkelbach, On nonlinear fractional programming, Management Science 1967.
    """
    if parts.shape[2] == 1:
        ratios = _ratio(parts[..., 0], totals[..., 0])
        return np.asarray(sign * np.where(is_count, sign * ratios, -np.inf).max(axis=1))
    ratios = _ratio(parts[:, 0].sum(axis=1), totals[:, 0].sum(axis=1))
    open_rows = np.arange(len(ratios))
    for _ in range(_MAX_STEPS):
        part, total = _best(parts[open_rows], totals[open_rows], is_count[open_rows], sign, ratios[open_rows])
        better = _ratio(part, total)
        is_better = sign * (better - ratios[open_rows]) > 0
        open_rows = open_rows[is_better]
        if not len(open_rows):
            break
        ratios[open_rows] = better[is_better]
    return ratios


def _ratio(part: FloatArray, total: FloatArray) -> FloatArray:
    return np.divide(part, total, out=np.zeros_like(part), where=total > 0)


def _best(
    parts: FloatArray, totals: FloatArray, is_count: BoolArray, sign: int, ratios: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return part and total of the way that is best for sign * (parts - ratio * totals), row by row."""
    n_rows, n_counts, n_levels = parts.shape
    part, total, worth = (np.zeros((n_rows, n_counts)) for _ in range(3))
    counts = np.broadcast_to(np.arange(n_counts), (n_rows, n_counts))
    for level in reversed(range(n_levels)):
        leading = _leading(worth, counts)
        part, total = (np.take_along_axis(sums, leading, axis=1) for sums in (part, total))
        part, total = part + parts[..., level], total + totals[..., level]
        worth = np.where(is_count, sign * (part - ratios[:, None] * total), -np.inf)
    best = worth.argmax(axis=1)[:, None]
    return np.take_along_axis(part, best, axis=1)[:, 0], np.take_along_axis(total, best, axis=1)[:, 0]


def _leading(worth: FloatArray, counts: IntArray) -> IntArray:
    """Return, for each count, the smallest count up to it that is worth most."""
    highest = np.maximum.accumulate(worth, axis=1)
    is_new = np.concatenate([np.ones((len(worth), 1), dtype=bool), highest[:, 1:] > highest[:, :-1]], axis=1)
    return np.maximum.accumulate(np.where(is_new, counts, 0), axis=1)
