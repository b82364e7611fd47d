"""Charts of the simulator: a small list, growing ties, fewer digits, sampled orders."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import BELOW_TICKS, Figure, tie_ratio_axis
from dashboard.charts.labels import safe
from dashboard.charts.marks import UNCERTAIN, add_band, tied_dot, traditional_diamond
from dashboard.charts.palette import Palette, faded
from metrics.studies.gaps import Z_95
from metrics.support.wording import percent, with_signs

_RIGHT = 0.6
"""Tie probability from which labels stand left of their line."""


def tie_growth(curve: pd.DataFrame, palette: Palette, measure: str, probability: float) -> Figure:
    """Draw a mean against tie probability: tied score, 95% of random orders, and bounds.

    `curve` has tie_probability (rising), tie_ratio, tied, worst, best, low and high; `probability` is marked.
    """
    figure, x = Figure(palette).style(330, l=47), curve["tie_probability"]
    for low, high, colour, name in (
        ("worst", "best", palette.bounds, "worst to best"),
        ("low", "high", faded(palette.traditional, 0.42), "95% of random orders"),
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
            "tie probability %{x:.2f}<br>tied %{y:.4f}<br>95% of random orders %{customdata[2]:.4f} to "
            "%{customdata[3]:.4f}<br>worst %{customdata[0]:.4f}, best %{customdata[1]:.4f}<br>"
            "%{customdata[4]:.0%} of documents tied"
        ),
    )
    row = curve.iloc[(x - probability).abs().to_numpy().argmin()]
    text = (
        f"<b style='color:{palette.tied}'>{row['tied']:.3f} tied</b><br>"
        f"<span style='color:{palette.traditional}'>{row['low']:.3f} – {row['high']:.3f}</span><br>"
        f"{percent(row['tie_ratio'])} of documents tied"
    )
    side = {"xanchor": "right", "xshift": -8} if probability > _RIGHT else {"xanchor": "left", "xshift": 8}
    place = {"x": probability, "y": 1, "yref": "paper", "yanchor": "top", "align": "left"}
    figure.draw_upright(probability).write(text, **place, **side)
    floor, ceiling = float(curve["worst"].min()), float(curve["best"].max())
    room = max(ceiling - floor, 0.05)
    figure.set_yaxes(title_text=measure, range=[floor - 0.05 * room, ceiling + 0.28 * room])
    look = {"tickformat": ".1f", "showgrid": False, "range": [-0.02, 1.02]}
    return figure.set_xaxes(title_text="tie probability", **look)


_HOVER_COLUMNS = ["tied", "worst", "best", "low", "high", "traditional"]
_HOVER = (
    "<b>%{x}</b><br>tied %{customdata[0]:.4f}<br>traditional %{customdata[5]:.4f}<br>95% of random orders "
    "%{customdata[3]:.4f} to %{customdata[4]:.4f}<br>worst %{customdata[1]:.4f}, best %{customdata[2]:.4f}"
)


def precision_panels(curve: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw tie ratio above and mean below for each number format of `precision_curve`."""
    figure = Figure(palette).style(390, l=60, b=BELOW_TICKS)
    figure.draw_bars(
        x=curve["label"],
        y=curve["tie_ratio"],
        yaxis="y2",
        marker={"color": palette.other},
        text=[with_signs(percent(ratio)) for ratio in curve["tie_ratio"]],
        constraintext="none",
        textfont={"color": palette.muted, "size": 11},
        textangle=0,
        width=0.5,
        hovertemplate="<b>%{x}</b><br>%{y:.2%} of documents tied",
    )
    common = {"x": curve["label"], "customdata": curve[_HOVER_COLUMNS], "hovertemplate": _HOVER}
    for low, high, colour, width, name in (
        ("worst", "best", palette.bounds, 0.5, "worst to best"),
        ("low", "high", palette.traditional, 0.16, "95% of random orders"),
    ):
        length, marker = curve[high] - curve[low], {"color": colour}
        figure.draw_bars(y=length, base=curve[low], width=width, marker=marker, name=name, **common)
    diamond, line = traditional_diamond(palette, 13), {"color": palette.tied, "width": 2}
    figure.draw_marks(y=curve["traditional"], marker=diamond, name="traditional", **common)
    dot = tied_dot(palette, 8)
    figure.draw_scatter(y=curve["tied"], mode="lines+markers", marker=dot, line=line, name="tied", **common)
    edge = int((~curve["precision"].str.startswith(("decimals", "grades"))).sum()) - 0.5
    figure.draw_upright(edge, line={"color": palette.other}, yref="paper")
    floor, ceiling = float(curve["worst"].min()), float(curve["best"].max())
    room = 0.08 * max(ceiling - floor, 0.05)
    ends = [floor - room, ceiling + room]
    means = {"domain": [0, 0.6], "title": {"text": safe(measure)}, "range": ends}
    formats = {"type": "category", "showgrid": False, "anchor": "y"}
    ratios = tie_ratio_axis((0.7, 1), (0, 1.15))
    return figure.set_layout(barmode="overlay", xaxis=formats, yaxis=means, yaxis2=ratios)


def sampling_convergence(means: pd.DataFrame, exact: float, palette: Palette, measure: str) -> Figure:
    """Draw the running mean of sampled orders on a log axis, with its confidence interval and the exact value.

    `means` has draws, mean and standard_error.
    """
    draws, mean = means["draws"], means["mean"]
    error = Z_95 * means["standard_error"]
    low, high = (mean - error).clip(lower=0), mean + error
    ends = [float(draws.iloc[0]), float(draws.iloc[-1])]
    figure = Figure(palette).style(300, t=28, r=20, l=54).set_layout(showlegend=False)
    add_band(figure, draws, low, high, UNCERTAIN)
    line = {"color": palette.tied, "width": 2.5}
    figure.draw_line(x=ends, y=[exact, exact], line=line, hovertemplate="exact: %{y:.4f}")
    figure.draw_line(
        x=draws,
        y=mean,
        line={"color": palette.text, "width": 1.8},
        customdata=error,
        hovertemplate="mean of %{x:,} sampled orders: %{y:.4f} ± %{customdata:.4f}",
    )
    key = (
        f"<b style='color:{palette.tied}'>exact</b> {exact:.4f} &nbsp; <b style='color:{palette.text}'>sampled"
        f"</b> {mean.iloc[-1]:.4f}, SE {means['standard_error'].iloc[-1]:.4f}"
    )
    figure.write(key, x=0, xref="paper", xanchor="left", y=1, yref="paper", yanchor="bottom")
    plotted_values = [*low, *high, *mean, exact]
    bottom, top = float(min(plotted_values)), float(max(plotted_values))
    room = 0.06 * (top - bottom) or 0.012
    figure.set_yaxes(title_text=f"mean {measure}", nticks=6, range=[bottom - room, top + room])
    look = {"type": "log", "showgrid": False, "tickformat": "~s", "dtick": 1, "range": np.log10(ends)}
    return figure.set_xaxes(title_text="sampled tie orders", **look)
