"""What people give for one plain list, as arrays and numbers; whatever cannot be used is refused in words."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray, from_tensor

Values = Sequence[float] | npt.NDArray[np.generic] | Iterable[float]
"""One number or boolean a document: a list, an array, a column of a data frame."""


def cutoff_of(k: object) -> int | None:
    """Return a cut-off as an integer; UsageError where it is no whole number from 1 on."""
    if k is None:
        return None
    if isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1:
        return int(k)
    raise UsageError(
        f"k={k!r:.60}: it is a whole number from 1 on, as in k=10; scores are given as scores=[...]."
    )


def threshold_of(relevant_from: object) -> float:
    """Return the smallest grade that counts as relevant; UsageError where it is no number."""
    if isinstance(relevant_from, int | float | np.number):
        return float(relevant_from)
    raise UsageError(f"relevant_from={relevant_from!r:.60}: it is a number, such as 1.")


def grades_of(values: Values, name: str) -> FloatArray:
    """Return grades as `numbers_of` does; UsageError where they are none."""
    numbers = numbers_of(values, name)
    if not np.isfinite(numbers).all():
        raise UsageError(f"{name}: place {np.argmin(np.isfinite(numbers))} is infinite, and no grade.")
    return numbers


def numbers_of(values: Values, name: str) -> FloatArray:
    """Return (n_docs,) numbers of one list; a UsageError says of these `name` which is none."""
    try:
        array = np.asarray(from_tensor(values))
        numbers = array.astype(np.float64) if array.dtype.kind in "biufO" or not array.size else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or numbers.ndim == 0:
        raise UsageError(
            f"{name}={values!r:.60}: give a number or boolean for each document, such as [1, 0, 1]."
        )
    if numbers.ndim > 1:
        raise UsageError(
            f"{name} has the shape {numbers.shape}: one list at a time. Many: metrics.score(frame)."
        )
    if np.isnan(numbers).any():
        raise UsageError(
            f"{name}: place {np.argmax(np.isnan(numbers))} is missing (NaN). Leave it out or fill it."
        )
    return numbers
