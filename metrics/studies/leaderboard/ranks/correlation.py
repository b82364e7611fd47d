"""Kendall's τ and AP correlation of two rankings with ties."""

import numpy as np
from scipy.stats import kendalltau

from metrics.studies.leaderboard.ranks.tie_orders import RankingPair


def tau_b(pair: RankingPair) -> float:
    """Return Kendall's τ_b: 1 where both have the same order and the same ties; NaN where one ties all.

    Source: Kendall, Biometrika 33, 1945.
    """
    return float(kendalltau(pair.first, pair.second, variant="b").statistic)


def tau(pair: RankingPair) -> float:
    """Return the mean of Kendall's τ over all orders that the ties allow.

    τ = (C - D) / (n (n - 1) / 2), C pairs in the same and D in opposite order: a pair that either ties is in
    the same order as often as not, and counts 0. NaN for a single item.

    Source: Kendall, Biometrika 33, 1945 (there τ_a).
    """
    signs = np.sign(np.subtract.outer(pair.first, pair.first)) * np.sign(
        np.subtract.outer(pair.second, pair.second)
    )
    n = len(pair.first)
    return float(signs.sum() / (n * (n - 1))) if n > 1 else np.nan


def tau_ap(pair: RankingPair) -> float:
    """Return the mean of the AP correlation of the second ranking with the first over all orders of ties.

    τ_AP = 2 / (n - 1) * sum over places i ≥ 2 of C(i) / (i - 1) - 1, C(i) the items above place i of the second
    that the first puts above it too. An item of a tie of t documents below b others stands at each of its t
    places alike; j of the others are above it then, any of them alike; a pair that the first ties is right as
    often as not. NaN for a single item.

    Args:
        pair: the ranking that is taken for the truth, and the one that is judged, whose top weighs most.

    Source: Yilmaz, Aslam & Robertson, SIGIR 2008; ties: Urbano & Marrero, ICTIR 2017.
    """
    n = len(pair.first)
    if n == 1:
        return np.nan
    right = (np.sign(np.subtract.outer(pair.first, pair.first)) + 1) / 2  # [above, item]
    is_above = np.greater.outer(pair.second, pair.second)
    is_tied = np.equal.outer(pair.second, pair.second) & ~np.eye(n, dtype=bool)
    n_above, n_tied = is_above.sum(0), is_tied.sum(0)
    right_above, right_tied = (right * is_above).sum(0), (right * is_tied).sum(0)
    share = np.divide(right_tied, n_tied, out=np.zeros(n), where=n_tied > 0)
    # With m items above, m - b of them tied, the share that is right is (right_above + share (m - b)) / m.
    inverse = np.concatenate([[0, 0], np.cumsum(1 / np.arange(1, n))])  # sums of 1 / m over 0 < m < i
    low, high = n_above, n_above + n_tied + 1
    places = (high - 1) - np.maximum(low - 1, 0)  # the first place has nothing above it, and does not count
    terms = (right_above - share * n_above) * (inverse[high] - inverse[low]) + share * places
    return float(2 / (n - 1) * (terms / (n_tied + 1)).sum() - 1)
