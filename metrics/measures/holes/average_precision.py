"""Joint bounds of measures of what is above relevant documents: average precision, also inferred, and bpref.

What one relevant document more adds to the sum of precisions is its own precision and 1/place of every
relevant one below it.
"""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.model import Bounds, Holes, Joint
from metrics.measures.weights import Parameter, harmonic_span
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth
from metrics.ties import TieGroups, refine, treatment
from metrics.ties.orders import EPSILON


def average_precision_bounds(holes: Holes, _: Parameter) -> Bounds:
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


def inferred_ap_bounds(mean: Callable[[TieGroups, Parameter], FloatArray]) -> Joint:
    """Return bounds of inferred average precision, proven and not always reached: those of AP and a little.

    With T judged documents above a relevant one, S of them relevant, T(S + e)/(T + 2e) is within e of S:
    where the pool was judged in full, it is worth what it is in AP, or differs by less than e. P documents of
    the pool above it that nobody judged add between 0 and P/i, and P/i is largest where all of its tie are
    above it. Where every document is judged, bounds are the worst and the best order.

    Args:
        mean: its expectation over what is tied.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        worst, best = (
            mean(refine(holes.ranking, treatment(name), all_judged=True, pools=True), k)
            for name in ("pessimistic", "optimistic")
        )
        lowest, highest = average_precision_bounds(holes, k)
        pooled = holes.count(holes.ranking.judged & (holes.ranking.grades < 0))
        share = (holes.above_in_list(pooled) + pooled) / (holes.above + pooled + 1)
        added = np.zeros(holes.n_lists)
        np.maximum.at(added, holes.lists, np.where(holes.relevant + holes.unjudged > 0, share, 0.0))
        upper = np.where(highest > 0, np.minimum(highest + added + EPSILON, 1), 0.0)
        is_judged = holes.n_open == 0
        return np.where(is_judged, worst, np.maximum(lowest - EPSILON, 0)), np.where(is_judged, best, upper)

    return joint


def bpref_bounds(holes: Holes, _: Parameter) -> Bounds:
    """Return bounds of binary preference, proven and not always reached.

    A judgment moves R, N and what stands above. With x documents more relevant, each document is given the
    best of all judgments for itself: above, none more that is not relevant above it, all others raise N, and
    the x stand highest. Below, all unjudged ones that may stand above it do and are not relevant, none else
    raises N, and the x are those that the list lacks, then the lowest. They hold for documents that stay
    unjudged, too.
    """
    ranking = holes.ranking
    is_other = ranking.judged & ~ranking.relevant & (ranking.grades >= 0)
    nonrelevant, bounds = holes.count(is_other), np.zeros((2, holes.n_lists))
    above = holes.above_in_list(nonrelevant)
    open_upto = holes.unjudged_above + holes.unjudged
    n_others = ranking.judgments.n_nonrelevant
    for place in range(holes.n_lists):
        groups = slice(*np.searchsorted(holes.lists, (place, place + 1)))
        n_other, n_open, n_unlisted = (int(n[place]) for n in (n_others, holes.n_open, holes.unlisted))
        x = np.arange(n_open + 1)
        n_relevant = holes.n_relevant[place] + x
        depth = np.maximum(np.minimum(n_other + n_open - x, n_relevant), 1)
        sums = np.zeros((2, len(x)))
        for counts, is_open in ((holes.relevant[groups], 0), (holes.unjudged[groups], 1)):
            at_best = np.repeat(above[groups], counts)
            n_counted = np.minimum(x, len(at_best)) if is_open else np.full(len(x), len(at_best))
            sums[1] += _sum_at_best(at_best, depth, n_counted)
            open_above = np.repeat(open_upto[groups], counts) - is_open
            at_worst = np.repeat((above + nonrelevant)[groups], counts)
            first = len(at_worst) - np.maximum(x - n_unlisted, 0) if is_open else np.zeros(len(x), np.int64)
            sums[0] += _sum_at_worst(at_worst, open_above, n_other, n_relevant, first)
        values = sums / np.maximum(n_relevant, 1)
        bounds[:, place] = values[0].min(), values[1].max()
    return bounds[0], bounds[1]


def _sum_at_best(above: IntArray, depth: IntArray, n_counted: IntArray) -> FloatArray:
    """Return the (n,) sum of max(0, 1 - above/depth) over the first `n_counted` documents, `above` rising."""
    n_worthy = np.minimum(np.searchsorted(above, depth), n_counted)
    return np.asarray(n_worthy - np.append(0, np.cumsum(above))[n_worthy] / depth)


def _sum_at_worst(
    above: IntArray, open_above: IntArray, n_other: int, n_relevant: IntArray, first: IntArray
) -> FloatArray:
    """Return the (n,) sum of max(0, 1 - (above + open)/min(N + open, R)) over the last documents."""
    shares = np.where(n_other + open_above > 0, (n_other - above) / np.maximum(n_other + open_above, 1), 1.0)
    by_others = np.maximum(np.searchsorted(open_above, n_relevant - n_other, side="right"), first)
    by_relevant = np.maximum(np.searchsorted(above + open_above, n_relevant), by_others)
    upto_known, upto = np.append(0, np.cumsum(shares)), np.append(0, np.cumsum(above + open_above))
    capped = by_relevant - by_others - (upto[by_relevant] - upto[by_others]) / np.maximum(n_relevant, 1)
    return np.asarray(upto_known[by_others] - upto_known[first] + capped)
