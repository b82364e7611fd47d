"""Where each reranker finishes when every tie is broken at random."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtri

from metrics.studies.tie_breaking.mean_distribution import MeanDistribution, equality_margin
from metrics.support.arrays import FloatArray

_CELLS = 2**22
"""Chances computed for the places of one reranker, in all."""
_NODES = 2**8, 2**14
"""Fewest and most values at which a normal mean is looked at."""
_NOTHING = 1e-17
"""Chance of a mean below which it is passed over."""


def rank_distribution(distributions: Mapping[str, MeanDistribution]) -> pd.DataFrame:
    """Chance of each reranker to finish at each place.

    A place is 1 + the number of rerankers whose mean is strictly above, so equal means share the better
    one. Given its own mean, others are above or not independently of each other: their number is
    Poisson-binomial. Summed over the means it can take: all of them, or those drawn; a normal one at the
    middles of strips of equal chance, 16,384 or as many as a large leaderboard leaves time for.

    Args:
        distributions: as `mean_distributions` returns them.

    Returns:
        index reranker, columns 1, 2, ... n; each row sums to 1.
    """
    ordered = list(distributions.values())
    table = np.zeros((len(ordered), len(ordered)))
    for row, distribution in enumerate(ordered):
        above, rivals = 0, []
        for other in ordered[:row] + ordered[row + 1 :]:
            if other.worst > distribution.best + equality_margin(np.array(distribution.best)):
                above += 1
            elif other.best > distribution.worst + equality_margin(np.array(distribution.worst)):
                rivals.append(other)
        chances = _number_above(distribution, rivals)
        table[row, above : above + len(chances)] = chances
    index = pd.Index(list(distributions), name="reranker", dtype="str")
    return pd.DataFrame(table, index=index, columns=pd.RangeIndex(1, len(ordered) + 1))


def _number_above(distribution: MeanDistribution, rivals: list[MeanDistribution]) -> FloatArray:
    """(n_others + 1,) chance that 0, 1, 2, ... of the others are strictly above."""
    if not rivals:
        return np.ones(1)
    means, chances = _means_and_chances(distribution, len(rivals))
    number = np.zeros((len(rivals) + 1, len(means)))
    number[0] = 1
    for n_before, other in enumerate(rivals):
        higher = 1 - other.not_above(means)
        number[1 : n_before + 2] += higher * (number[: n_before + 1] - number[1 : n_before + 2])
        number[0] *= 1 - higher
    return np.asarray(number @ chances)


def _means_and_chances(distribution: MeanDistribution, n_rivals: int) -> tuple[FloatArray, FloatArray]:
    """Means of one reranker and their chances, which sum to 1."""
    if distribution.method == "normal":
        nodes = int(np.clip(_CELLS // n_rivals**2, *_NODES))
        means = distribution.mean + distribution.std * ndtri((np.arange(nodes) + 0.5) / nodes)
        return np.clip(means, distribution.worst, distribution.best), np.full(nodes, 1 / nodes)
    possible = distribution.chances > _NOTHING
    return distribution.means[possible], distribution.chances[possible] / distribution.chances[possible].sum()
