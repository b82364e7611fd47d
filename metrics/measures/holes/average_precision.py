"""Joint bounds of measures of what is above relevant documents: average precision, also inferred, and bpref.

What one relevant document more adds to the sum of precisions is its own precision and 1/place of every
relevant one below it.
"""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.model import Bounds, Holes, Joint
from metrics.measures.holes.weighted import extreme_ratio
from metrics.measures.weights import Parameter, harmonic_span
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth, joined_ranges
from metrics.ties import TieGroups, refine, treatment
from metrics.ties.orders import EPSILON

Divisor = Callable[[FloatArray, Parameter], FloatArray]
"""(n,) relevant documents, cut-off → what the sum of precisions is divided by, which never falls."""


def precision_bounds(divisor: Divisor) -> Joint:
    """Return the bounds of precisions within the cut-off, added up and divided, exactly.

    A relevant document adds more the higher it stands. So of x more that are relevant the largest sum has the
    highest, first in their tie; the smallest has those that the list lacks, which add nothing, then the lowest,
    last in their tie. Every x is looked at.

    Args:
        divisor: what the sum is divided by.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        last_place = int(holes.end.max(initial=0)) if k is None else int(k)
        bounds = np.zeros((2, holes.n_lists))
        for sign, bound, (start, added) in (
            (-1, bounds[0], _worst(holes, last_place)),
            (1, bounds[1], _best(holes, last_place)),
        ):
            known = holes.n_relevant + (holes.unlisted if sign < 0 else 0)
            for table in holes.tables(holes.owner, from_below=sign < 0):
                divisors = divisor(np.maximum(known[table.lists] + table.counts, 1.0), k)
                bound[table.lists] = extreme_ratio(table.running(start, added), divisors, sign)
        return bounds[0], bounds[1]

    return joint


def _best(holes: Holes, last_place: int) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each list, relevant documents first, and what each unjudged one adds from above."""
    b, r, c = holes.above, holes.relevant, holes.relevant_above
    of_judged = _span(b, b + r, last_place)
    start = holes.per_list(np.clip(last_place - b, 0, r) + (c - b) * of_judged)
    below = _sums_by_list(holes, of_judged, from_below=True) - of_judged
    group, number = holes.group, _numbers(holes)
    place = (b + r)[group] + number
    precision = (c + r + holes.unjudged_above)[group] + number
    return start, np.where(place <= last_place, precision / place + below[group], 0.0)


def _worst(holes: Holes, last_place: int) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each list, relevant documents last, and what each unjudged one adds from below."""
    end, r, c = holes.end, holes.relevant, holes.relevant_above
    of_judged = _span(end - r, end, last_place)
    start = holes.per_list(np.clip(last_place - end + r, 0, r) + (c - end + r) * of_judged)
    of_all = _span(end - r - holes.unjudged, end, last_place)
    below = _sums_by_list(holes, of_all, from_below=True) - of_all
    group = holes.group
    place = (end - r - holes.unjudged)[group] + _numbers(holes)
    own = (c[group] + 1) / place + _span(place, end[group], last_place)
    return start, np.where(place <= last_place, own + below[group], 0.0)


def _numbers(holes: Holes) -> IntArray:
    """Return the (n_unjudged,) number of each unjudged document in its group, from 1."""
    return joined_ranges(np.ones_like(holes.unjudged), holes.unjudged)


def _span(tops: IntArray, ends: IntArray, last_place: int) -> FloatArray:
    """Return the (n,) sum of 1/place over places top + 1 to end, 0 past the last place."""
    return harmonic_span(np.minimum(tops, last_place), np.minimum(ends, last_place))


def _sums_by_list(holes: Holes, values: FloatArray, *, from_below: bool = False) -> FloatArray:
    """Return the (n_groups,) sum of a value over the groups of the list down to each, itself included.

    Each list is summed by itself, so that its sums do not depend on the lists it is scored with.
    """
    starts, ends = holes.spans
    padded, sums = np.append(values, 0.0), np.empty(len(values) + 1)
    for rows, deepest in batch_by_depth(ends - starts):
        groups = starts[rows, None] + np.arange(deepest)
        groups = np.where(groups < ends[rows, None], groups, len(values))
        of_lists = padded.take(groups)
        in_order = of_lists[:, ::-1] if from_below else of_lists
        np.cumsum(in_order, axis=1, out=in_order)
        sums[groups] = of_lists
    return sums[:-1]


average_precision_bounds = precision_bounds(lambda relevant, _: relevant)


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
