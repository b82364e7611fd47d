"""Scores of rerankers with what ties allow."""

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.leaderboard.hole_bars import ENDS, add_hole_bars
from dashboard.charts.marks import VALUES, add_bounds_rows, label_rows, label_rows_above, rows_height
from dashboard.charts.palette import Palette
from dashboard.charts.style import padded_range, set_xaxes, set_yaxes, style

_STACKED_ROW = 44
"""Height of a row in pixels whose name stands above its bar."""


def drawable_rerankers(leaderboard: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of rerankers that have values: those with a scored list."""
    return leaderboard.dropna(subset=VALUES)


def score_bounds(
    leaderboard: pd.DataFrame, palette: Palette, measure: str, *, is_stacked: bool = False
) -> Figure:
    """Draw the worst, best, tied and traditional mean, a row a reranker.

    Args:
        leaderboard: index reranker; worst, best, traditional, tied, perhaps what `add_hole_bars` draws.
        palette: colours of the theme.
        measure: title of the x axis.
        is_stacked: whether names stand above their bars, so that a phone has room for both.
    """
    figure, leaderboard = Figure(), drawable_rerankers(leaderboard)
    has_holes = set(ENDS) <= set(leaderboard)
    if has_holes:
        add_hole_bars(figure, leaderboard, palette)
    add_bounds_rows(figure, leaderboard, palette)
    if is_stacked:
        style(figure, palette, 100 + _STACKED_ROW * len(leaderboard), t=48)
        label_rows_above(figure, leaderboard.index, palette, 0.24)
        set_yaxes(figure, range=[len(leaderboard) - 0.4, -0.8])
    else:
        style(figure, palette, rows_height(len(leaderboard)))
        label_rows(figure, leaderboard.index, palette)
    values = leaderboard[[*VALUES, *(ENDS if has_holes else ())]].to_numpy()
    return set_xaxes(figure, title_text=measure, nticks=6, range=padded_range(values))
