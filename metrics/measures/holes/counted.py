"""Joint bounds of measures that count documents of the first places: Judged@k and R-precision."""

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.weighted import Bounds, Parameter
from metrics.support.arrays import IntArray


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
