"""Joint bounds of inferred average precision."""

from collections.abc import Callable

import numpy as np

from metrics.measures.holes.average_precision import average_precision_bounds
from metrics.measures.holes.model import Holes
from metrics.measures.holes.weighted import Bounds, Joint, Parameter
from metrics.support.arrays import FloatArray
from metrics.ties import TieGroups, refine, treatment
from metrics.ties.extremes.pools import EPSILON


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
