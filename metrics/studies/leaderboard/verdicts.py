"""What ties do to a mean, held against what the mean itself is compared with."""

from typing import Literal

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL
from metrics.studies.prose import and_more, decimal
from metrics.support.arrays import BoolArray, FloatArray

Verdict = Literal["stable", "tie-sensitive", "tie-inflated", "tie-deflated", "own rule"]

SHARE = 0.01
"""Share of the tied value from which on a difference counts, however many queries there are."""
_ROUNDING = 1e-6
"""Part of a standard error that it may be off: one that is stored comes of a sum of squares."""
_TIMES = 10
"""Tied values from which on a difference is told as a multiple of it."""

LARGE = (
    f"by {SHARE:.0%} of the tied value, by more than its standard error over queries, or past another reranker"
)
"""When a difference that ties make is large, in words; `is_large` decides."""
VERDICTS: dict[Verdict, str] = {
    "stable": f"No order of its ties moves the mean {LARGE}.",
    "tie-sensitive": f"The order of its ties can move the mean {LARGE}; the traditional value is close.",
    "tie-inflated": f"The traditional value is above the tied one {LARGE}.",
    "tie-deflated": f"The traditional value is below the tied one {LARGE}.",
    "own rule": "The measure settles ties by a rule of its own, so no order of them gives another value.",
}
"""What each verdict means."""


def is_large(
    difference: FloatArray, tied: FloatArray, standard_error: FloatArray, changes_place: BoolArray
) -> BoolArray:
    """Return (n,) whether a difference that ties make to a mean is large, whatever the scale of the measure.

    It is where it is no rounding (above 1e-12) and one of these holds:

        |difference| >= 0.01 · tied              beside the mean itself
        |difference| > standard error > 0        beside its luck with queries
        it changes a place                       beside the other rerankers

    Args:
        difference: (n,) traditional − tied, or best − worst.
        tied: (n,) tied means.
        standard_error: (n,) of the tied mean over queries; NaN where it is not known, 0 where no query differs.
        changes_place: (n,) whether the difference does.
    """
    size = np.abs(difference)
    by_value = size >= SHARE * np.abs(tied)
    by_queries = _exceeds(difference, standard_error)
    return np.asarray((size > EQUAL * np.maximum(1.0, np.abs(tied))) & (by_value | by_queries | changes_place))


def _exceeds(difference: FloatArray, standard_error: FloatArray) -> BoolArray:
    """Return whether a difference is above a standard error that is not 0, by more than either is rounded."""
    return np.asarray((standard_error > EQUAL) & (np.abs(difference) > (1 + _ROUNDING) * standard_error))


def judge(rows: pd.DataFrame, own_rule: str = "") -> pd.DataFrame:
    """Say of each reranker what ties do to its mean, and beside what that is large.

    Args:
        rows: index reranker; tied, worst, best, traditional, gap, tie_ratio, tied_rank, traditional_rank,
            standard_error, as `leaderboard` has them.
        own_rule: name of the measure where it settles ties by a rule of its own.

    Returns:
        index reranker; verdict (None where nothing is scored) and why, in words.
    """
    tied, gap, error = (rows[name].to_numpy(np.float64) for name in ("tied", "gap", "standard_error"))
    gap_moves, ties_move = _gap_changes_place(rows), _ties_change_place(rows)
    is_off = is_large(gap, tied, error, gap_moves)
    is_wide = is_large((rows["best"] - rows["worst"]).to_numpy(), tied, error, ties_move)
    is_open = [is_off & (gap > 0), is_off, is_wide]
    names = np.select(is_open, ["tie-inflated", "tie-deflated", "tie-sensitive"], "stable").astype(object)
    words = _Reasons(rows)
    reasons = [
        words.of_gap(row, moves=bool(gap_moves[row]))
        if is_off[row]
        else words.of_width(row, moves=bool(ties_move[row]))
        for row in range(len(rows))
    ]
    table = pd.DataFrame({"verdict": names, "why": reasons}, rows.index, dtype=object)
    if own_rule:
        table["verdict"], table["why"] = "own rule", f"{own_rule} settles ties by its own rule"
    table.loc[np.isnan(tied), ["verdict", "why"]] = None, ""
    return table


def _gap_changes_place(rows: pd.DataFrame) -> BoolArray:
    """Return (n,) whether traditional and tied place differ, and that on the side of the own gap."""
    climbed = (rows["tied_rank"] - rows["traditional_rank"]).to_numpy(np.float64, na_value=0.0)
    return np.asarray(climbed * np.nan_to_num(rows["gap"].to_numpy()) > 0)


def _ties_change_place(rows: pd.DataFrame) -> BoolArray:
    """Return (n,) whether worst and best mean stand at different places among the tied means of others."""
    tied, worst, best = (rows[name].to_numpy(np.float64) for name in ("tied", "worst", "best"))
    means = np.sort(tied[~np.isnan(tied)])
    passed = np.searchsorted(means, best + EQUAL, side="right") - np.searchsorted(
        means, worst + EQUAL, side="right"
    )
    own = (tied > worst + EQUAL) & (tied <= best + EQUAL)
    return np.asarray(passed - own > 0)


class _Reasons:
    """What a difference is large beside, in words."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self._names = [str(name) for name in rows.index]
        self._tied = rows["tied"].to_numpy(np.float64)
        self._before = rows["traditional"].to_numpy(np.float64)

    def of_gap(self, row: int, *, moves: bool) -> str:
        """Return by how much the traditional value of a row is off, and whom it passes."""
        gap, tied, before = self._before[row] - self._tied[row], self._tied, self._before
        side = "above" if gap > 0 else "below"
        was_ahead, is_ahead = tied > tied[row] + EQUAL, before > before[row] + EQUAL
        passed = was_ahead & ~is_ahead if gap > 0 else ~was_ahead & is_ahead
        return f"{relative_size(gap, tied[row], side)}{self._comparisons(row, gap, passed & moves)}"

    def of_width(self, row: int, *, moves: bool) -> str:
        """Return how far apart the worst and the best value of a row are, and whom they surround."""
        low, high, tied = self._rows["worst"].iloc[row], self._rows["best"].iloc[row], self._tied[row]
        if not high - low > EQUAL:
            return "no order of its ties moves it" if self._rows["tie_ratio"].iloc[row] else "it has no ties"
        passed = (self._tied > low + EQUAL) & (self._tied <= high + EQUAL)
        size = _share((high - low) / tied)
        return (
            f"worst to best spans {size} of its tied value{self._comparisons(row, high - low, passed & moves)}"
        )

    def _comparisons(self, row: int, difference: float, passed: BoolArray) -> str:
        error = float(self._rows["standard_error"].iloc[row])
        text = ""
        if _exceeds(np.array(difference), np.array(error)):
            text = f", more than its standard error over queries, {decimal(error)}"
        passed[row] = False
        if passed.any():
            distance = np.where(passed, np.abs(self._tied - self._tied[row]), np.inf)
            nearest = self._names[int(distance.argmin())]
            text += f", enough to change places with {nearest}{and_more(int(passed.sum()) - 1)}"
        return text


def relative_size(difference: float, tied: float, side: str) -> str:
    """Write a difference as a share of the tied value: `36% above its tied value`.

    Args:
        difference: of the traditional value from it.
        tied: the tied value.
        side: above or below.
    """
    if not tied > 0:
        return f"{decimal(abs(difference))} {side} a tied value of {decimal(tied)}"
    share = abs(difference) / tied
    if side == "above" and share >= _TIMES:
        return f"{1 + share:,.0f} times its tied value"
    return f"{_share(share)} {side} its tied value"


def _share(share: float) -> str:
    """Write a share of a tied value as a percent; with a decimal below 10: 0.6% is not the 1% that counts."""
    if share < 0.0005:  # noqa: PLR2004 what one decimal of a percent shows
        return "under 0.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:,.0%}"  # noqa: PLR2004 rounds to 10
