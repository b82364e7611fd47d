"""Measures that settle ties by rules of their own, on the range that the ties allow."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import CLEAR_TOP, VALUES, add_bounds_rows, label_rows, named_rows, rows_height
from dashboard.charts.palette import Palette
from dashboard.charts.style import padded_range, set_xaxes, style

_SYMBOLS = ("square-open", "triangle-up-open", "triangle-down-open", "x-thin-open", "pentagon-open")


def rule_marks(leaderboard: pd.DataFrame, rules: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw means by each rule, the tied and the traditional on bars from worst to best, a row a reranker.

    Args:
        leaderboard: of the measure whose ties are settled: index reranker; worst, best, traditional, tied.
        rules: the same index; a column a rule.
        palette: colours of the theme.
        measure: title of the x axis.
    """
    figure = Figure()
    add_bounds_rows(figure, leaderboard, palette)
    for symbol, (rule, means) in zip(_SYMBOLS, rules.items(), strict=False):
        figure.draw_scatter(
            x=means,
            y=np.arange(len(rules)),
            mode="markers",
            marker={"symbol": symbol, "size": 11, "color": palette.text, "line": {"width": 1.6}},
            name=str(rule),
            customdata=named_rows(rules.index, rules[[rule]].to_numpy()),
            hovertemplate=f"<b>%{{customdata[0]}}</b><br>{rule} %{{x:.4f}}<extra></extra>",
            cliponaxis=False,
        )
    style(figure, palette, rows_height(len(leaderboard)))
    label_rows(figure, leaderboard.index, palette, top=CLEAR_TOP)
    means = [leaderboard[VALUES].to_numpy().ravel(), rules.to_numpy().ravel()]
    return set_xaxes(figure, range=padded_range(np.concatenate(means)), title_text=measure, nticks=6)
