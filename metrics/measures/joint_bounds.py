"""Smallest and largest value of each family over all orders of ties and all grades of unjudged documents."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.measures.holes import Bounds, Holes, HoleTable, Joint
from metrics.measures.weights import Parameter, Weight, even, harmonic_span
from metrics.runs.query_doc_keys import Hashes
from metrics.support.arrays import BoolArray, FloatArray, IntArray, batch_by_depth, joined_ranges
from metrics.ties import TieGroups, refine, treatment
from metrics.ties.treatments import EPSILON

_MAX_STEPS = 200
"""Most steps of Dinkelbach's method, which usually takes a few."""
_ROUNDING = 4 * np.finfo(np.float64).eps
"""Relative rounding error of a ratio."""


def extreme_ratio(part: FloatArray, total: FloatArray, sign: int) -> FloatArray:
    """Return the largest (sign 1) or smallest (sign -1) of part/total in each column; 0/0 is 0."""
    ratios = ratio(part, total)
    return np.asarray(ratios.max(axis=0) if sign > 0 else ratios.min(axis=0))


def largest_ratio(parts: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the largest ratio of each column over all numbers of documents at each level of grades.

    A way to judge has x_l documents with grade l or higher, x_1 >= x_2 >= ...; its ratio is the sum of
    parts[l, x_l] over the sum of totals[l, x_l], and 0/0 is 0. Dinkelbach's method starts with the best
    ratio q where all documents share a grade, or are irrelevant. It moves to the way that is best for
    parts - q * totals until nothing improves; q is then the largest ratio.

    Shapes: `parts` (n_levels, n_counts, n_columns).

    Source: Dinkelbach, On nonlinear fractional programming, Management Science 1967.
    """
    ratios = extreme_ratio(parts.sum(axis=0), totals.sum(axis=0), 1)
    gains = (parts - ratios * totals).max(axis=1).sum(axis=0)
    open_lists = np.flatnonzero(gains > _ROUNDING * totals[:, -1].sum(axis=0))
    parts, totals = parts[..., open_lists], totals[..., open_lists]
    for _ in range(_MAX_STEPS):
        if not len(open_lists):
            break
        better = ratio(*_best(parts, totals, ratios[open_lists]))
        is_better = better > ratios[open_lists]
        open_lists = open_lists[is_better]
        ratios[open_lists] = better[is_better]
        parts, totals = parts[..., is_better], totals[..., is_better]
    return ratios


def ratio(part: FloatArray, total: FloatArray) -> FloatArray:
    """Return part/total; 0/0 is 0."""
    return np.asarray(part / np.where(total > 0, total, 1.0))


def _best(parts: FloatArray, totals: FloatArray, ratios: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return part and total of the way that is best for part - ratio * total in each column."""
    part, total = parts[-1], totals[-1]
    cells = np.arange(part.size).reshape(part.shape)
    for level in reversed(range(len(parts) - 1)):
        leading = _leading(part - ratios * total, cells)
        part, total = parts[level] + part.take(leading), totals[level] + total.take(leading)
    best = (part - ratios * total).argmax(axis=0) * part.shape[1] + cells[0]
    return part.take(best), total.take(best)


def _leading(worth: FloatArray, cells: IntArray) -> IntArray:
    """Return, for each (count, column) cell, the first cell down to it with the largest worth."""
    highest = np.maximum.accumulate(worth, axis=0)
    first = cells.copy()
    first[1:][highest[1:] == highest[:-1]] = 0
    return np.maximum.accumulate(first, axis=0)


Total = Callable[[FloatArray, Parameter], FloatArray]
"""(documents with at least a grade, parameter) → divisor of their gain."""


def per_relevant(documents: FloatArray, _: Parameter) -> FloatArray:
    """Return R, the divisor of a measure over all relevant documents."""
    return documents


def weighted_bounds(
    weight: Weight, of_grade: Callable[[FloatArray], FloatArray] | None, total: Total | None
) -> Joint:
    """Return the exact bounds of a measure of gains weighted by rank.

    A value is a sum over levels of grades: the weights of its ranks, times the level's step in
    gain. Weights fall with the rank. So with x unjudged documents at a level, the largest
    sum has those of the highest groups, first in their tie. The smallest has the documents that the list lacks,
    then those of the lowest groups, last in their tie. Documents with weight 0 at every rank only raise the
    ideal: the largest value has none of them, the smallest all.

    The smallest value has only documents of the highest grade. From below, the step of the sum
    never falls with x, and is no larger for a higher level. The step of the divisor never grows, and is no
    smaller for a higher level. So sum - ratio * divisor is convex in x for each level, and its minimum is at no
    smaller x for a higher level, where x may be no larger: x is the same for all levels.

    Most lists need only the cases that none or all of the documents with weight are relevant. If they raise no
    divisor, or nothing else gains, none is smallest. If they raise no divisor, or no document ranks lower than
    its number among those of its level, all is largest, because no ratio is above 1.

    A list that is cut adds to an endless weight all ranks past its end: the residual of Moffat & Zobel, TOIS
    2008.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        levels = holes.relevant_level if of_grade is None else slice(None)
        steps = np.ones(1) if of_grade is None else np.diff(of_grade(np.append(0.0, holes.grades)))
        ends = _Ends(holes, weight, k, total, levels, steps[:, None])
        last, first = _stretches(holes, weight, k, levels)
        return ends.smallest(*last), ends.largest(*first)

    return joint


class _Stretches(NamedTuple):
    """Ranks of the unjudged documents of a tie group that may have weight.

    Attributes:
        lists: (n_stretches,) list of each.
        tops: (n_levels, n_stretches) ranks above it if its documents have the grade of a level.
        lengths: (n_stretches,) its documents.
        n_above: (n_stretches,) unjudged documents above it.
    """

    lists: IntArray
    tops: IntArray
    lengths: IntArray
    n_above: IntArray

    def n_documents(self, holes: Holes) -> IntArray:
        return np.bincount(self.lists, self.lengths, holes.n_lists).astype(np.int64)

    def weights(self, holes: Holes, weight: Weight, k: Parameter) -> FloatArray:
        """Return (n_levels, n_lists) the weights of all documents."""
        limit = weight.depth(k)
        ends = np.minimum(self.tops + self.lengths, limit)
        return _per_list(holes, self.lists, weight.span(np.minimum(self.tops, limit), ends, k))

    def is_low(self, judged: FloatArray) -> BoolArray:
        """Return (n_lists,) whether some document ranks lower than its number among those of its level."""
        is_low = (self.tops - self.n_above > judged.take(self.lists, axis=1)).any(axis=0) & (self.lengths > 0)
        return np.bincount(self.lists[is_low], minlength=judged.shape[1]) > 0

    def documents(self, is_taken: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the list, and (n_levels, n) ranks above, of each document of some lists."""
        stretches = np.flatnonzero(is_taken.take(self.lists))
        lengths = self.lengths.take(stretches)
        stretch = np.repeat(stretches, lengths)
        number = np.arange(len(stretch)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.lists.take(stretch), self.tops.take(stretch, axis=1) + number


class _Divisors(NamedTuple):
    """Divisors of the gain of each level.

    Attributes:
        by_count: (n_counts,) divisor if no document, one, ... has the grade.
        judged: (n_levels, n_lists) documents with the grade, without unjudged ones that may have weight.
        smallest: (n_levels, n_lists) divisors without unjudged documents with weight.
        largest: (n_levels, n_lists) divisors with all of them.
    """

    by_count: FloatArray
    judged: IntArray
    smallest: FloatArray
    largest: FloatArray

    @property
    def grow(self) -> BoolArray:
        """(n_lists,) whether unjudged documents raise a divisor."""
        return np.asarray((self.largest > self.smallest).any(axis=0))

    def of(self, table: HoleTable) -> FloatArray:
        """Return (n_levels, n_counts, n_columns) divisors as documents become relevant."""
        return self.by_count.take(self.judged[:, None, table.lists] + table.counts)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The bounds of `weighted_bounds`; `steps` (n_levels, 1) is what each level adds to the gain."""

    holes: Holes
    weight: Weight
    k: Parameter
    total: Total | None
    levels: slice
    steps: FloatArray

    def smallest(self, weights: FloatArray, stretches: _Stretches) -> FloatArray:
        """Return (n_lists,) smallest values: documents become relevant from below, with the highest grade."""
        gains: FloatArray = (weights * self.steps).sum(axis=0)
        if self.total is None:
            return gains
        n_weighty = stretches.n_documents(self.holes)
        judged = self.holes.judged[self.levels] + (self.holes.n_open - n_weighty)
        divisors = self._divisors(self.total, judged, n_weighty)
        values = ratio(gains, (divisors.smallest * self.steps).sum(axis=0))
        is_open = divisors.grow & (gains > 0)
        owner, added = self._added(stretches, is_open)
        increments = added.sum(axis=0)
        for table in self.holes.tables(owner, is_open, from_below=True):
            totals = (divisors.of(table) * self.steps[..., None]).sum(axis=0)
            values[table.lists] = extreme_ratio(table.running(gains, increments), totals, -1)
        return values

    def largest(self, weights: FloatArray, stretches: _Stretches) -> FloatArray:
        """Return (n_lists,) largest values: documents become relevant from the top, with any grade."""
        start = weights * self.steps
        gains: FloatArray = (start + stretches.weights(self.holes, self.weight, self.k) * self.steps).sum(
            axis=0
        )
        if self.total is None:
            return gains + self._residual()
        judged = self.holes.judged[self.levels]
        divisors = self._divisors(self.total, judged, stretches.n_documents(self.holes))
        values = ratio(gains, (divisors.largest * self.steps).sum(axis=0))
        is_open = divisors.grow & stretches.is_low(np.where(judged < self.weight.depth(self.k), judged, np.inf))
        owner, added = self._added(stretches, is_open)
        for table in self.holes.tables(owner, is_open):
            totals = divisors.of(table) * self.steps[..., None]
            values[table.lists] = largest_ratio(table.running(start, added), totals)
        return values

    def _divisors(self, total: Total, judged: IntArray, n_weighty: IntArray) -> _Divisors:
        n_most = judged + n_weighty
        by_count = total(np.arange(int(n_most.max(initial=0)) + 1.0), self.k)
        return _Divisors(by_count, judged, by_count.take(judged), by_count.take(n_most))

    def _added(self, stretches: _Stretches, is_open: BoolArray) -> tuple[IntArray, FloatArray]:
        """Return the list of each unjudged document of open lists, and (n_levels, n) what its grades add."""
        owner, places = stretches.documents(is_open)
        return owner, self.weight.singly(places, self.k) * self.steps

    def _residual(self) -> FloatArray | float:
        if not (self.holes.is_cut and self.weight.endless):
            return 0.0
        n_docs = self.holes.ranking.n_docs.astype(np.float64)
        return self.weight.span(n_docs, np.full_like(n_docs, np.inf), self.k)


def _stretches(
    holes: Holes, weight: Weight, k: Parameter, levels: slice
) -> Iterator[tuple[FloatArray, _Stretches]]:
    """Yield weights of judged documents and ranks of unjudged ones, last in their tie, then first."""
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
    """Return (n_levels, n_lists) weights of judged documents, last in their tie, and first in it."""
    limit = weight.depth(k)
    near = np.flatnonzero((holes.above < limit) & (holes.counts[levels][0] > 0))
    counts, lists = holes.counts[levels].take(near, axis=1), holes.lists.take(near)
    last, first = (
        _per_list(holes, lists, weight.span(np.minimum(top, limit), np.minimum(top + counts, limit), k))
        for top in (holes.end.take(near) - counts, holes.above.take(near))
    )
    return last, first


def _per_list(holes: Holes, owner: IntArray, values: FloatArray) -> FloatArray:
    return np.stack([np.bincount(owner, level, minlength=holes.n_lists) for level in values]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of documents in the values of a reranker's lists, before the division by the ideal.

    Attributes:
        best: (n_lists,) gain of judged documents, ties in their best order.
        worst: (n_lists,) the same, in their worst order.
        lists: (n_members,) list of each unjudged document that may have weight.
        hashes: (n_members,) hash of its query and document.
        top_shares: (n_members, n_levels) its largest share as its grade rises to a level.
        bottom_shares: (n_members, n_levels) its smallest share.
        ideal: (2, n_lists) smallest and largest divisor over all judgments.
    """

    best: FloatArray
    worst: FloatArray
    lists: IntArray
    hashes: Hashes
    top_shares: FloatArray
    bottom_shares: FloatArray
    ideal: FloatArray

    def most_above(self, other: "Shares") -> FloatArray:
        """Return (n_lists,) the largest difference to another reranker's lists; infinite if unknown.

        An unjudged document adds at most its share here and at least its share there, each as if no other
        one were relevant. It gets the grade for which the shares differ most. Both lists have the same divisor:
        the smallest where the difference may be positive, else the largest.
        """
        order = np.argsort(other.hashes, kind="stable")
        place = np.minimum(np.searchsorted(other.hashes, self.hashes, sorter=order), len(order) - 1)
        opposed = np.zeros_like(self.top_shares)
        if len(order):
            row = order[place]
            is_shared = other.hashes[row] == self.hashes
            opposed[is_shared] = other.bottom_shares[row[is_shared]]
        gains = np.cumsum(self.top_shares - opposed, axis=1).max(axis=1, initial=0.0)
        above = self.best - other.worst + np.bincount(self.lists, gains, minlength=len(self.best))
        smallest, largest = self.ideal
        divisor = np.where(above > 0, smallest, largest)
        unknown = np.where(above > 0, np.inf, 0.0)
        return np.asarray(np.divide(above, divisor, out=unknown, where=divisor > 0))


def shares_of(
    weight: Weight, of_grade: Callable[[FloatArray], FloatArray] | None, total: Total | None
) -> Callable[[Holes, Parameter], Shares]:
    """Return a function that computes the `Shares` of a measure of gains weighted by rank."""

    def shares(holes: Holes, k: Parameter) -> Shares:
        levels = holes.relevant_level if of_grade is None else slice(None)
        steps = np.ones(1) if of_grade is None else np.diff(of_grade(np.append(0.0, holes.grades)))
        worst, best = (gains.T.copy() @ steps for gains in weights_of_judged(holes, weight, k, levels))
        limit = weight.depth(k)
        ranking = holes.ranking
        members = np.flatnonzero(~ranking.judged & (holes.above[ranking.groups] < limit))
        group = ranking.groups[members]
        counts = holes.counts[levels][:, group].T
        first, last = holes.above[group, None] + counts, holes.end[group, None] - counts - 1
        top_shares, bottom_shares = (
            weight.span(np.minimum(top, limit), np.minimum(top + 1, limit), k) * steps for top in (first, last)
        )
        ideal = np.ones((2, holes.n_lists))
        if total is not None:
            judged = holes.judged[levels].T.astype(np.float64, order="C")
            fullest = judged + np.reshape(holes.n_open, (-1, 1))
            ideal = np.stack([(total(documents, k) * steps).sum(axis=1) for documents in (judged, fullest)])
        hashes = ranking.pairs.hashes[ranking.rows[members]]
        return Shares(best, worst, holes.lists[group], hashes, top_shares, bottom_shares, ideal)

    return shares


def first_rank_bounds(value: Callable[[FloatArray], FloatArray]) -> Joint:
    """Return the exact bounds of a value that falls with the rank of the first relevant document.

    It is largest if all unjudged documents are relevant and first in their tie. It is smallest if none is
    relevant and judged ones are last in their tie.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        bounds = np.zeros((2, holes.n_lists))
        worst, best = holes.leading
        for bound, group, rank in (
            (bounds[0], worst, holes.end[worst] - holes.relevant[worst] + 1.0),
            (bounds[1], best, holes.above[best] + 1.0),
        ):
            within = np.full(len(rank), fill_value=True) if k is None else rank <= k
            bound[holes.lists[group]] = np.where(within, value(rank.astype(np.float64)), 0.0)
        return bounds[0], bounds[1]

    return joint


def own_rank_bounds(
    rank_of: Callable[[IntArray, IntArray, IntArray], FloatArray],
) -> Joint:
    """Return the exact bounds of one over a rank that `rank_of` gives the first tie with a relevant document.

    The rank falls with each additional relevant document in the tie and grows with the tie's share of the
    list's irrelevant documents. It is lowest if exactly the unjudged documents of the first tie that holds any
    are relevant, and highest if exactly those below the first tie with a judged relevant document are.
    """

    def joint(holes: Holes, _: Parameter) -> Bounds:
        bounds = np.zeros((2, holes.n_lists))
        worst, best = holes.leading
        n_listed = holes.per_list(holes.relevant).astype(np.int64)
        irrelevant = (holes.ranking.n_docs - n_listed)[holes.lists]
        unjudged_below = holes.n_unjudged[holes.lists] - holes.unjudged_above - holes.unjudged
        for bound, group, relevant, n_irrelevant in (
            (bounds[0], worst, holes.relevant, irrelevant - unjudged_below),
            (bounds[1], best, holes.relevant + holes.unjudged, irrelevant - holes.unjudged),
        ):
            place = rank_of(holes.ranking.sizes[group], relevant[group], n_irrelevant[group])
            bound[holes.lists[group]] = 1 / (holes.above[group] + place)
        return bounds[0], bounds[1]

    return joint


def mean_bounds(
    worth: Callable[[Holes, Parameter], FloatArray],
) -> Joint:
    """Return the exact bounds of the mean worth, (n_groups,) by tie, of all relevant documents."""

    def joint(holes: Holes, k: Parameter) -> Bounds:
        bounds = np.zeros((2, holes.n_lists))
        each = worth(holes, k)
        start, n_judged_relevant = holes.per_list(holes.relevant * each), holes.n_relevant.astype(np.float64)
        for sign, bound in ((-1, bounds[0]), (1, bounds[1])):
            for table in holes.tables(holes.owner, from_below=sign < 0):
                sums = table.running(start, each[holes.group])
                first = n_judged_relevant[table.lists] + (holes.unlisted[table.lists] if sign < 0 else 0)
                counts = first + table.counts
                bound[table.lists] = extreme_ratio(sums, counts, sign)
        return bounds[0], bounds[1]

    return joint


def judged_bounds(holes: Holes, k: Parameter) -> Bounds:
    """Return the bounds of Judged@k, which only ties change."""
    within = np.clip((k or 0) - holes.above, 0, holes.ranking.sizes)
    judged = holes.ranking.sizes - holes.unjudged
    fewest_hits = holes.per_list(np.maximum(within - holes.unjudged, 0))
    return fewest_hits / (k or 1), holes.per_list(np.minimum(within, judged)) / (k or 1)


def r_precision_bounds(holes: Holes, _: Parameter) -> Bounds:
    """Return the bounds of R-precision, whose cut-off grows with the relevant documents.

    With x more relevant documents, at most min(A + x, B) of the first R + x are relevant, and at least
    max(A', B' - (u + v - x)). A and B are the largest numbers if no unjudged document is relevant and if all
    listed ones are, A' and B' the smallest.
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
    """Return (n_cuts,) ranks within each cut-off, of stretches that begin after `start`."""
    ends = start + length
    n_complete = np.searchsorted(ends, cut, side="right")
    upto = np.append(0, np.cumsum(length))
    partial = np.minimum(n_complete, len(length) - 1) if len(length) else n_complete
    partial_places = (
        np.where(n_complete < len(length), np.maximum(cut - start[partial], 0), 0) if len(length) else 0
    )
    return np.asarray(upto[n_complete] + partial_places)


def distinct_bounds(
    n_distinct: Callable[[TieGroups, Parameter], FloatArray],
    n_targets: Callable[[TieGroups], IntArray] | None = None,
) -> Joint:
    """Return bounds of the number of distinct targets in the top k, or of its share of all targets.

    Where documents share targets, the bounds are proven but not always reached. The upper bound is the best
    order of judged documents plus a target for each unjudged document that fits in the top k. The lower bound
    is the worst order; for the share, every unjudged document is one more target that the top k lacks.
    """
    count = weighted_bounds(even, None, None)
    own_targets = count if n_targets is None else weighted_bounds(even, None, per_relevant)

    def joint(holes: Holes, k: Parameter) -> Bounds:
        if holes.ranking.judgments.targets is None:
            return own_targets(holes, k)
        worst, best = (
            refine(holes.ranking, treatment(name), targets=True) for name in ("pessimistic", "optimistic")
        )
        depth = np.inf if k is None else k
        fitting = holes.per_list(np.minimum(holes.unjudged, np.clip(depth - holes.above, 0, holes.unjudged)))
        within = np.minimum(holes.ranking.n_docs, depth)
        lowest, highest = n_distinct(worst, k), np.minimum(n_distinct(best, k) + fitting, within)
        if n_targets is None:
            return lowest, highest
        n_judged_targets = n_targets(worst)
        n_possible_targets = np.maximum(n_judged_targets + holes.unlisted + holes.n_unjudged, 1)
        return lowest / n_possible_targets, np.minimum(highest / np.maximum(n_judged_targets, 1), 1)

    return joint


Divisor = Callable[[FloatArray, Parameter], FloatArray]
"""((n,) relevant documents, cut-off) → divisor of the sum of precisions, which never falls."""


def precision_bounds(divisor: Divisor) -> Joint:
    """Return the exact bounds of the sum of precisions within the cut-off over a divisor.

    A relevant document adds more at a higher rank. So with x more relevant documents, the largest sum has the
    highest, first in their tie. The smallest has unlisted documents, which add nothing, then the
    lowest, last in their tie. Every x is tried.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        last_place = int(holes.end.max(initial=0)) if k is None else int(k)
        bounds = np.zeros((2, holes.n_lists))
        for sign, bound, (start, added) in (
            (-1, bounds[0], _added_from_below(holes, last_place)),
            (1, bounds[1], _added_from_above(holes, last_place)),
        ):
            known = holes.n_relevant + (holes.unlisted if sign < 0 else 0)
            for table in holes.tables(holes.owner, from_below=sign < 0):
                divisors = divisor(np.maximum(known[table.lists] + table.counts, 1.0), k)
                bound[table.lists] = extreme_ratio(table.running(start, added), divisors, sign)
        return bounds[0], bounds[1]

    return joint


def _added_from_above(holes: Holes, last_place: int) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each list, relevant documents first, and what each unjudged one adds from above.

    It adds its own precision, and 1/rank of every relevant document below it.
    """
    b, r, c = holes.above, holes.relevant, holes.relevant_above
    of_judged = _span(b, b + r, last_place)
    start = holes.per_list(np.clip(last_place - b, 0, r) + (c - b) * of_judged)
    below = _sums_from_below(holes, of_judged) - of_judged
    group, number = holes.group, _numbers(holes)
    place = (b + r)[group] + number
    precision = (c + r + holes.unjudged_above)[group] + number
    return start, np.where(place <= last_place, precision / place + below[group], 0.0)


def _added_from_below(holes: Holes, last_place: int) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each list, relevant documents last, and what each unjudged one adds from below."""
    end, r, c = holes.end, holes.relevant, holes.relevant_above
    of_judged = _span(end - r, end, last_place)
    start = holes.per_list(np.clip(last_place - end + r, 0, r) + (c - end + r) * of_judged)
    of_all = _span(end - r - holes.unjudged, end, last_place)
    below = _sums_from_below(holes, of_all) - of_all
    group = holes.group
    place = (end - r - holes.unjudged)[group] + _numbers(holes)
    own = (c[group] + 1) / place + _span(place, end[group], last_place)
    return start, np.where(place <= last_place, own + below[group], 0.0)


def _numbers(holes: Holes) -> IntArray:
    """Return the (n_unjudged,) number of each unjudged document in its group, from 1."""
    return joined_ranges(np.ones_like(holes.unjudged), holes.unjudged)


def _span(tops: IntArray, ends: IntArray, last_place: int) -> FloatArray:
    """Return the (n,) sum of 1/rank from top + 1 to end, 0 past the last place."""
    return harmonic_span(np.minimum(tops, last_place), np.minimum(ends, last_place))


def _sums_from_below(holes: Holes, values: FloatArray) -> FloatArray:
    """Return (n_groups,) sums over the groups of the list up to each, independent of other lists."""
    starts, ends = holes.spans
    padded, sums = np.append(values, 0.0), np.empty(len(values) + 1)
    for rows, deepest in batch_by_depth(ends - starts):
        groups = starts[rows, None] + np.arange(deepest)
        groups = np.where(groups < ends[rows, None], groups, len(values))
        of_lists = padded.take(groups)
        in_order = of_lists[:, ::-1]
        np.cumsum(in_order, axis=1, out=in_order)
        sums[groups] = of_lists
    return sums[:-1]


average_precision_bounds = precision_bounds(lambda relevant, _: relevant)


def inferred_ap_bounds(mean: Callable[[TieGroups, Parameter], FloatArray]) -> Joint:
    """Return bounds of inferred average precision, proven but not always reached: wider than those of AP.

    With T judged documents above a relevant one, S of them relevant, T(S + e)/(T + 2e) is within e of S. So
    where the whole pool is judged, it is worth the same as in AP, up to e. P unjudged pool documents above it
    add between 0 and P/i, and P/i is largest if all of its tie are above it. Where every document is judged,
    the bounds are the worst and the best order.
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
    """Return bounds of binary preference, proven but not always reached.

    A judgment changes R, N and the documents above. For x more relevant documents, each document gets its own
    best case in the upper bound: no further irrelevant document above it, all others raise N, and the x rank
    highest. In the lower bound, all unjudged documents that may rank above it do and are irrelevant, no other
    raises N, and the x are unlisted, then the lowest. The bounds include documents that stay
    unjudged.
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
