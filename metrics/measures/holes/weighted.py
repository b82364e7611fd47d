"""Joint bounds of measures that add up gains by place, and of the difference of two lists."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.measures.holes.model import Bounds, Holes, HoleTable, Joint
from metrics.measures.weights import Parameter, Weight
from metrics.runs.query_doc_keys import Hashes
from metrics.support.arrays import BoolArray, FloatArray, IntArray

_MAX_STEPS = 200
"""Steps of Dinkelbach's method, which takes a handful."""
_ROUNDING = 4 * np.finfo(np.float64).eps
"""How much larger a ratio may seem to be by rounding alone."""


def extreme_ratio(part: FloatArray, total: FloatArray, sign: int) -> FloatArray:
    """Return the largest (sign 1) or smallest (sign -1) of part/total in each column; 0 over 0 is 0.

    Args:
        part: (n_counts, n_columns).
        total: the same shape.
        sign: 1 or -1.
    """
    ratios = ratio(part, total)
    return np.asarray(ratios.max(axis=0) if sign > 0 else ratios.min(axis=0))


def largest_ratio(parts: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the largest ratio of each column, of all numbers of documents that each level of grades may have.

    A way to judge is a number x_l of documents for each level of grades, x_1 >= x_2 >= ..., for what reaches a
    grade reaches those below; its ratio is sum of parts[l, x_l] over sum of totals[l, x_l], 0 over 0 is 0.
    Dinkelbach: from the ratio q of some way go to the way that is best for parts - q * totals, which levels
    share only through their order; where it gains nothing, q is the largest. The first is the best of the ways
    that give every document the highest grade or none: mostly no way is better, not even out of order.

    Args:
        parts: (n_levels, n_counts, n_columns), weighted by the gain of each level; where a column has fewer
            counts, its last one again.
        totals: the same shape.

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
    """Return part/total; 0 over 0 is 0."""
    return np.asarray(part / np.where(total > 0, total, 1.0))


def _best(parts: FloatArray, totals: FloatArray, ratios: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return part and total of the way that is best for part - ratio * total, column by column."""
    part, total = parts[-1], totals[-1]
    cells = np.arange(part.size).reshape(part.shape)
    for level in reversed(range(len(parts) - 1)):
        leading = _leading(part - ratios * total, cells)
        part, total = parts[level] + part.take(leading), totals[level] + total.take(leading)
    best = (part - ratios * total).argmax(axis=0) * part.shape[1] + cells[0]
    return part.take(best), total.take(best)


def _leading(worth: FloatArray, cells: IntArray) -> IntArray:
    """Return, for each (count, column) cell, the number of the first above it, or it, that is worth most."""
    highest = np.maximum.accumulate(worth, axis=0)
    first = cells.copy()
    first[1:][highest[1:] == highest[:-1]] = 0
    return np.maximum.accumulate(first, axis=0)


Total = Callable[[FloatArray, Parameter], FloatArray]
"""(documents with at least a grade, parameter) → what their gain is divided by."""


def per_relevant(documents: FloatArray, _: Parameter) -> FloatArray:
    """Return R: what a measure over all relevant documents is divided by."""
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
        ends = _Ends(holes, weight, k, total, levels, steps[:, None])
        last, first = _stretches(holes, weight, k, levels)
        return ends.smallest(*last), ends.largest(*first)

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

    def n_documents(self, holes: Holes) -> IntArray:
        """Return (n_lists,) how many there are."""
        return np.bincount(self.lists, self.lengths, holes.n_lists).astype(np.int64)

    def weights(self, holes: Holes, weight: Weight, k: Parameter) -> FloatArray:
        """Return (n_levels, n_lists) what all documents weigh."""
        limit = weight.depth(k)
        ends = np.minimum(self.tops + self.lengths, limit)
        return _per_list(holes, self.lists, weight.span(np.minimum(self.tops, limit), ends, k))

    def is_low(self, judged: FloatArray) -> BoolArray:
        """Return (n_lists,) whether some document stands lower than its number among those of its level."""
        is_low = (self.tops - self.n_above > judged.take(self.lists, axis=1)).any(axis=0) & (self.lengths > 0)
        return np.bincount(self.lists[is_low], minlength=judged.shape[1]) > 0

    def documents(self, is_taken: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the list, and (n_levels, n) places above, of each document of some lists."""
        taken = np.flatnonzero(is_taken.take(self.lists))
        lengths = self.lengths.take(taken)
        stretch = np.repeat(taken, lengths)
        number = np.arange(len(stretch)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.lists.take(stretch), self.tops.take(stretch, axis=1) + number


class _Divisors(NamedTuple):
    """What the gain of each level is divided by.

    Attributes:
        by_count: (n_counts,) where so many documents have the grade: none, one, ...
        judged: (n_levels, n_lists) documents that have it before unjudged ones that may weigh something do.
        none: (n_levels, n_lists) divisors with none of these.
        every: (n_levels, n_lists) divisors with all of these.
    """

    by_count: FloatArray
    judged: IntArray
    none: FloatArray
    every: FloatArray

    @property
    def grow(self) -> BoolArray:
        """(n_lists,) whether unjudged documents raise a divisor."""
        return np.asarray((self.every > self.none).any(axis=0))

    def of(self, table: HoleTable) -> FloatArray:
        """Return (n_levels, n_counts, n_columns) divisors as documents become relevant, one after the other."""
        return self.by_count.take(self.judged[:, None, table.lists] + table.counts)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The two ends of a measure; `weighted_bounds` says why they are what is computed here.

    Attributes:
        holes: the lists.
        weight: what each place weighs.
        k: cut-off, or the parameter of the weight.
        total: what the gain of a level is divided by; None: nothing.
        levels: which levels of grades count.
        steps: (n_levels, 1) what each adds to the gain of the level below.
    """

    holes: Holes
    weight: Weight
    k: Parameter
    total: Total | None
    levels: slice
    steps: FloatArray

    def smallest(self, weights: FloatArray, stretches: _Stretches) -> FloatArray:
        """Return the (n_lists,) smallest: documents become relevant from below, with the highest grade."""
        gains: FloatArray = (weights * self.steps).sum(axis=0)
        if self.total is None:
            return gains
        n_weighty = stretches.n_documents(self.holes)
        judged = self.holes.judged[self.levels] + (self.holes.n_open - n_weighty)
        divisors = self._divisors(self.total, judged, n_weighty)
        values = ratio(gains, (divisors.none * self.steps).sum(axis=0))
        is_open = divisors.grow & (gains > 0)
        owner, added = self._added(stretches, is_open)
        increments = added.sum(axis=0)
        for table in self.holes.tables(owner, is_open, from_below=True):
            totals = (divisors.of(table) * self.steps[..., None]).sum(axis=0)
            values[table.lists] = extreme_ratio(table.running(gains, increments), totals, -1)
        return values

    def largest(self, weights: FloatArray, stretches: _Stretches) -> FloatArray:
        """Return the (n_lists,) largest values: documents become relevant from the top, each with any grade."""
        start = weights * self.steps
        gains: FloatArray = (start + stretches.weights(self.holes, self.weight, self.k) * self.steps).sum(
            axis=0
        )
        if self.total is None:
            return gains + self._residual()
        judged = self.holes.judged[self.levels]
        divisors = self._divisors(self.total, judged, stretches.n_documents(self.holes))
        values = ratio(gains, (divisors.every * self.steps).sum(axis=0))
        is_open = divisors.grow & stretches.is_low(np.where(judged < self.weight.depth(self.k), judged, np.inf))
        owner, added = self._added(stretches, is_open)
        for table in self.holes.tables(owner, is_open):
            totals = divisors.of(table) * self.steps[..., None]
            values[table.lists] = largest_ratio(table.running(start, added), totals)
        return values

    def _divisors(self, total: Total, judged: IntArray, n_weighty: IntArray) -> _Divisors:
        """Return the divisors from so many documents of each level on, to (n_lists,) so many more."""
        n_most = judged + n_weighty
        by_count = total(np.arange(int(n_most.max(initial=0)) + 1.0), self.k)
        return _Divisors(by_count, judged, by_count.take(judged), by_count.take(n_most))

    def _added(self, stretches: _Stretches, is_open: BoolArray) -> tuple[IntArray, FloatArray]:
        """List of each unjudged document of open lists, and (n_levels, n) what its grades add to the gain."""
        owner, places = stretches.documents(is_open)
        return owner, self.weight.singly(places, self.k) * self.steps

    def _residual(self) -> FloatArray | float:
        """Return what lists that are cut add to an endless weight: all places past their end."""
        if not (self.holes.is_cut and self.weight.endless):
            return 0.0
        n_docs = self.holes.ranking.n_docs.astype(np.float64)
        return self.weight.span(n_docs, np.full_like(n_docs, np.inf), self.k)


def _stretches(
    holes: Holes, weight: Weight, k: Parameter, levels: slice
) -> Iterator[tuple[FloatArray, _Stretches]]:
    """Yield where relevant documents stand last in their tie, and then where they stand first."""
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
    """Return (n_levels, n_lists) each: what judged documents weigh last in their tie, and first in it.

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
    """Return (n_levels, n_lists) sums over what belongs to each list."""
    return np.stack([np.bincount(owner, level, minlength=holes.n_lists) for level in values]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shares:
    """What documents add to the values of the lists of a reranker, before they are divided by what is ideal.

    Attributes:
        best: (n_lists,) gain of judged documents, ties in their best order.
        worst: (n_lists,) the same, in their worst order.
        lists: (n_members,) list of each unjudged document that may weigh something.
        hashes: (n_members,) a number of each pair of query and document.
        top_shares: (n_members, n_levels) what each adds at most as its grade rises to a level.
        bottom_shares: (n_members, n_levels) what it adds at least.
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
        """Return (n_lists,) what each list is above that of another reranker at most; infinite if unknown.

        An unjudged document adds at most its share here, and takes away at least its share there, each as if no
        other one were relevant; it has the grade for which the two differ most. The divisor is the same for
        both lists: the smallest where the list may be above, the largest where it is below for certain.
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
    """Return what documents add to a measure of gains weighted by place.

    Args:
        weight: what each place weighs, less the lower it is.
        of_grade: gain of a grade; None: 1 for relevant documents.
        total: what the gain of a level is divided by, which grows with its documents; None: nothing.
    """

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
