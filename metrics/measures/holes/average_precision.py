"""Joint bounds of average precision.

What one relevant document more adds to the sum of precisions is its own precision and 1/place of every
relevant one below it.
"""

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.weights import harmonic_span
from metrics.support.arrays import FloatArray


def average_precision_bounds(holes: Holes, _: float | None) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest average precision, exactly."""
    return _lowest(holes), _highest(holes)


def _highest(holes: Holes) -> FloatArray:
    """Return the largest: unjudged documents are relevant from the top, and relevant ones stand first.

    Each one more of a group adds at least what the last one did, for its precision grows. So the ratio of the
    sum to the number of relevant documents is largest before a group or after it, never within.
    """
    b, r, c, u = holes.above, holes.relevant, holes.relevant_above, holes.unjudged
    n_above, end = holes.unjudged_above, b + r  # places b + 1 to end hold the relevant ones
    drop = harmonic_span(b, end)
    below = holes.sums_by_list(drop, from_below=True) - drop
    added = u * (1 + below) + (c + n_above - b) * harmonic_span(end, end + u)
    sums = holes.per_list(r + (c - b) * drop)
    highest = sums / np.maximum(holes.n_relevant, 1)
    lists = holes.lists[holes.firsts]
    upto = sums[holes.lists] + holes.sums_by_list(added)
    ratios = upto / np.maximum(holes.n_relevant[holes.lists] + n_above + u, 1)
    highest[lists] = np.maximum(highest[lists], np.maximum.reduceat(ratios, holes.firsts))
    return np.asarray(highest)


def _lowest(holes: Holes) -> FloatArray:
    """Return the smallest: unjudged documents are relevant from below, and relevant ones stand last.

    Those that the list lacks come first and add nothing. Each one more adds more than the last one did: at
    place p, below c judged relevant ones, it adds (c + 1)/p and 1/place of those below; to what the next one
    adds, below c' of them, it adds 1/p, and the c - c' between add as much each, or more. So the ratio of the
    sum to the number of relevant documents falls while the next one adds less than the ratio, and rises from
    there on: it is smallest within the highest group whose first one adds less.
    """
    end, r, c, u = holes.end, holes.relevant, holes.relevant_above, holes.unjudged
    n_above, start = holes.unjudged_above, end - r  # places start + 1 to end hold the relevant ones
    rise, filled = harmonic_span(start, end), harmonic_span(start - u, end)
    below = holes.sums_by_list(filled, from_below=True) - filled
    judged = (c - start) * rise
    added = u * (1 + below) + (c - start + u) * filled - judged
    sums, n_relevant = holes.per_list(r + judged), holes.n_relevant + holes.unlisted
    before = sums[holes.lists] + (holes.sums_by_list(added, from_below=True) - added)
    n_before = (n_relevant + holes.n_unjudged)[holes.lists] - n_above - u
    first_adds = (c + 1) / np.maximum(start, 1) + rise + below
    groups = holes.first_with((u > 0) & (first_adds * n_before < before))
    lowest, lists = sums / np.maximum(n_relevant, 1), holes.lists[groups]
    if len(groups):
        firsts = np.cumsum(u[groups]) - u[groups]
        group = np.repeat(groups, u[groups])
        number = np.arange(1, len(group) + 1) - np.repeat(firsts, u[groups])
        spans = harmonic_span(start[group] - number, end[group])
        added = number * (1 + below[group]) + ((c - start)[group] + number) * spans - judged[group]
        ratios = (before[group] + added) / (n_before[group] + number)
        lowest[lists] = np.minimum.reduceat(ratios, firsts)
    return np.asarray(lowest)
