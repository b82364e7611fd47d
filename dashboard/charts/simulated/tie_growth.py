"""A mean as ties grow."""

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_band, dotted_line, tied_dot
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note, set_xaxes, set_yaxes, style
from metrics.support.wording import percent

_RIGHT = 0.6
"""Tie probability from which on words stand left of their line, or they leave the figure."""


def tie_growth(curve: pd.DataFrame, palette: Palette, measure: str, probability: float) -> Figure:
    """Draw a mean as ties grow: tied, where 95 % of shuffles fall, and every order there is.

    Args:
        curve: tie_probability (rising), tie_ratio, tied, worst, best, low, high.
        palette: colours of the theme.
        measure: how the mean is called.
        probability: tie probability to mark, one of the curve's.
    """
    figure, x = Figure(), curve["tie_probability"]
    for low, high, colour, name in (
        ("worst", "best", palette.bounds, "worst to best"),
        ("low", "high", faded(palette.traditional, 0.42), "95% of shuffles"),
    ):
        edge = {"width": 0, "color": colour}
        add_band(figure, x, curve[low], curve[high], colour, mode="lines", line=edge, name=name)
    figure.draw_scatter(
        x=x,
        y=curve["tied"],
        mode="lines+markers",
        line={"color": palette.tied, "width": 2.5},
        marker=tied_dot(palette, 7),
        name="tied",
        customdata=curve[["worst", "best", "low", "high", "tie_ratio"]],
        hovertemplate=(
            "tie probability %{x:.2f}<br>tied %{y:.4f}<br>95% of shuffles %{customdata[2]:.4f} to "
            "%{customdata[3]:.4f}<br>worst %{customdata[0]:.4f}, best %{customdata[1]:.4f}<br>"
            "%{customdata[4]:.0%} of documents tied<extra></extra>"
        ),
    )
    _mark_probability(figure, curve.iloc[(x - probability).abs().to_numpy().argmin()], probability, palette)
    style(figure, palette, 360, l=47)
    floor, ceiling = float(curve["worst"].min()), float(curve["best"].max())
    room = max(ceiling - floor, 0.05)
    ends = [floor - 0.05 * room, ceiling + 0.28 * room]
    set_yaxes(figure, title_text=measure, range=ends)
    title = "tie probability"
    return set_xaxes(figure, title_text=title, tickformat=".1f", showgrid=False, range=[-0.02, 1.02])


def _mark_probability(figure: Figure, row: pd.Series, probability: float, palette: Palette) -> None:
    """Mark a tie probability by a line, with its figures beside it."""
    line = dotted_line(palette)
    figure.draw_shape(type="line", x0=probability, x1=probability, y0=0, y1=1, yref="paper", line=line)
    text = (
        f"<b style='color:{palette.tied}'>{row['tied']:.3f} tied</b><br>"
        f"<span style='color:{palette.traditional}'>{row['low']:.3f} – {row['high']:.3f}</span><br>"
        f"{percent(row['tie_ratio'])} of documents tied"
    )
    side = {"xanchor": "right", "xshift": -8} if probability > _RIGHT else {"xanchor": "left", "xshift": 8}
    note(figure, text, palette, x=probability, y=1, yref="paper", yanchor="top", align="left", **side)
