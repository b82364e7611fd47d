"""Joint bounds of distinct targets: an unjudged document may satisfy one of its own, or one that is known."""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.weighted import Bounds, Joint, Parameter, per_relevant, weighted_bounds
from metrics.measures.weights import even
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import TieGroups, refine, treatment

Formula = Callable[[TieGroups, Parameter], FloatArray]


def distinct_bounds(n_distinct: Formula, n_targets: Callable[[TieGroups], IntArray] | None = None) -> Joint:
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
