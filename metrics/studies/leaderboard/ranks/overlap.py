"""Rank-biased overlap of two rankings with ties."""

from typing import Literal

import numpy as np

from metrics.studies.leaderboard.ranks.tie_orders import RankingPair
from metrics.support.arrays import FloatArray

Variant = Literal["w", "a", "b"]


def overlap(pair: RankingPair, persistence: float, variant: Variant) -> float:
    """Return the extrapolated rank-biased overlap, to the depth of the shorter ranking.

    RBO = (1 - p) / p * sum over d ≤ n of A(d) p^d + A(n) p^n, with p the persistence and A(d) the agreement at
    depth d; below the depth n of the shorter ranking it is taken to stay as it is there.

    Args:
        pair: the rankings; an item that one of them lacks agrees at no depth.
        persistence: chance to go on to the next place, above 0 and below 1: .9 gives the first ten 86 % of the
            weight where all agree.
        variant: what a tie means, and so A(d):
            `w`: items stand together at the first place of their tie. The prefixes hold all of a tie that
            begins within d: A = 2 |S ∩ L| / (|S| + |L|).
            `a`: nobody knows the order. An item of a tie of t items, j of whose places are within d, is in the
            prefix with the chance j / t: A = sum of c_S c_L / d, the mean over all orders of the ties.
            `b`: items are alike, and to tie the same ones is to agree: A = sum of c_S c_L / sqrt(sum of c_S² *
            sum of c_L²), 1 for a ranking and itself.

    Source: Webber, Moffat & Zobel, ACM TOIS 28, 2010; ties: Corsi & Urbano, SIGIR 2024.
    """
    n = pair.depth
    first, second = (_shares(scores, n, is_whole=variant == "w") for scores in (pair.first, pair.second))
    common = (first * second).sum(1)
    if variant == "w":
        sizes = (first.sum(1) + second.sum(1)) / 2
    elif variant == "a":
        sizes = np.arange(1.0, n + 1)
    else:
        sizes = np.sqrt((first**2).sum(1) * (second**2).sum(1))
    agreement = common / sizes
    weights = (1 - persistence) * persistence ** np.arange(n)
    return float(weights @ agreement + agreement[-1] * persistence**n)


def _shares(scores: FloatArray, depth: int, *, is_whole: bool) -> FloatArray:
    """Return (depth, n_items) the chance of each item to be within each depth.

    Args:
        scores: (n_items,) -inf for those that are not ranked.
        depth: the deepest.
        is_whole: whether all of a tie counts where its first place is within it.
    """
    ordered = np.sort(-scores)
    above = np.searchsorted(ordered, -scores, "left")
    size = np.searchsorted(ordered, -scores, "right") - above
    within = np.clip(np.arange(1, depth + 1)[:, None] - above, 0, size)
    shares = (within > 0).astype(float) if is_whole else within / size
    ranked: FloatArray = shares * np.isfinite(scores)
    return ranked
