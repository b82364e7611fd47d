"""Where each reranker finishes when every tie is broken at random."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtri

from metrics.studies.tie_breaking.mean_distribution import MeanDistribution, level
from metrics.support.arrays import FloatArray

_CELLS = 2**22
"""Chances computed for the places of one reranker, in all."""
_NODES = 2**8, 2**14
"""Fewest and most values at which a normal mean is looked at."""
_NOTHING = 1e-17
"""Chance of a mean below which it is passed over."""


def rank_distribution(lucks: Mapping[str, MeanDistribution]) -> pd.DataFrame:
    """Chance of each reranker to finish at each place.

    A place is 1 + the number of rerankers whose mean is strictly above, so equal means share the better
    one. Given its own mean, others are above or not independently of each other: their number is
    Poisson-binomial. Summed over the means it can take: all of them, or those drawn; a normal one at the
    middles of strips of equal chance, 16,384 or as many as a large leaderboard leaves time for.

    Args:
        lucks: as `mean_distributions` returns them.

    Returns:
        index reranker, columns 1, 2, ... n; each row sums to 1.
    """
    them = list(lucks.values())
    table = np.zeros((len(them), len(them)))
    for row, one in enumerate(them):
        above, open_ = 0, []
        for other in them[:row] + them[row + 1 :]:
            if other.worst > one.best + level(np.array(one.best)):
                above += 1
            elif other.best > one.worst + level(np.array(one.worst)):
                open_.append(other)
        found = _number_above(one, open_)
        table[row, above : above + len(found)] = found
    index = pd.Index(list(lucks), name="reranker", dtype="str")
    return pd.DataFrame(table, index=index, columns=pd.RangeIndex(1, len(them) + 1))


def _number_above(one: MeanDistribution, others: list[MeanDistribution]) -> FloatArray:
    """(n_others + 1,) chance that 0, 1, 2, ... of the others are strictly above."""
    if not others:
        return np.ones(1)
    means, chances = _means(one, len(others))
    number = np.zeros((len(others) + 1, len(means)))
    number[0] = 1
    for at, other in enumerate(others):
        higher = 1 - other.not_above(means)
        number[1 : at + 2] += higher * (number[: at + 1] - number[1 : at + 2])
        number[0] *= 1 - higher
    return np.asarray(number @ chances)


def _means(one: MeanDistribution, others: int) -> tuple[FloatArray, FloatArray]:
    """Means of one reranker and their chances, which sum to 1."""
    if one.method == "normal":
        nodes = int(np.clip(_CELLS // others**2, *_NODES))
        means = one.mean + one.std * ndtri((np.arange(nodes) + 0.5) / nodes)
        return np.clip(means, one.worst, one.best), np.full(nodes, 1 / nodes)
    kept = one.chances > _NOTHING
    return one.means[kept], one.chances[kept] / one.chances[kept].sum()
