"""Weights of ranks, and measures that add up gains by rank."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

Parameter = float | None
"""Cut-off of a measure, or its other parameter, or None."""


@dataclass(frozen=True)
class Weight:
    """Weights of ranks 1, 2, ...

    Attributes:
        each: (ranks, parameter) → weight of each rank.
        span: (tops, ends, parameter) → sum of the weights of ranks top + 1 to end; whole numbers, any shape.
        endless: true if the parameter belongs to the weight; no cut-off applies.
    """

    each: Callable[[FloatArray, Parameter], FloatArray]
    span: Callable[[FloatArray, FloatArray, Parameter], FloatArray]
    endless: bool = False

    def spread(self, top: IntArray, end: IntArray, size: IntArray, k: Parameter) -> FloatArray:
        """Return the (n_groups,) sum of (w - mean w)^2 over the ranks of groups; past `end` they weigh 0."""
        start = np.cumsum(end - top) - (end - top)
        owner = np.repeat(np.arange(len(size)), end - top)
        place = np.arange(len(owner)) - start[owner] + top[owner]
        each = self.each(place + 1.0, k)
        mean_weight = np.bincount(owner, each, minlength=len(size)) / size
        within = np.bincount(owner, (each - mean_weight[owner]) ** 2, minlength=len(size))
        return np.asarray(within + (size - (end - top)) * mean_weight**2)


def _logarithmic_span(tops: FloatArray, ends: FloatArray, _: Parameter) -> FloatArray:
    upto = _discounts(_power(ends))
    return np.asarray(upto.take(ends.astype(np.int64)) - upto.take(tops.astype(np.int64)))


def _persistent(places: FloatArray, p: Parameter) -> FloatArray:
    share = p or 0.0
    return np.asarray((1 - share) * share ** (places - 1))


def _persistent_span(tops: FloatArray, ends: FloatArray, p: Parameter) -> FloatArray:
    share = p or 0.0
    return np.asarray(-(share**tops) * np.expm1((ends - tops) * np.log(share)))


even = Weight(lambda places, _: np.ones(len(places)), lambda tops, ends, _: ends - tops)
"""Every place weighs 1."""
logarithmic = Weight(lambda places, _: 1 / np.log2(places + 1), _logarithmic_span)
"""1 / log2(place + 1)."""
persistent = Weight(_persistent, _persistent_span, endless=True)
"""(1 - p) * p^(place - 1)."""


def harmonic_span(tops: IntArray, ends: IntArray) -> FloatArray:
    """Return 1/(top + 1) + ... + 1/end: a difference of harmonic numbers."""
    upto = _harmonics(_power(ends))
    return np.where(ends - tops == 1, 1 / np.maximum(ends, 1), upto.take(ends) - upto.take(tops))


def _power(places: FloatArray | IntArray) -> int:
    """Return the power of two that is not below any rank, so that few tables are computed."""
    return 1 << max(int(places.max(initial=1)) - 1, 0).bit_length()


@lru_cache(maxsize=1)
def _discounts(depth: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2.0, depth + 2)))])


@lru_cache(maxsize=1)
def _harmonics(depth: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, depth + 1))])
