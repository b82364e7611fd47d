"""Joint bounds of average precision."""

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.ratios import extreme_ratio
from metrics.measures.weights import harmonic_span
from metrics.support.arrays import FloatArray
from metrics.support.batch_by_depth import batch_by_depth


def average_precision_bounds(holes: Holes, _: float | None) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest average precision, exactly.

    For x more relevant documents the sum of precisions is largest where they are the x unjudged ones of the
    highest groups, and relevant ones stand first in their tie; smallest where they are those that the list
    lacks, then those of the lowest groups, and relevant ones stand last. What one document more adds to the
    sum is its own precision and 1/place of every relevant one below it, so all x are tried in one pass.
    """
    lowest, highest = np.zeros(holes.n_lists), np.zeros(holes.n_lists)
    best, largest_gains = _from_above(holes)
    worst, smallest_gains = _from_below(holes)
    n_judged_relevant = holes.n_relevant.astype(np.float64)
    for sign, start, increments, bound in (
        (1, best, largest_gains, highest),
        (-1, worst, smallest_gains, lowest),
    ):
        for table in holes.tables(holes.owner, from_below=sign < 0):
            sums = table.running(start, increments)
            first = n_judged_relevant[table.lists] + (holes.unlisted[table.lists] if sign < 0 else 0)
            n_relevant = first[:, None] + table.counts
            bound[table.lists] = extreme_ratio(sums[None], n_relevant[None], sign)
    return lowest, highest


def _from_above(holes: Holes) -> tuple[FloatArray, FloatArray]:
    """Return the sums while no unjudged document is relevant, and what each adds, top first."""
    b, r, c = holes.above, holes.relevant, holes.relevant_above
    drop = harmonic_span(b, b + r)  # relevant documents stand first: places b + 1 to b + r
    below = holes.per_list(drop)[holes.lists] - _upto(holes, drop)
    sums = holes.per_list(r + (c - b) * drop)
    n_above = np.stack([c + r + holes.above_in_list(holes.unjudged), b + r, below])
    hits, place, below = n_above.take(holes.group, axis=1)
    return sums, (hits + holes.number) / (place + holes.number) + below


def _from_below(holes: Holes) -> tuple[FloatArray, FloatArray]:
    """Return the sums while no unjudged document is relevant, and what each adds once all below it do."""
    end, r, c = holes.end, holes.relevant, holes.relevant_above
    start = end - r  # relevant documents stand last: places start + 1 to end
    sums = holes.per_list(r + (c - start) * harmonic_span(start, end))
    filled = harmonic_span(start - holes.unjudged, end)
    below = holes.per_list(filled)[holes.lists] - _upto(holes, filled)
    top, last = np.stack([start - holes.unjudged, end]).take(holes.group, axis=1)
    hits, below = np.stack([c + 1, below]).take(holes.group, axis=1)
    place = top + holes.number
    return sums, hits / place + harmonic_span(place, last) + below


def _upto(holes: Holes, values: FloatArray) -> FloatArray:
    """(n_groups,) sum of a value over the groups of the list down to each, itself included.

    Each list is summed by itself, so that its sums do not depend on the lists it is scored with.
    """
    counts = np.bincount(holes.lists, minlength=holes.n_lists)
    firsts, sums = np.cumsum(counts) - counts, np.zeros(len(values))
    for lists, deepest in batch_by_depth(counts):
        number = np.arange(deepest)
        is_group = number < counts[lists][:, None]
        groups = np.where(is_group, firsts[lists][:, None] + number, 0)
        upto = np.cumsum(np.where(is_group, values[groups], 0.0), axis=1)
        sums[groups[is_group]] = upto[is_group]
    return sums
