"""How the mean of drawn orderings nears the exact value."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import UNCERTAIN, add_band
from dashboard.charts.palette import Palette
from dashboard.charts.style import add_key, set_xaxes, set_yaxes, style

CONFIDENT = 1.96
"""Standard errors to each side of a mean that hold the true one 95 times of 100."""


def sampling_convergence(means: pd.DataFrame, exact: float, palette: Palette, measure: str) -> Figure:
    """Draw the mean of the orderings drawn so far on a log axis, with its error, nearing the exact value.

    Args:
        means: draws, mean, standard_error.
        exact: the tied value.
        palette: colours of the theme.
        measure: its name.
    """
    draws, mean = means["draws"], means["mean"]
    error = CONFIDENT * means["standard_error"]
    low, high = (mean - error).clip(lower=0), mean + error
    ends = [float(draws.iloc[0]), float(draws.iloc[-1])]
    figure = Figure()
    add_band(figure, draws, low, high, UNCERTAIN)
    figure.draw_scatter(
        x=ends,
        y=[exact, exact],
        mode="lines",
        line={"color": palette.tied, "width": 2.5},
        hovertemplate="exact: %{y:.4f}<extra></extra>",
    )
    figure.draw_scatter(
        x=draws,
        y=mean,
        mode="lines",
        line={"color": palette.text, "width": 1.8},
        customdata=error,
        hovertemplate="mean of %{x:,} draws: %{y:.4f} ± %{customdata:.4f}<extra></extra>",
    )
    estimate = f"{mean.iloc[-1]:.4f}, standard error {means['standard_error'].iloc[-1]:.4f}"
    add_key(figure, palette, [("exact", palette.tied, f"{exact:.4f}"), ("drawn", palette.text, estimate)])
    style(figure, palette, 300, t=28, r=20, l=54)
    plotted_values = [*low, *high, *mean, exact]
    bottom, top = float(min(plotted_values)), float(max(plotted_values))
    room = 0.06 * (top - bottom) or 0.012
    figure.set_layout(showlegend=False)
    set_yaxes(figure, title_text=f"mean {measure}", nticks=6, range=[bottom - room, top + room])
    return set_xaxes(
        figure,
        title_text="orders drawn",
        type="log",
        showgrid=False,
        tickformat="~s",
        dtick=1,
        range=np.log10(ends),
    )
