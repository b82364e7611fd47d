"""What other tools report, beside what the scores say."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.marks import CLEAR_TOP, add_bounds, label_rows, rows_height, tied_dot
from dashboard.charts.palette import Palette
from dashboard.charts.style import padded_range, set_xaxes, style


def tool_strip(leaderboard: pd.DataFrame, values: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the value of every tool as a tick on the range the ties allow, and the tied value as a dot.

    Args:
        leaderboard: index reranker; worst, best, tied; in order.
        values: reranker, tool, value of one measure.
        palette: colours of the theme.
        measure: title of the x axis.
    """
    figure = Figure()
    add_bounds(figure, leaderboard, palette, hoverinfo="skip")
    _add_ticks(figure, leaderboard.index, values, palette)
    figure.draw_scatter(
        x=leaderboard["tied"],
        y=np.arange(len(leaderboard)),
        mode="markers",
        marker=tied_dot(palette),
        name="tied",
        customdata=[hover_text(str(name)) for name in leaderboard.index],
        hovertemplate="<b>%{customdata}</b><br>tied %{x:.4f}<extra></extra>",
        cliponaxis=False,
    )
    style(figure, palette, rows_height(len(leaderboard)))
    label_rows(figure, leaderboard.index, palette, top=CLEAR_TOP)
    means = [leaderboard[["worst", "best", "tied"]].to_numpy().ravel(), values["value"].to_numpy()]
    return set_xaxes(figure, range=padded_range(np.concatenate(means)), title_text=measure, nticks=6)


def _add_ticks(figure: Figure, rerankers: pd.Index, values: pd.DataFrame, palette: Palette) -> None:
    """Add a tick per value, wider where several tools agree."""
    rounded = values.assign(value=values["value"].round(6))
    groups = rounded.groupby(["reranker", "value"], sort=False)["tool"]
    for number, ((reranker, value), tools) in enumerate(groups):
        names = "<br>".join(hover_text(name) for name in tools)
        figure.draw_scatter(
            x=[value],
            y=[rerankers.get_loc(reranker)],
            mode="markers",
            marker={
                "symbol": "line-ns-open",
                "size": 18,
                "color": palette.traditional,
                "line": {"width": 1.5 + min(len(tools), 6) / 2},
            },
            name="tools; wider where several agree",
            legendgroup="tools",
            showlegend=number == 0,
            hovertemplate=f"<b>%{{x:.4f}}</b><br>{names}<extra></extra>",
            cliponaxis=False,
        )
