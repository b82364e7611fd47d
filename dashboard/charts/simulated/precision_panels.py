"""One reranker's score as its scores are held in fewer and fewer digits."""

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import dotted_line, tied_dot, traditional_diamond
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW_TICKS, safe, style, tie_ratio_axis
from metrics.support.wording import percent, with_signs

_HOVER_COLUMNS = ["tied", "worst", "best", "low", "high", "traditional"]
_HOVER = (
    "<b>%{x}</b><br>tied %{customdata[0]:.4f}<br>traditional %{customdata[5]:.4f}<br>95% of shuffles "
    "%{customdata[3]:.4f} to %{customdata[4]:.4f}<br>worst %{customdata[1]:.4f}, best %{customdata[2]:.4f}"
    "<extra></extra>"
)


def precision_panels(curve: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the tie ratio above and the mean below, a format a column; fewer digits to the right.

    Args:
        curve: label, precision, tie_ratio, tied, traditional, worst, best, low, high of one reranker, as
            `precision_curve` returns it.
        palette: colours of the theme.
        measure: how the mean is called.
    """
    figure = Figure()
    figure.draw_bars(
        x=curve["label"],
        y=curve["tie_ratio"],
        yaxis="y2",
        marker={"color": palette.other},
        text=[with_signs(percent(ratio)) for ratio in curve["tie_ratio"]],
        constraintext="none",
        textposition="outside",
        textfont={"color": palette.muted, "size": 11},
        textangle=0,
        cliponaxis=False,
        width=0.5,
        hovertemplate="<b>%{x}</b><br>%{y:.2%} of documents tied<extra></extra>",
        showlegend=False,
    )
    _add_means(figure, curve, palette)
    edge = int((~curve["precision"].str.startswith(("decimals", "grades"))).sum()) - 0.5
    line = dotted_line(palette) | {"color": palette.other}
    figure.draw_shape(type="line", x0=edge, x1=edge, y0=0, y1=1, yref="paper", line=line)
    style(figure, palette, 470, l=60, b=BELOW_TICKS)
    _set_axes(figure, curve, palette, measure)
    return figure


def _add_means(figure: Figure, curve: pd.DataFrame, palette: Palette) -> None:
    """Add the range from worst to best, that of most shuffles, the diamonds and the line of dots."""
    common = {"x": curve["label"], "customdata": curve[_HOVER_COLUMNS], "hovertemplate": _HOVER}
    for low, high, colour, width, name in (
        ("worst", "best", palette.bounds, 0.5, "worst to best"),
        ("low", "high", palette.traditional, 0.16, "95% of shuffles"),
    ):
        length, marker = curve[high] - curve[low], {"color": colour}
        figure.draw_bars(y=length, base=curve[low], width=width, marker=marker, name=name, **common)
    diamond, line = traditional_diamond(palette, 13), {"color": palette.tied, "width": 2}
    figure.draw_scatter(y=curve["traditional"], mode="markers", marker=diamond, name="traditional", **common)
    dot = tied_dot(palette, 8)
    figure.draw_scatter(y=curve["tied"], mode="lines+markers", marker=dot, line=line, name="tied", **common)


def _set_axes(figure: Figure, curve: pd.DataFrame, palette: Palette, measure: str) -> None:
    """Set the axis of the mean below, that of the tie ratio above, and the formats."""
    floor, ceiling = float(curve["worst"].min()), float(curve["best"].max())
    room = 0.08 * max(ceiling - floor, 0.05)
    ratios = tie_ratio_axis(palette, (0.7, 1), (0, 1.15))
    ends = [floor - room, ceiling + room]
    means = {"domain": [0, 0.6], "title": {"text": safe(measure)}, "range": ends}
    formats = {"type": "category", "showgrid": False, "anchor": "y"}
    figure.set_layout(barmode="overlay", xaxis=formats, yaxis=means, yaxis2=ratios)
