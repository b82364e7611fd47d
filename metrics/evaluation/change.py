"""Where the mean of lists that came one after the other has changed most."""

from dataclasses import dataclass
from math import inf

import numpy as np
import pandas as pd

from metrics.support.arrays import FloatArray

_FEWEST = 2
"""Lists of which a change is asked for, at least."""
_NO_BOUNDS = (-inf, inf)


@dataclass(frozen=True)
class Change:
    """Where the mean of a measure has changed most.

    Attributes:
        query_id: the first list after it.
        n_before: lists before it.
        n_after: lists from it on.
        before: tied mean of the lists before.
        after: tied mean of the others.
        p: the chance of as large a sum of deviations where nothing changes, by its limit for many lists.
        before_bounds: worst and best mean of the lists before, over all orders of their ties; -inf and inf
            for a measure that settles ties by its own rule, whose value no order of them bounds.
        after_bounds: the same, of the others.
    """

    query_id: str
    n_before: int
    n_after: int
    before: float
    after: float
    p: float
    before_bounds: tuple[float, float]
    after_bounds: tuple[float, float]

    @property
    def is_beyond_ties(self) -> bool:
        """Whether no order of ties makes the two means alike: ties alone cannot explain the change.

        Never of a measure that settles ties by its own rule, for more ties alone change its value.
        """
        (low, high), (other_low, other_high) = self.before_bounds, self.after_bounds
        return high < other_low or other_high < low


def find_change(
    tied: FloatArray,
    worst: FloatArray,
    best: FloatArray,
    query_ids: pd.Index,
    *,
    has_own_rule: bool = False,
) -> Change | None:
    """Return where the mean of tied values has changed most; None where all are the same.

    With S(k) the sum of the first k deviations from the mean, and s their standard deviation, the change
    is where |S(k)| / (s √n) is largest; for many lists its chance is Kolmogorov's.

    Args:
        tied: (n_lists,) values in the order in which lists came.
        worst: (n_lists,) the least that an order of their ties gives.
        best: (n_lists,) the most.
        query_ids: (n_lists,) query of each list.
        has_own_rule: whether the measure settles ties by a rule of its own, and the two are no bounds.
    """
    if len(tied) < _FEWEST or np.ptp(tied) == 0:
        return None
    from scipy.special import kolmogorov  # noqa: PLC0415 means need none of it

    sums = np.abs(np.cumsum(tied - tied.mean())[:-1])
    n_before = int(np.argmax(sums)) + 1
    statistic = sums[n_before - 1] / (tied.std() * np.sqrt(len(tied)))
    return Change(
        str(query_ids[n_before]),
        n_before,
        len(tied) - n_before,
        float(tied[:n_before].mean()),
        float(tied[n_before:].mean()),
        float(kolmogorov(statistic)),
        _NO_BOUNDS if has_own_rule else (float(worst[:n_before].mean()), float(best[:n_before].mean())),
        _NO_BOUNDS if has_own_rule else (float(worst[n_before:].mean()), float(best[n_before:].mean())),
    )
