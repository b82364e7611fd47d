"""Joint bounds of measures that add up gains by place."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.ratios import extreme_ratio, largest_ratio, ratio
from metrics.measures.weights import Weight
from metrics.support.arrays import BoolArray, FloatArray, IntArray

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

    Most lists need no look at numbers of documents between none that may weigh something and all. Where they
    raise no divisor, none is smallest and all is largest; none is smallest where nothing else gains. And a
    document that stands no lower than its number among those of its level adds what it adds to the divisor, or
    more: where each does, all is largest, for no ratio is above 1.

    Args:
        weight: what each place weighs.
        of_grade: gain of a grade; None: 1 for relevant documents.
        total: what the gain of a level is divided by, which grows with its documents, by document n no more
            than place n weighs, and ever less where there are several levels; None: nothing.

    Source of what lists that are cut add to an endless weight, all places past their end: the residual of
    Moffat & Zobel, TOIS 2008.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        levels = holes.relevant_level if of_grade is None else slice(None)
        steps = np.ones(1) if of_grade is None else np.diff(of_grade(np.append(0.0, holes.grades)))
        steps = steps[:, None]
        bounds = np.zeros((2, holes.n_lists))
        ends = zip(bounds, (-1, 1), _stretches(holes, weight, k, levels), strict=True)
        for bound, sign, (weights, stretches) in ends:
            start = weights * steps
            gains = start if sign < 0 else start + stretches.weights(holes, weight, k) * steps
            bound[:] = gains.sum(axis=0)
            if total is None:
                continue
            n_weighty = np.bincount(stretches.lists, stretches.lengths, holes.n_lists).astype(np.int64)
            judged = holes.judged[levels] + (0 if sign > 0 else holes.n_open - n_weighty)
            by_count = total(np.arange(int((judged + n_weighty).max(initial=0)) + 1.0), k)
            none, every = (by_count.take(documents) for documents in (judged, judged + n_weighty))
            is_open = (every > none).any(axis=0)
            is_open &= (
                bound > 0 if sign < 0 else stretches.is_low(np.where(judged < weight.depth(k), judged, np.inf))
            )
            bound[:] = ratio(bound, ((none if sign < 0 else every) * steps).sum(axis=0))
            owner, places = stretches.documents(is_open)
            added = weight.singly(places, k) * steps
            for table in holes.tables(owner, is_open, from_below=sign < 0):
                totals = by_count.take(judged[:, None, table.lists] + table.counts) * steps[..., None]
                if sign > 0:
                    bound[table.lists] = largest_ratio(table.running(start, added), totals)
                else:
                    sums = table.running(start.sum(axis=0), added.sum(axis=0))
                    bound[table.lists] = extreme_ratio(sums, totals.sum(axis=0), sign)
        if total is None and holes.is_cut and weight.endless:
            n_docs = holes.ranking.n_docs.astype(np.float64)
            bounds[1] += weight.span(n_docs, np.full_like(n_docs, np.inf), k)
        return bounds[0], bounds[1]

    return joint


class _Stretches(NamedTuple):
    """Places of the unjudged documents of a tie group that may weigh something.

    Attributes:
        lists: (n_stretches,) list of each.
        tops: (n_levels, n_stretches) places above it, where the documents have the grade of a level.
        lengths: (n_stretches,) its documents.
        n_above: (n_stretches,) unjudged documents above it.
    """

    lists: IntArray
    tops: IntArray
    lengths: IntArray
    n_above: IntArray

    def weights(self, holes: Holes, weight: Weight, k: Parameter) -> FloatArray:
        """(n_levels, n_lists) what all documents weigh."""
        limit = weight.depth(k)
        ends = np.minimum(self.tops + self.lengths, limit)
        return _per_list(holes, self.lists, weight.span(np.minimum(self.tops, limit), ends, k))

    def is_low(self, judged: FloatArray) -> BoolArray:
        """(n_lists,) whether some document stands lower than its number among those of its level.

        Args:
            judged: (n_levels, n_lists) judged documents of each level.
        """
        is_low = (self.tops - self.n_above > judged.take(self.lists, axis=1)).any(axis=0) & (self.lengths > 0)
        return np.bincount(self.lists[is_low], minlength=judged.shape[1]) > 0

    def documents(self, is_taken: BoolArray) -> tuple[IntArray, IntArray]:
        """List, and (n_levels, n) places above, of each document of some lists."""
        taken = np.flatnonzero(is_taken.take(self.lists))
        lengths = self.lengths.take(taken)
        stretch = np.repeat(taken, lengths)
        number = np.arange(len(stretch)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.lists.take(stretch), self.tops.take(stretch, axis=1) + number


def _stretches(
    holes: Holes, weight: Weight, k: Parameter, levels: slice
) -> Iterator[tuple[FloatArray, _Stretches]]:
    """Yield where relevant documents stand last in their tie, and then where they stand first.

    Args:
        holes: the lists.
        weight: what each place weighs.
        k: cut-off, or the parameter of the weight.
        levels: which levels.

    Yields:
        (n_levels, n_lists) what judged documents weigh, and the stretches of the others.
    """
    limit = weight.depth(k)
    near = np.flatnonzero((holes.above < limit) & (holes.unjudged > 0))
    counts, unjudged, lists = (
        values.take(near, axis=-1) for values in (holes.counts[levels], holes.unjudged, holes.lists)
    )
    tops = holes.end.take(near) - counts - unjudged, holes.above.take(near) + counts
    for top, judged in zip(tops, weights_of_judged(holes, weight, k, levels), strict=True):
        n_weighty = np.clip(limit - top.min(axis=0), 0, unjudged).astype(np.int64)
        yield judged, _Stretches(lists, top, n_weighty, holes.unjudged_above.take(near))


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
    counts, lists = holes.counts[levels].take(near, axis=1), holes.lists.take(near)
    last, first = (
        _per_list(holes, lists, weight.span(np.minimum(top, limit), np.minimum(top + counts, limit), k))
        for top in (holes.end.take(near) - counts, holes.above.take(near))
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
