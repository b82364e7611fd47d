"""Joint bounds of measures that look at the first relevant documents, or count documents or targets."""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.model import Bounds, Holes, Joint
from metrics.measures.holes.weighted import extreme_ratio, per_relevant, weighted_bounds
from metrics.measures.weights import Parameter, even
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import TieGroups, refine, treatment


def first_rank_bounds(value: Callable[[FloatArray], FloatArray]) -> Joint:
    """Return the bounds of a value that falls with the rank of the first relevant document, exactly.

    Largest where all unjudged documents are relevant, first in their tie; smallest where none is, and those
    that are known stand last.
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
    """Return the bounds of one over a rank that the first tie with a relevant document has by a rule, exactly.

    The rank falls with every relevant document more in the tie and grows with the share of the others of the
    list that stand in it. So it is lowest where the unjudged documents of the first tie that holds any are
    relevant and no other is; highest where those below the known tie are relevant and no other is.

    Args:
        rank_of: place in a tie, of its documents, its relevant ones and the irrelevant ones of the list.
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
    """Return the bounds of the mean, over all relevant documents, of what the tie of each is worth, exactly.

    Args:
        worth: (n_groups,) of a document in each tie, falling down the list; 0 where it is not listed.
    """

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
    """Return (n_cuts,) places within each cut-off, of stretches that begin after `start`, in falling groups."""
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

    Where documents share targets the bounds are proven and not always reached: above, the best order of what is
    known and as many unjudged documents as fit in the top k, each for a target more; below, the worst order,
    and, for the share, every unjudged document a target more that the top k lacks.

    Args:
        n_distinct: number of targets in the top k.
        n_targets: (n_lists,) targets of each query; None: the number is no share.
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
