"""Joint bounds of measures that look at the first relevant documents, or at each tie by a rule of its own."""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.ratios import extreme_ratio
from metrics.support.arrays import FloatArray, IntArray

Parameter = float | None
Bounds = tuple[FloatArray, FloatArray]


def first_rank_bounds(value: Callable[[FloatArray], FloatArray]) -> Callable[[Holes, Parameter], Bounds]:
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
) -> Callable[[Holes, Parameter], Bounds]:
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
) -> Callable[[Holes, Parameter], Bounds]:
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
