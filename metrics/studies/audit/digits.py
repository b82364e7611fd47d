"""Whether a computed figure comes out as it was printed: to the digit, by rounding, or not."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties.precision import rounded

Verdict = Literal["to the digit", "by rounding", "does not come out"]
"""Of a figure: as printed; off in the last place by rounding or float error; otherwise off."""
VERDICTS: tuple[Verdict, ...] = ("to the digit", "by rounding", "does not come out")
"""Every verdict; `digit_verdicts` gives its place here."""
_FLOAT_ERROR = 1e-7
"""What single precision can add to a value up to 1, and what summing in another order adds to it."""
_NEXT_DOUBLES = 2.0**-51
"""How far the doubles next to a value are, which operations in another order give, as a share of it."""
_DYADIC = 2.0**20
"""A value that is whole when it is multiplied by this is free of error."""
_MOST_DECIMALS = 12
"""Decimals up to which cutting them off can be told from float error."""


@dataclass(frozen=True, eq=False)
class PrintedDigits:
    """Figures as they were printed.

    Attributes:
        figures: (n,) in the unit of the measure.
        decimals: (n,) of the text.
        scales: (n,) 100 where percents were printed, else 1.
    """

    figures: FloatArray
    decimals: IntArray
    scales: FloatArray

    @property
    def units(self) -> FloatArray:
        """(n,) one of the last place that is printed, in the unit of the measure."""
        return np.asarray(10.0**-self.decimals / self.scales)

    def verdicts(self, computed: FloatArray) -> IntArray:
        """Return the (n,) places in `VERDICTS` of computed figures.

        To the digit: C's and Python's `%.Nf` of the computed figure, or of the next doubles, which the same
        operations in another order give, is what was printed. By rounding: the
        printed figure is within half a unit of its last place and float error, as where a value falls on the
        half; or the digits past the last place were cut off, in which case they must have been in all
        figures that come out.

        Args:
            computed: (n,) in the unit of the measure, NaN where there is none.
        """
        verdicts = np.full(len(computed), 2)
        is_cut, is_odd = np.zeros((2, len(computed)), dtype=bool)
        for decimals in np.unique(self.decimals):
            rows = np.flatnonzero(self.decimals == decimals)
            values, printed = computed[rows] * self.scales[rows], self.figures[rows] * self.scales[rows]
            is_digit = _prints_as(values, printed, int(decimals))
            unit = 10.0**-decimals
            is_near = np.abs(values - printed) <= unit / 2 + _FLOAT_ERROR * self.scales[rows]
            verdicts[rows[is_near]] = 1
            verdicts[rows[is_digit]] = 0
            if decimals <= _MOST_DECIMALS:
                is_cut[rows] = _is_cut(values, printed, unit)
                is_odd[rows] = is_digit & ~is_cut[rows]
        if not is_odd.any():
            verdicts[is_cut & (verdicts > 0)] = 1
        return verdicts


def _prints_as(values: FloatArray, printed: FloatArray, decimals: int) -> BoolArray:
    """Return whether each value, or a double next to it, prints as its figure.

    7/160 is on the half of its fourth decimal, and 7 · (1/160) one double above. Sums of powers of two, such as
    1/32, are exact in any order: of these there is one.
    """
    precision = f"decimals:{decimals}"
    text = rounded(printed, precision)
    is_digit = rounded(values, precision) == text
    if decimals > _MOST_DECIMALS:
        return np.asarray(is_digit)
    inexact = np.flatnonzero(~is_digit & (values * _DYADIC % 1 != 0))
    for neighbour in (1 - _NEXT_DOUBLES, 1 + _NEXT_DOUBLES):
        is_digit[inexact] |= rounded(values[inexact] * neighbour, precision) == text[inexact]
    return np.asarray(is_digit)


def _is_cut(values: FloatArray, printed: FloatArray, unit: float) -> BoolArray:
    """Return whether each printed value is one with further digits cut off, or are of the double below."""
    error, text = min(_FLOAT_ERROR / unit, 0.01), np.rint(printed / unit)
    below = np.where(values * _DYADIC % 1 != 0, values * (1 - _NEXT_DOUBLES), values)
    return np.asarray((np.floor(values / unit + error) == text) | (np.floor(below / unit) == text))
