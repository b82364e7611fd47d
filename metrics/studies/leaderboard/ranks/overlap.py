"""Rank-biased overlap of two rankings with ties."""

from typing import Literal

import numpy as np

from metrics.studies.leaderboard.ranks.tie_orders import RankingPair
from metrics.support.arrays import FloatArray, IntArray

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
    shares = [prefix_shares(*_tie_places(scores), pair.depth, variant) for scores in (pair.first, pair.second)]
    common, sizes = agreement_parts(np.stack(shares), variant)
    depths = np.full(common.shape[1:], pair.depth)
    return float(extrapolated(common / sizes, depths, persistence)[0, 1])


def prefix_shares(above: IntArray, sizes: IntArray, depth: int, variant: Variant) -> FloatArray:
    """Return (depth, n_items) the chance of each item to be within each depth, 0 or 1 of a whole tie.

    Args:
        above: (n_items,) items above its tie.
        sizes: (n_items,) items of its tie; 0 where it is not ranked.
        depth: the deepest.
        variant: whether all of a tie counts where its first place is within it, as `w` has it.
    """
    within = np.clip(np.arange(1, depth + 1)[:, None] - above, 0, sizes)
    return np.asarray((within > 0).astype(float) if variant == "w" else within / np.maximum(1, sizes))


def agreement_parts(shares: FloatArray, variant: Variant) -> tuple[FloatArray, FloatArray]:
    """Return (depth, k, k) what two of k rankings' `prefix_shares` have in common, and what divides it."""
    by_depth = shares.transpose(1, 0, 2)
    common = by_depth @ by_depth.transpose(0, 2, 1)
    if variant == "a":
        depths = np.arange(1.0, len(common) + 1)[:, None, None]
        return common, np.broadcast_to(depths, common.shape)
    own = np.diagonal(common, axis1=1, axis2=2)
    pairs = own[:, :, None], own[:, None, :]
    return common, (pairs[0] + pairs[1]) / 2 if variant == "w" else np.sqrt(pairs[0] * pairs[1])


def extrapolated(agreement: FloatArray, depths: IntArray, persistence: float) -> FloatArray:
    """Return (k, k) the overlap of each two rankings: below their depth they agree as at it.

    Args:
        agreement: (depth, k, k).
        depths: (k, k) how deep each two are known, from 1 on.
        persistence: chance to go on to the next place.
    """
    places = np.arange(len(agreement))[:, None, None]
    weights = np.where(places < depths, (1 - persistence) * persistence**places, 0.0)
    last: FloatArray = np.take_along_axis(agreement, depths[None] - 1, axis=0)[0]
    total: FloatArray = (weights * agreement).sum(axis=0) + last * persistence**depths
    return total


def _tie_places(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return (n_items,) items above the tie of each, and items of its tie; 0 where its score is -inf."""
    ordered = np.sort(-scores)
    above = np.searchsorted(ordered, -scores, "left")
    return above, np.where(np.isfinite(scores), np.searchsorted(ordered, -scores, "right") - above, 0)
