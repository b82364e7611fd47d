"""Precision: scores as a coarser number format would hold them."""

import re

import numpy as np

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray

PRECISIONS = ("float64", "float32", "float16", "bfloat16", "decimals:N")
"""Every precision there is."""

_LARGEST_DECIMALS = 15


def rounded(scores: FloatArray, precision: str) -> FloatArray:
    """(n,) scores rounded to the nearest value the format holds, ties to even; too large becomes infinite.

    Args:
        scores: (n,) scores as read.
        precision: one of `PRECISIONS`.

    Raises:
        UsageError: there is no such precision.
    """
    if precision == "float64":
        return scores
    with np.errstate(over="ignore"):
        if precision in ("float32", "float16"):
            return scores.astype(precision).astype(np.float64)
        if precision == "bfloat16":
            return _bfloat16(scores)
        decimals = re.fullmatch(r"decimals:(\d{1,2})", precision)
        if decimals and int(decimals[1]) <= _LARGEST_DECIMALS:
            fine = np.round(scores, int(decimals[1]))
            return np.where(np.isfinite(fine), fine, scores)
    raise UsageError(f"There is no precision {precision!r}. Precisions: {', '.join(PRECISIONS)}.")


def _bfloat16(scores: FloatArray) -> FloatArray:
    """The upper half of a float32, rounded to nearest, ties to even."""
    bits = scores.astype(np.float32).view(np.uint32)
    finite = np.isfinite(scores.astype(np.float32))
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(finite, upper, bits).astype(np.uint32).view(np.float32).astype(np.float64)
