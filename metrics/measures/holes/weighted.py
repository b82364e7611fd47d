"""Joint bounds of measures that add up gains by place."""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.ratios import extreme_ratio
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
    smallest has those that the list lacks, then those of the lowest groups, last in their tie.

    Args:
        weight: what each place weighs.
        of_grade: gain of a grade; None: 1 for relevant documents.
        total: what the gain of a level is divided by, which grows with its documents; None: nothing.
    """

    def joint(holes: Holes, k: Parameter) -> Bounds:
        limit = np.inf if k is None or weight.endless else k

        def span(top: IntArray, end: IntArray) -> FloatArray:
            return weight.span(np.minimum(top, limit), np.minimum(end, limit), k)

        levels = holes.relevant_level if of_grade is None else slice(None)
        steps = np.ones(1) if of_grade is None else np.diff(of_grade(np.append(0.0, holes.grades)))
        counts, judged = holes.counts[:, levels], holes.judged[:, levels].astype(np.float64)
        group, above, end = holes.group, holes.above[:, None], holes.end[:, None]
        best = _per_list(holes, span(np.broadcast_to(above, counts.shape), above + counts))
        worst = _per_list(holes, span(end - counts, np.broadcast_to(end, counts.shape)))
        upwards = (above + counts)[group] + holes.number[:, None]
        downwards = (end - counts)[group] - (holes.unjudged[group] - holes.number)[:, None]
        gained, least = span(upwards - 1, upwards), span(downwards - 1, downwards)
        if total is None:
            added = np.zeros_like(best)
            np.add.at(added, holes.lists[group], gained)
            return worst @ steps, (best + added) @ steps
        lowest, highest = np.zeros(holes.n_lists), np.zeros(holes.n_lists)
        for sign, start, increments, bound in ((1, best, gained, highest), (-1, worst, least, lowest)):
            for table in holes.tables(from_below=sign < 0):
                parts = table.running(start, increments)
                known = judged[table.lists] + (holes.unlisted[table.lists][:, None] if sign < 0 else 0)
                documents = known[:, None] + np.arange(parts.shape[1])[None, :, None]
                bound[table.lists] = extreme_ratio(
                    parts * steps, total(documents, k) * steps, table.is_count, sign
                )
        return lowest, highest

    return joint


def _per_list(holes: Holes, values: FloatArray) -> FloatArray:
    """(n_lists, n_levels) sums over the groups of each list."""
    return np.stack([holes.per_list(column) for column in values.T], axis=1)


def judged_bounds(holes: Holes, k: Parameter) -> Bounds:
    """Return the bounds of Judged@k: who was judged is known, so ties alone move it."""
    within = np.clip((k or 0) - holes.above, 0, holes.ranking.sizes)
    judged = holes.ranking.sizes - holes.unjudged
    fewest = holes.per_list(np.maximum(within - holes.unjudged, 0))
    return fewest / (k or 1), holes.per_list(np.minimum(within, judged)) / (k or 1)


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
        known, unlisted, listed = (int(n[place]) for n in (holes.n_relevant, holes.unlisted, holes.n_unjudged))
        added = np.arange(listed + unlisted + 1)
        cut = known + added
        sizes = holes.ranking.sizes[groups]
        fit, fit_all, left, left_all = (
            _over_cuts(holes.above[groups] + offset, length, cut)
            for offset, length in (
                (0, holes.relevant[groups]),
                (0, all_relevant[groups]),
                (sizes - holes.relevant[groups], holes.relevant[groups]),
                (sizes - all_relevant[groups], all_relevant[groups]),
            )
        )
        most = np.minimum(fit + added, fit_all)
        fewest = np.maximum(left, left_all - (listed + unlisted - added))
        ratios = np.stack([fewest, most]) / np.maximum(cut, 1)
        lowest[place], highest[place] = ratios[0].min(), ratios[1].max()
    return lowest, highest


def _over_cuts(start: IntArray, length: IntArray, cut: IntArray) -> IntArray:
    """(n_cuts,) places within each cut-off, of stretches that begin after `start`, in falling groups."""
    ends = start + length
    whole = np.searchsorted(ends, cut, side="right")
    upto = np.append(0, np.cumsum(length))
    partial = np.minimum(whole, len(length) - 1) if len(length) else whole
    rest = np.where(whole < len(length), np.maximum(cut - start[partial], 0), 0) if len(length) else 0
    return np.asarray(upto[whole] + rest)
