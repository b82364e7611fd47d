"""Joint bounds of average precision.

What one relevant document more adds to the sum of precisions is its own precision and 1/place of every
relevant one below it.
"""

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.weights import harmonic_span
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth


def average_precision_bounds(holes: Holes, _: float | None) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest average precision, exactly."""
    return _lowest(holes), _highest(holes)


def _highest(holes: Holes) -> FloatArray:
    """Return the largest: unjudged documents are relevant from the top, and relevant ones stand first.

    Each one more of a group adds at least what the last one did, for its precision grows. So the ratio of the
    sum to the number of relevant documents is largest before a group or after all, never within. Where all are
    relevant, those of a group below b documents, c of them relevant, have the precision (c + r + 1)/(b + r + 1)
    or more, and without them and all below the sum is smaller by their precisions, or more. So no group below
    the last one where this is less than the ratio of all is looked at.
    """
    b, r, u = holes.above, holes.relevant, holes.unjudged
    c = holes.relevant_above + holes.unjudged_above
    filled = b + r + u
    highest = holes.per_list(r + u + (c - b) * harmonic_span(b, filled))
    highest /= np.maximum(holes.n_relevant + holes.n_unjudged, 1)
    low = np.flatnonzero((u > 0) & (c + r + 1 < highest.take(holes.lists) * (b + r + 1)))
    ends = holes.spans[0].copy()
    ends[holes.lists[low]] = low + 1  # the last one of each list stays
    near, lengths = _groups_between(holes.spans[0], ends)
    relevant = np.flatnonzero((r > 0) & (lengths > 0).take(holes.lists))
    owner, top, length = holes.lists.take(relevant), b.take(relevant), r.take(relevant)
    drop = harmonic_span(top, top + length)  # places top + 1 to top + length hold the relevant ones
    sums, drops = (
        np.bincount(owner, values, minlength=holes.n_lists)
        for values in (length + (holes.relevant_above.take(relevant) - top) * drop, drop)
    )
    lists, tables, b, r, c, u = holes.lists[near], _tables(lengths), b[near], r[near], c[near], u[near]
    below = drops[lists] - _sums_by_list(harmonic_span(b, b + r), tables)
    added = u * (1 + below) + (c - b) * harmonic_span(b + r, b + r + u)
    before = sums[lists] + _sums_by_list(added, tables) - added
    ratios = before / np.maximum(holes.n_relevant[lists] + holes.unjudged_above[near], 1)
    np.maximum.at(highest, lists, ratios)
    return np.asarray(highest)


def _lowest(holes: Holes) -> FloatArray:
    """Return the smallest: unjudged documents are relevant from below, and relevant ones stand last.

    Those that the list lacks come first and add nothing. Each one more adds more than the last one did: at
    place p, below c judged relevant ones, it adds (c + 1)/p and 1/place of those below; to what the next one
    adds, below c' of them, it adds 1/p, and the c - c' between add as much each, or more. So the ratio of the
    sum to the number of relevant documents falls while the next one adds less than the ratio, and rises from
    there on: it is smallest within the highest group whose first one adds less. No group above one where
    (c + 1)/p alone is the first ratio, or more, is looked at.
    """
    relevant = np.flatnonzero(holes.relevant)
    r, c, last = (values.take(relevant) for values in (holes.relevant, holes.relevant_above, holes.end))
    precisions = r + (c - last + r) * harmonic_span(last - r, last)
    sums = np.bincount(holes.lists.take(relevant), precisions, minlength=holes.n_lists)
    n_relevant = holes.n_relevant + holes.unlisted
    lowest = sums / np.maximum(n_relevant, 1)
    past = np.flatnonzero(holes.relevant_above + 1 >= lowest.take(holes.lists) * (holes.end - holes.relevant))
    starts = holes.spans[0].copy()
    starts[holes.lists[past]] = past + 1  # the last one of each list stays
    near, lengths = _groups_between(starts, holes.spans[1])
    end, r, c, u, lists = (
        values[near]
        for values in (holes.end, holes.relevant, holes.relevant_above, holes.unjudged, holes.lists)
    )
    start, tables = end - r, _tables(lengths)  # places start + 1 to end hold the relevant ones
    rise, filled = harmonic_span(start, end), harmonic_span(start - u, end)
    below = _sums_by_list(filled, tables, from_below=True) - filled
    judged = (c - start) * rise
    added = u * (1 + below) + (c - start + u) * filled - judged
    before = sums[lists] + (_sums_by_list(added, tables, from_below=True) - added)
    n_before = (n_relevant + holes.n_unjudged)[lists] - holes.unjudged_above[near] - u
    first_adds = (c + 1) / np.maximum(start, 1) + rise + below
    groups = np.flatnonzero((u > 0) & (first_adds * n_before < before))
    groups = groups[np.diff(lists[groups], prepend=-1) > 0]
    firsts = np.cumsum(u[groups]) - u[groups]
    group = np.repeat(groups, u[groups])
    number = np.arange(1, len(group) + 1) - np.repeat(firsts, u[groups])
    spans = harmonic_span(start[group] - number, end[group])
    added = number * (1 + below[group]) + ((c - start)[group] + number) * spans - judged[group]
    ratios = (before[group] + added) / (n_before[group] + number)
    if len(groups):
        lowest[lists[groups]] = np.minimum.reduceat(ratios, firsts)
    return np.asarray(lowest)


def _groups_between(starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return the groups of each list from one to before another, and how many they are."""
    lengths = ends - starts
    return np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum()), lengths


def _sums_by_list(values: FloatArray, tables: list[IntArray], *, from_below: bool = False) -> FloatArray:
    """Return (n_groups,) sum of a value over the groups of the list down to each, itself included.

    Each list is summed by itself, so that its sums do not depend on the lists it is scored with.

    Args:
        values: (n_groups,) of each group.
        tables: as of `_tables`.
        from_below: whether it is summed over the groups from the last one up to each.
    """
    padded, sums = np.append(values, 0.0), np.empty(len(values) + 1)
    for table in tables:
        of_lists = padded.take(table)
        in_order = of_lists[:, ::-1] if from_below else of_lists
        np.cumsum(in_order, axis=1, out=in_order)
        sums[table] = of_lists
    return sums[:-1]


def _tables(lengths: IntArray) -> list[IntArray]:
    """Return (n_rows, deepest) groups of lists, a row each; past the last one the number of all."""
    firsts, tables = np.cumsum(lengths) - lengths, []
    for rows, deepest in batch_by_depth(lengths):
        number = np.arange(deepest)
        groups = firsts[rows][:, None] + number
        tables.append(np.where(number < lengths[rows][:, None], groups, int(lengths.sum())))
    return tables
