"""The mean of one reranker as ties leave it: a number with a distribution."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr

from metrics.studies.tie_breaking.convolution import EQUAL_MEANS
from metrics.support.arrays import FloatArray
from metrics.support.cached import cached_property

Method = Literal["exact", "normal", "sampled"]
METHODS: tuple[Method, ...] = ("exact", "normal", "sampled")
"""Finest first."""


@dataclass(frozen=True, eq=False)
class MeanDistribution:
    """The mean of one reranker over its lists, in the measure's unit, each of their orderings equally likely.

    Attributes:
        method: how its distribution is known.
        mean: its expectation, exact.
        std: its standard deviation, exact.
        worst: the smallest mean any tie-breaking gives, exact.
        best: the largest.
        means: (n,) it can take, rising; such as were drawn where sampled, none where normal.
        chances: (n,) the chance of each.
        draws: how many were drawn, 0 where not sampled.
        batches: where sampled, the same from each part of the draws.
    """

    method: Method
    mean: float
    std: float
    worst: float
    best: float
    means: FloatArray
    chances: FloatArray
    draws: int = 0
    batches: tuple["MeanDistribution", ...] = ()

    def batch(self, number: int) -> "MeanDistribution":
        """Return what one part of the draws says; the whole where nothing was drawn."""
        return self.batches[number] if self.batches else self

    def below(self, values: FloatArray) -> FloatArray:
        """Return the (n,) chance that the mean is below each of some values; rounding is no difference."""
        lower = values - equality_margin(values)
        if self.method == "normal":
            return np.select([lower <= self.worst, lower > self.best], [0.0, 1.0], self._normal(values))
        return self._up_to[np.searchsorted(self.means, lower, side="left")]

    def not_above(self, values: FloatArray) -> FloatArray:
        """Return the (n,) chance that the mean is below or equal to each of some values."""
        upper = values + equality_margin(values)
        if self.method == "normal":
            return np.select([upper < self.worst, upper >= self.best], [0.0, 1.0], self._normal(values))
        return self._up_to[np.searchsorted(self.means, upper, side="right")]

    def _normal(self, values: FloatArray) -> FloatArray:
        return np.asarray(ndtr((values - self.mean) / self.std))

    @cached_property
    def _up_to(self) -> FloatArray:
        """(n + 1,) chance of all values before each, and of all."""
        sums = np.concatenate([[0.0], np.cumsum(self.chances)])
        return np.asarray(sums / sums[-1])


def equality_margin(means: FloatArray) -> FloatArray:
    """Return how far a mean may be from each of these to be called equal to it."""
    return np.asarray(EQUAL_MEANS * np.maximum(1.0, np.abs(means)))
