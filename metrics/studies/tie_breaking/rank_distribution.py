"""Where each reranker finishes when every tie is broken at random."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.studies.tie_breaking.mean_distributions import METHODS, MeanDistribution, equality_margin
from metrics.support.arrays import FloatArray

_CELLS = 2**22
"""Chances computed for the places of one reranker, in all."""
_NODES = 2**6, 2**14
"""Fewest and most values at which a mean is looked at that is not exact."""
_NOTHING = 1e-17
"""Chance of a mean below which it is passed over."""


class RankDistribution(NamedTuple):
    """Where each reranker finishes.

    Attributes:
        chances: index reranker, columns 1, 2, ... n: the chance of each place; each row sums to 1.
        errors: the standard error of each; 0 unless sampled.
        methods: by reranker, the coarsest method of its mean and of those that it can change places with.
    """

    chances: pd.DataFrame
    errors: pd.DataFrame
    methods: "pd.Series[str]"


def rank_distribution(distributions: Mapping[str, MeanDistribution]) -> RankDistribution:
    """Return the chance of each reranker of `mean_distributions` to finish at each place.

    A place is 1 + the number of rerankers whose mean is strictly above, so equal means share the better
    one. Given its own mean, others are above or not independently of each other: their number is
    Poisson-binomial. Summed over the means it can take: all of them, or, on a grid, as many equally
    likely ones as a large leaderboard leaves time for.
    """
    ordered = list(distributions.values())
    index = pd.Index(list(distributions), name="reranker", dtype="str")
    tables, methods = np.zeros((2, len(ordered), len(ordered))), []
    for row, distribution in enumerate(ordered):
        above, rivals = 0, []
        for other in ordered[:row] + ordered[row + 1 :]:
            if other.worst > distribution.best + equality_margin(np.array(distribution.best)):
                above += 1
            elif other.best > distribution.worst + equality_margin(np.array(distribution.worst)):
                rivals.append(other)
        numbers = _number_above(distribution, rivals)
        tables[0, row, above : above + len(numbers)] = numbers
        if rivals:
            tables[1, row] = np.sqrt(distribution.error**2 + sum(other.error**2 for other in rivals))
        coarsest = max((each.method for each in (distribution, *rivals)), key=METHODS.index)
        methods.append(coarsest if rivals else "exact")
    places = pd.RangeIndex(1, len(ordered) + 1)
    chances, errors = (pd.DataFrame(table, index=index, columns=places) for table in tables)
    return RankDistribution(chances, errors, pd.Series(methods, index=index, dtype="str"))


def _number_above(distribution: MeanDistribution, rivals: list[MeanDistribution]) -> FloatArray:
    """Return (n_others + 1,) the chance of 0, 1, 2, ... rivals strictly above."""
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
    """Return the means of one reranker and their chances, which sum to 1."""
    nodes = int(np.clip(_CELLS // n_rivals**2, *_NODES))
    if distribution.method != "exact" and len(distribution.means) > nodes:
        return equal_nodes(distribution.means, distribution.chances, nodes, 0.5), np.full(nodes, 1 / nodes)
    possible = distribution.chances > _NOTHING
    return distribution.means[possible], distribution.chances[possible] / distribution.chances[possible].sum()


def equal_nodes(values: FloatArray, chances: FloatArray, n: int, offset: float) -> FloatArray:
    """Return (n,) values, each as often as its chance says.

    Args:
        values: what can come.
        chances: of each.
        n: how many to return.
        offset: from 0 to 1, decides where a chance of n is no whole number.

    Source: systematic sampling; Madow & Madow, Annals of Mathematical Statistics 1944.
    """
    ends = np.cumsum(chances)
    upto = np.floor(ends * (n / ends[-1]) + offset).astype(np.int64)
    upto[-1] = n
    return np.repeat(values, np.diff(np.minimum(upto, n), prepend=0))
