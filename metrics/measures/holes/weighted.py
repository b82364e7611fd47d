"""Joint bounds of measures that add up gains by place."""

from collections.abc import Callable, Iterator

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.ratios import extreme_ratio, largest_ratio
from metrics.measures.weights import Weight
from metrics.support.arrays import FloatArray, IntArray

Parameter = float | None
Bounds = tuple[FloatArray, FloatArray]
"""(n_lists,) smallest and largest value."""
Joint = Callable[[Holes, Parameter], Bounds]
Total = Callable[[FloatArray, Parameter], FloatArray]
"""(documents with at least a grade, parameter) → what their gain is divided by."""


def per_relevant(documents: FloatArray, _: Parameter) -> FloatArray:
    """R: what a measure over all relevant documents is divided by."""
    return documents


def weighted_bounds(
    weight: Weight, of_grade: Callable[[FloatArray], FloatArray] | None, total: Total | None
) -> Joint:
    """Return the smallest and largest value of a measure of gains weighted by place, exactly.

    A gain is a sum over the grades up to a document's of what each adds, so a value is a sum over levels of
    grades of the weights of the places that hold at least that grade. Weights fall with the place: for x
    unjudged documents of a level the largest sum has those of the highest groups, first in their tie; the
    smallest has those that the list lacks, then those of the lowest groups, last in their tie. Documents that
    weigh nothing wherever they stand only raise the ideal: the largest has none of them, the smallest all.

    The smallest has only documents of the highest grade: from below, what the next one adds to the sum never
    falls, and is no larger for a higher level, of which more places stand lower; what it adds to the divisor
    never grows, and is no smaller for a higher level, of which fewer documents are known. So sum - ratio *
    divisor is convex in x for each level and has its least at no smaller x for a higher one, while x may be no
    larger there: it is the same.

    Args:
        weight: what each place weighs.
        of_grade: gain of a grade; None: 1 for relevant documents.
        total: what the gain of a level is divided by, which grows with its documents, and ever
            less where there are several levels; None: nothing.

    Source of what lists that are cut add to an endless weight, all places past their end: the residual of
    Moffat & Zobel, TOIS 2008.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        levels = holes.relevant_level if of_grade is None else slice(None)
        steps = np.ones(1) if of_grade is None else np.diff(of_grade(np.append(0.0, holes.grades)))
        bounds = np.zeros((2, holes.n_lists))
        for bound, (sign, start, owner, added) in zip(
            bounds, _weights_by_count(holes, weight, k, levels, steps), strict=True
        ):
            if total is None:
                bound[:] = start.sum(axis=0) + (_per_list(holes, owner, added).sum(axis=0) if sign > 0 else 0)
                if sign > 0 and holes.is_cut and weight.endless:
                    n_docs = holes.ranking.n_docs.astype(np.float64)
                    bound[:] += weight.span(n_docs, np.full_like(n_docs, np.inf), k)
                continue
            weightless = 0 if sign > 0 else holes.n_open - np.bincount(owner, minlength=holes.n_lists)
            judged = holes.judged[levels] + weightless
            most_documents = int((holes.judged[levels] + holes.n_open).max(initial=0))
            totals_by_count = total(np.arange(most_documents + 1.0), k) * steps[:, None]
            for table in holes.tables(owner, from_below=sign < 0):
                documents = judged[:, None, table.lists] + table.counts
                totals = np.stack([each.take(n) for each, n in zip(totals_by_count, documents, strict=True)])
                if sign > 0:
                    bound[table.lists] = largest_ratio(table.running(start, added), totals)
                else:
                    sums = table.running(start.sum(axis=0), added.sum(axis=0))
                    bound[table.lists] = extreme_ratio(sums, totals.sum(axis=0), sign)
        return bounds[0], bounds[1]

    return joint


def _weights_by_count(
    holes: Holes, weight: Weight, k: Parameter, levels: slice, steps: FloatArray
) -> Iterator[tuple[int, FloatArray, IntArray, FloatArray]]:
    """Yield what relevant documents weigh where they stand last in their tie, and then where they stand first.

    Args:
        holes: the lists.
        weight: what each place weighs.
        k: cut-off, or the parameter of the weight.
        levels: which levels.
        steps: (n_levels,) what each level gains.

    Yields:
        -1 or 1, (n_levels, n_lists) gain of judged documents, (n_open,) list of each unjudged one that may
        weigh something, (n_levels, n_open) what it adds.
    """
    limit = weight.depth(k)
    near = np.flatnonzero((holes.above < limit) & (holes.unjudged > 0))
    counts, unjudged, lists = holes.counts[levels].take(near, axis=1), holes.unjudged[near], holes.lists[near]
    tops = holes.end[near] - counts - unjudged, holes.above[near] + counts
    for sign, top, start in zip((-1, 1), tops, weights_of_judged(holes, weight, k, levels), strict=True):
        n_weighty = np.clip(limit - top.min(axis=0), 0, unjudged).astype(np.int64)
        group = np.repeat(np.arange(len(near)), n_weighty)
        number = np.arange(len(group)) - (np.cumsum(n_weighty) - n_weighty).take(group)
        added = weight.singly(top.take(group, axis=1) + number, k)
        yield sign, start * steps[:, None], lists.take(group), added * steps[:, None]


def weights_of_judged(
    holes: Holes, weight: Weight, k: Parameter, levels: slice
) -> tuple[FloatArray, FloatArray]:
    """(n_levels, n_lists) each; what judged documents weigh that stand last in their tie, and first in it.

    Args:
        holes: the lists.
        weight: what each place weighs.
        k: cut-off, or the parameter of the weight.
        levels: which levels.
    """
    limit = weight.depth(k)
    near = np.flatnonzero((holes.above < limit) & (holes.counts[levels][0] > 0))
    counts, lists = holes.counts[levels].take(near, axis=1), holes.lists[near]
    last, first = (
        _per_list(holes, lists, weight.span(np.minimum(top, limit), np.minimum(top + counts, limit), k))
        for top in (holes.end[near] - counts, holes.above[near])
    )
    return last, first


def _per_list(holes: Holes, owner: IntArray, values: FloatArray) -> FloatArray:
    """(n_levels, n_lists) sums over what belongs to each list."""
    return np.stack([np.bincount(owner, level, minlength=holes.n_lists) for level in values]).astype(np.float64)


def judged_bounds(holes: Holes, k: Parameter) -> Bounds:
    """Return the bounds of Judged@k: who was judged is known, so ties alone move it."""
    within = np.clip((k or 0) - holes.above, 0, holes.ranking.sizes)
    judged = holes.ranking.sizes - holes.unjudged
    fewest_hits = holes.per_list(np.maximum(within - holes.unjudged, 0))
    return fewest_hits / (k or 1), holes.per_list(np.minimum(within, judged)) / (k or 1)


def r_precision_bounds(holes: Holes, _: Parameter) -> Bounds:
    """Return the bounds of R-precision, whose cut-off grows with what is judged relevant.

    With x documents more, among R + x places stand at most min(A + x, B) relevant ones, and at least
    max(A', B' - (u + v - x)): A and B are the most where no unjudged document is relevant and where all listed
    ones are, A' and B' the fewest.
    """
    lowest, highest = np.zeros(holes.n_lists), np.zeros(holes.n_lists)
    all_relevant = holes.relevant + holes.unjudged
    for place in range(holes.n_lists):
        groups = slice(*np.searchsorted(holes.lists, (place, place + 1)))
        counts = holes.n_relevant, holes.unlisted, holes.n_unjudged
        n_known_relevant, n_unlisted, n_listed = (int(numbers[place]) for numbers in counts)
        added = np.arange(n_listed + n_unlisted + 1)
        cut = n_known_relevant + added
        sizes = holes.ranking.sizes[groups]
        most_judged, most_listed, fewest_judged, fewest_listed = (
            _over_cuts(holes.above[groups] + offset, length, cut)
            for offset, length in (
                (0, holes.relevant[groups]),
                (0, all_relevant[groups]),
                (sizes - holes.relevant[groups], holes.relevant[groups]),
                (sizes - all_relevant[groups], all_relevant[groups]),
            )
        )
        most_hits = np.minimum(most_judged + added, most_listed)
        fewest_hits = np.maximum(fewest_judged, fewest_listed - (n_listed + n_unlisted - added))
        ratios = np.stack([fewest_hits, most_hits]) / np.maximum(cut, 1)
        lowest[place], highest[place] = ratios[0].min(), ratios[1].max()
    return lowest, highest


def _over_cuts(start: IntArray, length: IntArray, cut: IntArray) -> IntArray:
    """(n_cuts,) places within each cut-off, of stretches that begin after `start`, in falling groups."""
    ends = start + length
    n_complete = np.searchsorted(ends, cut, side="right")
    upto = np.append(0, np.cumsum(length))
    partial = np.minimum(n_complete, len(length) - 1) if len(length) else n_complete
    partial_places = (
        np.where(n_complete < len(length), np.maximum(cut - start[partial], 0), 0) if len(length) else 0
    )
    return np.asarray(upto[n_complete] + partial_places)
