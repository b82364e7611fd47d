"""Near ties: documents of a list whose scores stand within a distance of their group's highest."""

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.ties.sorting import sort_descending

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

    Args:
        scores: (n_docs,) scores, segment by segment, in any order within.
        starts: (n_segments + 1,) first document of each segment, and the end.
        distance: from the highest score of a group to its lowest, at most; not negative.

    Returns:
        (n,) scores, equal within each group.
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

    Args:
        sorted_scores: (n_docs,) scores, falling within segments.
        starts: (n_segments + 1,) first document of each segment, and the end.
        lowest: (n_docs,) the lowest score of a group that each document starts.
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

    Args:
        sorted_scores: (n,) scores, falling within stretches.
        lowest: (n,) the lowest score of a group that each document starts.
        stop: (n_stretches,) the end of each.
        length: (n_stretches,) its documents.
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
