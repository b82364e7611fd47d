"""Compute the distribution of a sum of independent lists: exactly for few values, else on a grid."""

import math
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

MAX_VALUES = 2**14
"""Values of a sum up to which its distribution is exact."""
_REACH = 64
"""Standard deviations that a grid spans; at most 1 in 1,000 of all chances lies outside (Cantelli)."""
_GRID_STEPS = 2**12, 2**16
"""Fewest and most steps of a grid."""
_CELLS = 2**21
"""Chances of lists on a grid that are transformed at once."""
_NODES = 2**14
"""Equally likely values that represent a list whose sums are drawn."""
_NOTHING = 1e-13
"""Chance on a grid below which a value is left out."""
MAX_KINDS = 14
"""Kinds of lists without a common step up to which sums are exact: each at least doubles the values."""
EQUAL_MEANS = 1e-11
"""Distance within which means are equal; relative above 1."""
_ROUNDING = 1e-13
"""Distance within which sums of the same values in other orders agree; relative above 1."""
_WHOLE_TOLERANCE = 1e-9
"""Distance of a multiple of a step from a whole number, in steps.

Values are exact to a few parts in 10^16, and there are at most `MAX_VALUES` steps: rounding stays below 1e-11.
"""

Distribution = tuple[FloatArray, FloatArray]
"""(n,) values, rising, and the chance of each."""


@dataclass(frozen=True, eq=False)
class ListDistributions:
    """The distributions of list values; lists with the same distribution are one kind.

    Attributes:
        times: (n_kinds,) lists of each kind.
        kind: (n,) kind of each value, rising.
        rise: (n,) the value less the smallest of its kind.
        chance: (n,) its chance; chances of a kind sum to 1.
    """

    times: IntArray
    kind: IntArray
    rise: FloatArray
    chance: FloatArray

    @classmethod
    def of(cls, times: IntArray, kind: IntArray, value: FloatArray, chance: FloatArray) -> "ListDistributions":
        """Sort values by kind and subtract the smallest of each kind; every kind has a value."""
        order = np.argsort(kind, kind="stable")
        kind, value = kind[order], value[order]
        worst = np.minimum.reduceat(value, np.searchsorted(kind, np.arange(len(times))))
        return cls(times, kind, value - worst[kind], chance[order])

    @classmethod
    def joined(cls, kinds: "ListDistributions | None", lists: "list[Distribution]") -> "ListDistributions":
        """Return kinds, followed by lists with distributions of their own, less their smallest values."""
        first = kinds or cls(*np.zeros((2, 0), dtype=np.int64), *np.zeros((2, 0)))
        owner = np.repeat(np.arange(len(lists)), [len(values) for values, _ in lists])
        return cls(
            np.append(first.times, np.ones(len(lists), dtype=np.int64)),
            np.append(first.kind, len(first.times) + owner),
            np.concatenate([first.rise, *(values for values, _ in lists)]),
            np.concatenate([first.chance, *(chances for _, chances in lists)]),
        )

    def distributions(self) -> list[Distribution]:
        """Return values, less the smallest, and chances of each kind."""
        cuts = np.searchsorted(self.kind, np.arange(1, len(self.times)))
        return list(zip(np.split(self.rise, cuts), np.split(self.chance, cuts), strict=True))


def sum_distribution(kinds: ListDistributions) -> Distribution | None:
    """Return the distribution of the sum over all lists, less their smallest values; None for too many values.

    If all values are multiples of one step, by convolution on whole numbers. Else by adding values pairwise,
    for at most `MAX_VALUES` distinct sums: lists of one kind with p values each give C(times + p − 1, p − 1)
    sums.
    """
    if not kinds.rise.any():  # all draws agree
        return np.zeros(1), np.ones(1)
    if (distribution := _sum_on_grid(kinds)) is not None:
        return distribution
    if len(kinds.times) > MAX_KINDS:
        return None
    parts, times = [merge_equal(*part) for part in kinds.distributions()], kinds.times.tolist()
    sums = [math.comb(often + len(part[0]) - 1, often) for part, often in zip(parts, times, strict=True)]
    if math.prod(sums) > MAX_VALUES:
        return None
    powers = [_repeat(part, often) for part, often in zip(parts, times, strict=True)]
    return reduce(_add, sorted(powers, key=lambda part: len(part[0])))


@dataclass(frozen=True)
class Grid:
    """Equally spaced sums of lists, less their smallest values.

    A value between two grid points is split between both, which keeps the mean. That adds at most step² / 4 to
    the variance of a list; enough steps (up to 2^16) add less than .005 to that of the sum.

    Attributes:
        step: distance of grid points.
        start: number of the first one.
        n_steps: number of points; sums outside wrap around.
    """

    step: float
    start: int
    n_steps: int

    @classmethod
    def of(cls, kinds: ListDistributions) -> "Grid":
        """Return a grid for the sum of lists, centred on its mean if it cannot span all sums."""
        first = np.searchsorted(kinds.kind, np.arange(len(kinds.times)))
        means = np.add.reduceat(kinds.rise * kinds.chance, first)
        variances = np.add.reduceat((kinds.rise - means[kinds.kind]) ** 2 * kinds.chance, first)
        largest = float(kinds.times @ np.maximum.reduceat(kinds.rise, first))
        mean, std = float(kinds.times @ means), float(np.sqrt(kinds.times @ variances))
        width, n_lists = min(largest, _REACH * std) or 1.0, int(kinds.times.sum())
        wanted = width / std * math.sqrt(50 * n_lists) if std else 0.0
        n_steps = 2 ** math.ceil(math.log2(np.clip(wanted, *_GRID_STEPS)))
        step = width / (n_steps - 1 - min(n_lists, n_steps // 2))
        return cls(step, math.floor(np.clip(mean - width / 2, 0, largest - width) / step), n_steps)

    @property
    def sums(self) -> FloatArray:
        """(n_steps,) the sums, rising."""
        return np.asarray((self.start + np.arange(self.n_steps)) * self.step, dtype=np.float64)

    def chances(self, kinds: ListDistributions) -> FloatArray:
        """Return the (n_steps,) chance of each sum, by the product of the Fourier transforms of all lists."""
        n, n_kinds = self.n_steps, len(kinds.times)
        spectrum = np.ones(n // 2 + 1, dtype=np.complex128)
        at_once = max(1, _CELLS // n)
        ends = np.searchsorted(kinds.kind, np.arange(0, n_kinds + at_once, at_once))
        for number, (begin, end) in enumerate(pairwise(ends.tolist())):
            times = kinds.times[number * at_once : (number + 1) * at_once]
            row = (kinds.kind[begin:end] - number * at_once) * n
            place = kinds.rise[begin:end] / self.step
            below = np.floor(place)
            upper, column = place - below, below.astype(np.int64)
            cells = np.concatenate([row + column % n, row + (column + 1) % n])
            shares = np.concatenate([1 - upper, upper]) * np.tile(kinds.chance[begin:end], 2)
            table = np.bincount(cells, shares, minlength=len(times) * n).reshape(-1, n)
            transformed = np.fft.rfft(table)
            often = times > 1
            transformed[often] **= times[often, None]
            spectrum *= transformed.prod(axis=0)
        chances = np.roll(np.fft.irfft(spectrum, n), -self.start)
        chances[chances < _NOTHING] = 0
        return np.asarray(chances / chances.sum())


def draw_sums(kinds: ListDistributions, draws: int, generator: np.random.Generator) -> Distribution:
    """Return equally likely values that represent `draws` drawn sums of independent lists."""
    sums = np.zeros(draws)
    for (rise, chance), often in zip(kinds.distributions(), kinds.times.tolist(), strict=True):
        upto = np.cumsum(chance)
        places = (np.arange(_NODES) + generator.random()) / _NODES
        nodes = rise[np.minimum(np.searchsorted(upto / upto[-1], places), len(rise) - 1)]
        for _ in range(often):
            sums += nodes[generator.integers(0, _NODES, draws, dtype=np.uint16)]
    step = draws // min(draws, MAX_VALUES)
    thinned_sums = np.sort(sums)[step // 2 :: step]
    return merge_equal(thinned_sums, np.full(len(thinned_sums), 1 / len(thinned_sums)))


def merge_equal(values: FloatArray, chances: FloatArray) -> Distribution:
    """Sort values, add the chances of those that differ by rounding, and drop those of chance 0."""
    order = np.argsort(values, kind="stable")
    values, chances = values[order], chances[order]
    new = np.ones(len(values), dtype=bool)
    new[1:] = np.diff(values) > _ROUNDING * np.maximum(1.0, np.abs(values[1:]))
    start = np.flatnonzero(new)
    summed = np.add.reduceat(chances, start)
    return values[start][summed > 0], summed[summed > 0]


def _add(first: Distribution, second: Distribution) -> Distribution:
    values = first[0][:, None] + second[0]
    return merge_equal(values.ravel(), (first[1][:, None] * second[1]).ravel())


def _repeat(part: Distribution, often: int) -> Distribution:
    """Return the distribution of the sum of `often` lists of one kind."""
    values, chances = part
    alone = ListDistributions(np.array([often]), np.zeros(len(values), dtype=np.int64), values, chances)
    if (distribution := _sum_on_grid(alone)) is not None:
        return distribution
    return reduce(_add, [part] * often)


def _sum_on_grid(kinds: ListDistributions) -> Distribution | None:
    """Return `sum_distribution` by whole multiples of a common step; None without one or for too many."""
    largest = np.maximum.reduceat(kinds.rise, np.searchsorted(kinds.kind, np.arange(len(kinds.times))))
    step = common_step(kinds.rise, float((largest * kinds.times).sum()) / MAX_VALUES)
    if step is None:
        return None
    dense = [
        _convolution_power(np.bincount(np.rint(rise / step).astype(np.int64), chance).astype(np.float64), often)
        for (rise, chance), often in zip(kinds.distributions(), kinds.times.tolist(), strict=True)
    ]
    while len(dense) > 1:
        dense.sort(key=len)
        paired = [np.convolve(dense[at], dense[at + 1]) for at in range(0, len(dense) - 1, 2)]
        dense = paired + dense[len(dense) - len(dense) % 2 :]
    possible = np.flatnonzero(dense[0])
    return possible.astype(np.float64) * step, dense[0][possible]


def _convolution_power(chances: FloatArray, often: int) -> FloatArray:
    result_chances = np.ones(1)
    while often:
        if often % 2:
            result_chances = np.convolve(result_chances, chances)
        if often := often // 2:
            chances = np.convolve(chances, chances)
    return result_chances


def common_step(rises: FloatArray, smallest: float) -> float | None:
    """Return the largest number from `smallest` on that divides all rises; None if there is none.

    Euclid's algorithm, with a remainder below half of `smallest` treated as rounding and then checked.
    """
    distinct = np.unique(np.round(rises, 12))
    step = 0.0
    for rise in distinct[distinct > 0].tolist():
        remainder = rise
        while remainder > smallest / 2:
            step, remainder = remainder, abs(step - remainder * round(step / remainder))
        if step < smallest * (1 - _WHOLE_TOLERANCE):
            return None
    if not step:
        return None
    largest = float(rises.max())
    step = largest / round(largest / step)
    multiples = rises / step
    return step if bool((np.abs(multiples - np.rint(multiples)) < _WHOLE_TOLERANCE).all()) else None
