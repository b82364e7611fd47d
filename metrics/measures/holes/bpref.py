"""Joint bounds of binary preference."""

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.support.arrays import FloatArray, IntArray


def bpref_bounds(holes: Holes, _: float | None) -> tuple[FloatArray, FloatArray]:
    """Return bounds of binary preference, proven and not always reached.

    A judgment moves R, N and what stands above. With x documents more relevant, each document is given the
    best of all judgments for itself: above, none more that is not relevant above it, all others raise N, and
    the x stand highest. Below, all unjudged ones that may stand above it do and are not relevant, none else
    raises N, and the x are those that the list lacks, then the lowest. They hold for documents that stay
    unjudged, too.
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
    """Return the (n,) sum of max(0, 1 - (above + open_above)/min(N + open_above, R)) over the last documents.

    Args:
        above: (n_documents,) others above each, rising.
        open_above: (n_documents,) unjudged ones above each, rising.
        n_other: N.
        n_relevant: (n,) R.
        first: (n,) the first document that counts.
    """
    shares = np.where(n_other + open_above > 0, (n_other - above) / np.maximum(n_other + open_above, 1), 1.0)
    by_others = np.maximum(np.searchsorted(open_above, n_relevant - n_other, side="right"), first)
    by_relevant = np.maximum(np.searchsorted(above + open_above, n_relevant), by_others)
    upto_known, upto = np.append(0, np.cumsum(shares)), np.append(0, np.cumsum(above + open_above))
    capped = by_relevant - by_others - (upto[by_relevant] - upto[by_others]) / np.maximum(n_relevant, 1)
    return np.asarray(upto_known[by_others] - upto_known[first] + capped)
