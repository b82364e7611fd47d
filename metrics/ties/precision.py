"""Precision: scores as they are compared, in a coarser number format or as groups of near ones."""

import re
from math import isfinite

import numpy as np

from metrics.errors import UsageError
from metrics.runs.model import Runs
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges, sort_descending

_ROUNDING = 2.0**-50
"""What doubles can add to the difference of two decimals, as a share of the larger."""


def near_tops(scores: FloatArray, starts: IntArray, distance: float) -> FloatArray:
    """Replace each score by the highest of its group: from the top of a segment, all within a distance join it.

    The first group starts at the highest score h of a segment and takes every document with a score
    s >= h - distance; the next starts at the next score, and so on. No group spans more than the distance, and
    the order of rows has no part in it. (Single linkage, which joins neighbours, would chain scores that have
    nothing in common.)

    Scores are compared as the decimals they were written as: 0.10 and 0.09 are within 0.01, though their
    doubles are 0.010000000000000009 apart. So s >= h - distance - 2**-50 * max(|h|, distance) is what is
    asked. At a distance of 0 only equal scores tie. Infinite scores tie with their like alone.

    Shapes: `scores` (n_docs,), `starts` (n_segments + 1,).

    Returns (n,) scores, equal within each group.
    """
    if distance == 0 or not len(scores):
        return scores
    order, (sorted_scores,), _ = sort_descending([scores], starts)
    heads = _group_heads(sorted_scores, starts, _lowest_scores(sorted_scores, distance))
    tops = np.empty_like(sorted_scores)
    tops[order] = np.repeat(sorted_scores[heads], np.diff(heads, append=len(sorted_scores)))
    return tops


def _lowest_scores(tops: FloatArray, distance: float) -> FloatArray:
    """Return (n,) the lowest score of a group with each of these tops."""
    with np.errstate(over="ignore", invalid="ignore"):
        lowest = tops - distance - _ROUNDING * np.maximum(np.abs(tops), distance)
    return np.where(np.isfinite(tops), np.maximum(lowest, np.finfo(np.float64).min), tops)


def _group_heads(sorted_scores: FloatArray, starts: IntArray, lowest: FloatArray) -> IntArray:
    """Return (n_groups,) first document of each group.

    A group ends wherever neighbours are too far apart. Only stretches between such ends that hold more than
    one group are looked into.
    """
    is_head = np.zeros(len(sorted_scores) + 1, dtype=np.bool_)
    is_head[starts] = True
    is_head[1:-1] |= sorted_scores[1:] < lowest[:-1]
    bounds = np.flatnonzero(is_head)
    is_long = sorted_scores[bounds[1:] - 1] < lowest[bounds[:-1]]
    first, length = bounds[:-1][is_long], np.diff(bounds)[is_long]
    if len(first):
        documents = joined_ranges(first, length)
        stop = np.cumsum(length)
        is_head[documents] = _head_places(sorted_scores[documents], lowest[documents], stop, length)
    return np.flatnonzero(is_head[:-1])


def _head_places(sorted_scores: FloatArray, lowest: FloatArray, stop: IntArray, length: IntArray) -> BoolArray:
    """Return (n,) whether each document of some stretches starts a group.

    Each document points to the first that a group from it leaves out; those met on the way from the top of a
    stretch start groups. All are met in steps that double: after i of them, all within 2**i pointers.
    """
    pointer = np.append(_first_below(sorted_scores, lowest, np.repeat(stop, length)), len(sorted_scores))
    is_reached = np.zeros(len(pointer), dtype=np.bool_)
    is_reached[stop - length] = True
    for _ in range(int(length.max()).bit_length()):
        is_reached[pointer[is_reached]] = True
        pointer = pointer[pointer]
    return is_reached[:-1]


def _first_below(sorted_scores: FloatArray, lowest: FloatArray, stop: IntArray) -> IntArray:
    """Return (n,) first document after each that scores too low within its stretch; else the end of that."""
    low, high = np.arange(1, len(sorted_scores) + 1), stop
    while (is_open := low < high).any():
        middle = (low + high) // 2
        is_within = sorted_scores[np.minimum(middle, len(sorted_scores) - 1)] >= lowest
        low, high = np.where(is_open & is_within, middle + 1, low), np.where(is_within, high, middle)
    return low


PRECISIONS = ("float64", "float32", "float16", "bfloat16", "decimals:N", "within:E")
"""Every precision there is."""

_MOST_DECIMALS = 17
"""Decimals that tell any two scores of double precision between 0.1 and 1 apart."""
_SPLIT = 2.0**27 + 1
"""Veltkamp's constant: it parts the 53 bits of a double into two halves."""
_INTEGERS = 2.0**53
"""From here on doubles stand farther apart than whole numbers."""
_BLOCK = 2**14
"""Scores rounded at a time: what is computed on the way stays in the processor's cache."""


def near_distance(precision: str) -> float | None:
    """Return how far the scores of one group may be apart: E of `within:E`; None for every other precision."""
    number = re.fullmatch(r"within:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?)", precision)
    return float(number[1]) if number and isfinite(float(number[1])) else None


def compared_scores(scores: FloatArray, starts: IntArray, precision: str) -> FloatArray:
    """Return (n_docs,) scores as they are compared: rounded, or the highest of their group of near ties.

    Shapes: `scores` (n_docs,), `starts` (n_lists + 1,).

    Raises:
        UsageError: there is no such precision.
    """
    distance = near_distance(precision)
    return rounded(scores, precision) if distance is None else near_tops(scores, starts, distance)


def runs_at_precision(runs: Runs, precision: str) -> Runs:
    """Return the runs as files would hold them that were written with scores at one of `PRECISIONS`."""
    if precision == "float64":
        return runs
    columns = {name: table["score"].to_numpy() for name, table in runs.tables.items()}
    return runs.rescored({name: compared_column(runs, name, columns[name], precision) for name in columns})


def compared_column(runs: Runs, reranker: str, scores: FloatArray, precision: str) -> FloatArray:
    """Return the (n_rows,) scores of one reranker as they are compared, in the order of its rows.

    Shapes: `scores` (n_rows,).

    Raises:
        UsageError: there is no such precision.
    """
    query = runs.pairs(reranker).query
    by_query = np.argsort(query, kind="stable")
    starts = np.flatnonzero(np.diff(query[by_query], prepend=-1, append=-1))
    compared = np.empty(len(query))
    compared[by_query] = compared_scores(scores[by_query], starts, precision)
    return compared


def rounded(scores: FloatArray, precision: str) -> FloatArray:
    """Return (n,) scores rounded to the nearest value the format holds, ties to even; too large is infinite.

    `decimals:N` gives what a file holds that was written with N decimals, as C's and Python's `%.Nf` write;
    `within:E` rounds nothing.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if precision == "float64" or near_distance(precision) is not None:
        return scores
    with np.errstate(over="ignore"):
        if precision in ("float32", "float16"):
            return scores.astype(precision).astype(np.float64)
        if precision == "bfloat16":
            return _bfloat16(scores)
        decimals = re.fullmatch(r"decimals:(\d{1,2})", precision)
        if decimals and int(decimals[1]) <= _MOST_DECIMALS:
            return _decimals(scores, 10.0 ** int(decimals[1]))
    raise UsageError(f"There is no precision {precision!r}. Precisions: {', '.join(PRECISIONS)}.")


def _decimals(scores: FloatArray, scale: float) -> FloatArray:
    """Return (n,) the decimals nearest to the exact values of scores, ties to even; `scale` is 10^decimals."""
    nearest = np.empty_like(scores)
    with np.errstate(invalid="ignore"):
        for start in range(0, len(scores), _BLOCK):
            block = slice(start, start + _BLOCK)
            _round_block(scores[block], scale, nearest[block])
    return nearest


def _round_block(scores: FloatArray, scale: float, out: FloatArray) -> None:
    """Write the decimal numbers nearest to a few scores.

    A product rounds to a half where the exact one is at or next to it, and elsewhere to the side where the
    exact one is: only halves need their residual. From 2**53 on a score has no digit to lose.
    """
    product = scores * scale
    np.rint(product, out=out)
    remainder = product - out
    np.abs(remainder, out=remainder)
    half = np.flatnonzero(remainder == 0.5)  # noqa: PLR2004 halfway between two decimals
    if len(half):
        middle = product[half]
        residual = _residual(scores[half], scale, middle)
        out[half] = np.where(residual == 0, out[half], middle + np.copysign(0.5, residual))
    out /= scale
    if not -_INTEGERS < product.min() <= product.max() < _INTEGERS:
        np.copyto(out, scores, where=np.abs(product) >= _INTEGERS)


def _residual(factor: FloatArray, scale: float, product: FloatArray) -> FloatArray:
    """Return (n,) what the rounded products of scores and the scale lack, exactly.

    Source: T. J. Dekker, A floating-point technique for extending the available precision, 1971.
    """
    (upper, lower), (scale_upper, scale_lower) = _halves(factor), _halves(np.array(scale))
    cross = ((upper * scale_upper - product) + upper * scale_lower) + lower * scale_upper
    return np.asarray(cross + lower * scale_lower)


def _halves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return doubles as sums of two numbers of 26 bits, which multiply exactly."""
    shifted = values * _SPLIT
    upper = shifted - (shifted - values)
    return upper, values - upper


def _bfloat16(scores: FloatArray) -> FloatArray:
    """Return the upper half of a float32, rounded to nearest, ties to even."""
    bits = scores.astype(np.float32).view(np.uint32)
    finite = np.isfinite(scores.astype(np.float32))
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(finite, upper, bits).astype(np.uint32).view(np.float32).astype(np.float64)
