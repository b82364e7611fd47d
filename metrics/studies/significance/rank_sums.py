"""Exact chances of sums of ranks, ties and all: of ranks whose signs are flipped, and of some of all ranks.

scipy gives exact chances without ties only, else those of a normal distribution: below what the data allow
where values are few (.5, .5, .5 against 1, 1, 1: .047, though 2 of 20 splits are as far apart: .1).
Mid-ranks are multiples of one half, so the chances of all sums come from adding one rank after the other.
"""

from math import comb

import numpy as np

from metrics.errors import needs
from metrics.support.arrays import FloatArray, IntArray

with needs("stats"):
    from scipy.special import ndtr

MAX_CELLS = 2**24
"""Numbers added up to which chances are exact: 50 values a side, or 250 differences (some 10 ms). Beyond, they
are those of a normal distribution, a p below 0.1 within 0.01: farthest off where most values are 0."""
MAX_CHOICES = 1e300
"""Splits that can be counted in floats."""


def signed_rank_p(differences: FloatArray) -> float:
    """Return the chance that flipped signs take the rank sum of positive differences as far from its middle.

    Args:
        differences: (n,) none of them 0; equal sizes share their mean rank.

    Source: Wilcoxon, Biometrics Bulletin 1(6), 1945; Pratt & Gibbons, Concepts of Nonparametric Theory, 1981.
    """
    if not len(differences):
        return 1.0
    ranks = _doubled_ranks(np.abs(differences))
    step = int(np.gcd.reduce(ranks))
    ranks //= step
    total, positive = int(ranks.sum()), int(ranks[differences > 0].sum())
    reached = min(positive, total - positive)
    if len(ranks) * (reached + 1) > MAX_CELLS:
        return _normal_p(total / 2 - reached, float((ranks**2).sum() / 4))
    chances = np.zeros(reached + 1)
    chances[0] = 1.0
    for rank in ranks.tolist():
        chances[rank:] += chances[: max(0, len(chances) - rank)]
        chances /= 2
    return min(1.0, 2 * float(chances.sum()))


def rank_sum_p(ours: FloatArray, theirs: FloatArray) -> float:
    """Return the chance that a random split of all values has rank sums as far apart, twice the rarer side's.

    Source: Mann & Whitney, Annals of Mathematical Statistics 18(1), 1947; with ties: Lehmann, Nonparametrics,
    1975, section 1.4.
    """
    ranks = _doubled_ranks(np.concatenate([ours, theirs]))
    ranks -= ranks.min()
    ranks //= int(np.gcd.reduce(ranks)) or 1
    n, size = len(ranks), min(len(ours), len(theirs))
    smaller = ranks[: len(ours)] if size == len(ours) else ranks[len(ours) :]
    reached = int(smaller.sum())
    if n * reached > size * int(ranks.sum()):
        ranks, reached = ranks.max() - ranks, size * int(ranks.max()) - reached
    if n * (size + 1) * (reached + 1) > MAX_CELLS or comb(n, size) > MAX_CHOICES:
        variance = size * (n - size) / (n - 1) * float(ranks.var())
        return _normal_p(size * float(ranks.mean()) - reached, variance)
    counts = _choices(ranks, size, reached) / comb(n, size)
    below = float(counts[:-1].sum())
    return min(1.0, 2 * min(below + float(counts[-1]), 1 - below))


def _doubled_ranks(values: FloatArray) -> IntArray:
    """Return (n,) twice the rank of each value, from 1, equal values sharing their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: IntArray = (2 * np.cumsum(count) - count + 1)[place]
    return ranks


def _choices(ranks: IntArray, size: int, largest: int) -> FloatArray:
    """Return (largest + 1,) in how many ways so many of the ranks have each sum."""
    counts = np.zeros((size + 1, largest + 1))
    counts[0, 0] = 1.0
    for n_before, rank in enumerate(np.sort(ranks).tolist()):
        if rank > largest:
            break
        first, last = max(0, size - len(ranks) + n_before), min(n_before, size - 1)
        counts[first + 1 : last + 2, rank:] += counts[first : last + 1, : largest + 1 - rank]
    return np.asarray(counts[size])


def _normal_p(distance: float, variance: float) -> float:
    """Return the two-sided chance of a whole sum so far below its mean, half a step less (Yates 1934)."""
    return min(1.0, 2 * float(ndtr(-max(0.0, distance - 0.5) / np.sqrt(variance))))
