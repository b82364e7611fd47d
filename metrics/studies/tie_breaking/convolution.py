"""The exact distribution of a sum of independent lists, where it has few enough values."""

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

POINTS = 2**14
"""Values of a sum up to which its distribution is computed."""
MOST_KINDS = 14
"""Unlike lists without a common step up to which that can be: each doubles the values at least."""
LEVEL = 1e-11
"""Means closer than this are one; relative above 1."""
_ROUNDING = 1e-13
"""Sums of the same values closer than this differ by the order they were added in; relative above 1."""
_WHOLE = 1e-6
"""How far a multiple of a step may be from a whole number, in steps."""

Chances = tuple[FloatArray, FloatArray]
"""(n,) values, rising, and the chance of each."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """What lists can score, those with one distribution counted together.

    Attributes:
        times: (n_kinds,) lists of each kind.
        kind: (n,) kind of each value, rising.
        rise: (n,) the value less the worst of its kind.
        chance: (n,) its chance; those of a kind sum to 1.
    """

    times: IntArray
    kind: IntArray
    rise: FloatArray
    chance: FloatArray

    @classmethod
    def of(cls, times: IntArray, kind: IntArray, value: FloatArray, chance: FloatArray) -> "Kinds":
        """From values in any order; every kind has one at least."""
        order = np.argsort(kind, kind="stable")
        kind, value = kind[order], value[order]
        worst = np.minimum.reduceat(value, np.searchsorted(kind, np.arange(len(times))))
        return cls(times, kind, value - worst[kind], chance[order])

    def each(self) -> list[Chances]:
        """Values and chances of each kind, as they come."""
        cuts = np.searchsorted(self.kind, np.arange(1, len(self.times)))
        return list(zip(np.split(self.rise, cuts), np.split(self.chance, cuts), strict=True))

    @property
    def skewness(self) -> float:
        """Third central moment of the sum over all lists, in cubes of its standard deviation."""
        rise = self.rise / self.rise.max()
        apart = rise - np.bincount(self.kind, self.chance * rise)[self.kind]
        square, cube = (np.bincount(self.kind, self.chance * apart**power) @ self.times for power in (2, 3))
        return float(cube / square**1.5)


def total(kinds: Kinds) -> Chances | None:
    """Distribution of the sum over all lists, each less its worst; None where it has too many values.

    Where all values are multiples of one step, by convolution on whole numbers; else by adding up
    value for value, if the number of sums that can be told apart is at most `POINTS`: lists of one
    kind with p values each give C(times + p − 1, p − 1) sums.
    """
    if (found := _stepped(kinds)) is not None:
        return found
    if len(kinds.times) > MOST_KINDS:
        return None
    parts, times = [gathered(*part) for part in kinds.each()], kinds.times.tolist()
    sums = [math.comb(often + len(part[0]) - 1, often) for part, often in zip(parts, times, strict=True)]
    if math.prod(sums) > POINTS:
        return None
    powers = [_times(part, often) for part, often in zip(parts, times, strict=True)]
    return reduce(_added, sorted(powers, key=lambda part: len(part[0])))


def gathered(values: FloatArray, chances: FloatArray) -> Chances:
    """Values rising, those that differ by rounding together; chances that are 0 are left out."""
    order = np.argsort(values, kind="stable")
    values, chances = values[order], chances[order]
    new = np.ones(len(values), dtype=bool)
    new[1:] = np.diff(values) > _ROUNDING * np.maximum(1.0, np.abs(values[1:]))
    start = np.flatnonzero(new)
    summed = np.add.reduceat(chances, start)
    return values[start][summed > 0], summed[summed > 0]


def _added(one: Chances, other: Chances) -> Chances:
    values = one[0][:, None] + other[0]
    return gathered(values.ravel(), (one[1][:, None] * other[1]).ravel())


def _times(part: Chances, often: int) -> Chances:
    """The sum of so many lists of one kind."""
    values, chances = part
    alone = Kinds(np.array([often]), np.zeros(len(values), dtype=np.int64), values, chances)
    if (found := _stepped(alone)) is not None:
        return found
    return reduce(_added, [part] * often)


def _stepped(kinds: Kinds) -> Chances | None:
    """The same on whole numbers of a common step; None where there is none, or too many of them."""
    most = np.maximum.reduceat(kinds.rise, np.searchsorted(kinds.kind, np.arange(len(kinds.times))))
    step = common_step(kinds.rise, float((most * kinds.times).sum()) / POINTS)
    if step is None:
        return None
    dense = [
        _power(np.bincount(np.rint(rise / step).astype(np.int64), chance).astype(np.float64), often)
        for (rise, chance), often in zip(kinds.each(), kinds.times.tolist(), strict=True)
    ]
    while len(dense) > 1:
        dense.sort(key=len)
        paired = [np.convolve(dense[at], dense[at + 1]) for at in range(0, len(dense) - 1, 2)]
        dense = paired + dense[len(dense) - len(dense) % 2 :]
    held = np.flatnonzero(dense[0])
    return held.astype(np.float64) * step, dense[0][held]


def _power(chances: FloatArray, often: int) -> FloatArray:
    """Convolve with itself, by squaring."""
    found = np.ones(1)
    while often:
        if often % 2:
            found = np.convolve(found, chances)
        if often := often // 2:
            chances = np.convolve(chances, chances)
    return found


def common_step(rises: FloatArray, smallest: float) -> float | None:
    """The largest number, not below `smallest`, that all are whole multiples of; None where there is none.

    Euclid's algorithm with a remainder below half of `smallest` taken for rounding, and then checked.

    Args:
        rises: (n,) numbers, 0 or above, not all 0.
        smallest: above 0.
    """
    distinct = np.unique(np.round(rises, 12))
    step = 0.0
    for rise in distinct[distinct > 0].tolist():
        rest = rise
        while rest > smallest / 2:
            step, rest = rest, abs(step - rest * round(step / rest))
        if step < smallest * (1 - _WHOLE):
            return None
    most = float(rises.max())
    step = most / round(most / step)
    multiples = rises / step
    return step if bool((np.abs(multiples - np.rint(multiples)) < _WHOLE).all()) else None


def drawn(kinds: Kinds, draws: int, seed: int) -> FloatArray:
    """(draws,) sums of all lists, each less its worst, every list drawn on its own."""
    generator, sums = np.random.default_rng(seed), np.zeros(draws)
    for (rises, chances), often in zip(kinds.each(), kinds.times.tolist(), strict=True):
        upto = np.cumsum(chances)
        for _ in range(often):
            sums += rises[np.searchsorted(upto, generator.random(draws) * upto[-1], side="right")]
    return sums
