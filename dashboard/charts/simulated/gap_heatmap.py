"""Gaps of lists over score levels and tie probability."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import cells
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW, set_xaxes, set_yaxes, style

_BRIGHT = 0.65
"""Share of the largest gap from which on a cell is bright enough for dark letters."""


def gap_heatmap(gaps: pd.DataFrame, palette: Palette, setting: tuple[int, float] | None) -> Figure:
    """Draw the mean absolute gap of a list over score levels, in columns, and tie probability, in rows.

    Args:
        gaps: index tie probability, columns score levels; mean absolute gaps.
        palette: colours of the theme.
        setting: score levels and tie probability to frame, None where the table lacks them.
    """
    values = gaps.to_numpy()
    top = max(float(values.max()), 1e-9)
    levels, probabilities = [str(level) for level in gaps.columns], [f"{share:.1f}" for share in gaps.index]
    hover = "%{x} levels, tie probability %{y}: %{z:.4f}<extra></extra>"
    figure = Figure().draw(
        cells(values, palette.warm, x=levels, y=probabilities, zmin=0, zmax=1.6 * top, hovertemplate=hover)
    )
    darker = min(palette.text, palette.ground)  # as hexadecimal
    figure.draw_scatter(
        x=np.tile(levels, len(probabilities)),
        y=np.repeat(probabilities, len(levels)),
        mode="text",
        text=[f"{value:.3f}" for value in values.ravel()],
        textfont={"size": 11, "color": np.where(values.ravel() > _BRIGHT * top, darker, palette.text)},
        hoverinfo="skip",
        showlegend=False,
    )
    if setting is not None:
        x, y = gaps.columns.get_loc(setting[0]), gaps.index.get_loc(setting[1])
        box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
        figure.draw_shape(type="rect", line={"color": palette.text, "width": 2}, **box)
    style(figure, palette, 360, t=8, l=43, b=BELOW - 4)
    set_yaxes(figure, title_text="tie probability", type="category", showgrid=False)
    return set_xaxes(figure, title_text="score levels", type="category", showgrid=False)
