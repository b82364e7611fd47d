"""Scores of rerankers with what ties allow."""

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import VALUES, add_bounds_rows, label_rows, rows_height
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, style


def drawable_rerankers(leaderboard: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of rerankers that have values: those with a scored list."""
    return leaderboard.dropna(subset=VALUES)


def score_bounds(leaderboard: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the worst, best, tied and traditional mean, a row a reranker.

    Args:
        leaderboard: index reranker; worst, best, traditional, tied; best first.
        palette: colours of the theme.
        measure: title of the x axis.
    """
    figure, leaderboard = Figure(), drawable_rerankers(leaderboard)
    add_bounds_rows(figure, leaderboard, palette)
    style(figure, palette, rows_height(len(leaderboard)))
    label_rows(figure, leaderboard.index, palette)
    return set_xaxes(figure, title_text=measure, nticks=6)
