"""Sums of lists drawn at random, in batches: how far these differ says how far their mean may be off."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from metrics.studies.tie_breaking.convolution import MAX_VALUES, common_step
from metrics.support.arrays import FloatArray

BATCHES = 16
"""Independent estimates that are averaged; their standard deviation over 4 is the standard error."""
_NODES = 2**12
"""Equally likely values that stand for a list in each batch."""
_MAX_DRAWS, _MIN_DRAWS = 2**13, 2**11
"""Sums drawn in one batch."""
_WORK = 2**22
"""List values added up in one batch, which decide how many sums are drawn of many lists."""
_SUMS = 2**10
"""Equally likely sums that stand for all those of a batch."""
_SECOND, _THIRD, _FIFTH = 0.3990, 0.5506, 2.3072
"""Largest |He(z) φ(z)| of the Hermite polynomials of degree 2, 3 and 5."""


class ListSample(NamedTuple):
    """What some lists of one kind can score: all of it, or what was drawn in each batch.

    Attributes:
        times: how many lists there are.
        values: (1, n) or (BATCHES, n) values, less any constant.
        chances: the chance of each; a row sums to 1.
    """

    times: int
    values: FloatArray
    chances: FloatArray


def calibrated_chances(values: FloatArray, mean: float) -> FloatArray:
    """Return the chances of drawn values by which each row has the mean that is known exactly.

    A row of n values v is weighted by w = (1 + (mean - v̄)(v - v̄) / s²) / n, never below 0: errors of the
    draws that go along with the mean are taken out, and no value is moved.

    Args:
        values: (n_batches, n) drawn values.
        mean: their expectation.

    Source: Deville & Särndal, Calibration estimators in survey sampling, JASA 1992.
    """
    largest = np.abs(values).max(initial=0) or 1.0
    centre = values.mean(axis=1, keepdims=True)
    apart, missing = (values - centre) / largest, (mean - centre) / largest
    variance = (apart**2).mean(axis=1, keepdims=True)
    varies = np.ptp(values, axis=1, keepdims=True) > 0  # where it does not, the variance is rounding
    slope = np.divide(missing, variance, out=np.zeros_like(variance), where=varies)
    weights = np.maximum(1 + slope * apart, 0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


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


def skewness_and_kurtosis(samples: Sequence[ListSample]) -> tuple[float, float]:
    """Return skewness and excess kurtosis of the sum over all lists; infinity where all draws agree."""
    largest = max(float(sample.values.max()) for sample in samples) or 1.0
    totals = np.zeros(3)
    for times, values, chances in samples:
        apart = (values - (values * chances).sum(axis=1, keepdims=True)) / largest
        spread = chances * apart * apart / len(values)
        square, cube, fourth = spread.sum(), (spread * apart).sum(), (spread * apart * apart).sum()
        totals += times * np.array([square, cube, fourth - 3 * square**2])
    variance, third, fourth = totals.tolist()
    if not variance:
        return inf, inf
    return third / variance**1.5, fourth / variance**2


def normal_error(skewness: float, kurtosis: float) -> float:
    """Return how far a normal curve may be from the chances of a sum, by the terms that follow it.

    |s| max|He2 φ| / 6 + |κ| max|He3 φ| / 24 + s² max|He5 φ| / 72, with skewness s and excess kurtosis κ.

    Source: the Edgeworth expansion; Hall, The bootstrap and Edgeworth expansion, 1992, section 2.
    """
    return abs(skewness) * _SECOND / 6 + abs(kurtosis) * _THIRD / 24 + skewness**2 * _FIFTH / 72


def has_few_values(samples: Sequence[ListSample]) -> bool:
    """Return whether sums are multiples of one step, few enough that two of them are often equal."""
    span = sum(sample.times * float(sample.values.max()) for sample in samples)
    values = np.concatenate([sample.values.ravel() for sample in samples])
    return common_step(values, span / MAX_VALUES) is not None


def sample_sums(samples: Sequence[ListSample], generator: np.random.Generator) -> FloatArray:
    """Draw (BATCHES, n) sums of what all lists can score, every list on its own."""
    n_lists = sum(sample.times for sample in samples)
    sums = np.zeros((BATCHES, int(np.clip(_WORK // n_lists, _MIN_DRAWS, _MAX_DRAWS))))
    n_draws = sums.shape[1]
    for times, values, chances in samples:
        for batch in range(BATCHES):
            row = batch % len(values)
            nodes = equal_nodes(values[row], chances[row], _NODES, generator.random())
            for _ in range(times):
                sums[batch] += nodes[generator.integers(0, _NODES, n_draws, dtype=np.uint16)]
    return sums


def batch_error(estimates: FloatArray) -> FloatArray:
    """Return the standard error of the mean of (BATCHES, ...) estimates of chances.

    Never below the chance of one sum of all that stand for the batches: rarer ones are not seen.
    """
    return np.asarray(np.maximum(np.std(estimates, axis=0, ddof=1) / BATCHES**0.5, 1 / (BATCHES * _SUMS)))


def thinned(values: FloatArray, chances: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return equally likely values, rising, that stand for many with chances of their own.

    Args:
        values: what can come.
        chances: of each.
        generator: what decides the fractions.
    """
    order = np.argsort(values)
    return equal_nodes(values[order], chances[order], min(_SUMS, len(values)), generator.random())
