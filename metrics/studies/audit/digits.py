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

    def verdicts(self, computed: FloatArray) -> IntArray:
        """Return the (n,) places in `VERDICTS` of computed figures.

        To the digit: C's and Python's `%.Nf` of the computed figure is what was printed. By rounding: the
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
            is_digit = rounded(values, f"decimals:{decimals}") == rounded(printed, f"decimals:{decimals}")
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


def _is_cut(values: FloatArray, printed: FloatArray, unit: float) -> BoolArray:
    """Return whether each printed value is one whose further digits were cut off."""
    error = _FLOAT_ERROR / unit
    return np.asarray(np.floor(values / unit + min(error, 0.01)) == np.rint(printed / unit))
