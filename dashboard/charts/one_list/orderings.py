"""What a measure comes to over the orderings of one list, and how sampling finds its mean."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.one_list.query import diamond
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, style

STEPS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25)
"""Steps of an axis of shares."""
BINS = 24
"""Bars of a histogram."""
CONFIDENT = 1.96
"""Standard errors to each side of a mean that hold the true one 95 times of 100."""


def value_histogram(table: pd.DataFrame, marks: pd.Series, palette: Palette, measure: str) -> go.Figure:
    """How often each value of a measure occurs over the orderings; where tied and traditional fall.

    Args:
        table: value, chance.
        marks: tied, traditional, worst, best.
        palette: colours of the theme.
        measure: its name.
    """
    low = min(float(table["value"].min()), marks["worst"])
    high = max(float(table["value"].max()), marks["best"])
    span = high - low
    bars = _bars(table, low, high)
    top = float(bars["chance"].max())
    said = [
        f"{row.first:.4f}" if row.last - row.first < 5e-5 else f"{row.first:.4f} to {row.last:.4f}"  # noqa: PLR2004
        for row in bars.itertuples()
    ]
    figure = go.Figure(
        go.Bar(
            x=bars["middle"],
            y=bars["chance"],
            width=bars["width"],
            marker={"color": palette.heat[2], "line": {"width": 0}},
            customdata=said,
            hovertemplate=f"{measure} %{{customdata}}<br>%{{y:.2%}} of orderings<extra></extra>",
            showlegend=False,
        )
    )
    strip, pad = -0.11 * top, max(0.12 * span, 0.05 * max(abs(high), 0.1))
    figure.add_scatter(
        x=[marks["worst"], marks["best"]],
        y=[strip, strip],
        mode="lines",
        line={"color": palette.bounds, "width": 10},
        hovertemplate="worst to best: %{x:.4f}<extra></extra>",
        showlegend=False,
    )
    diamond(figure, palette, marks["traditional"], strip, f"traditional {marks['traditional']:.4f}")
    figure.add_scatter(
        x=[marks["tied"]],
        y=[strip],
        mode="markers",
        marker={"size": 8, "color": palette.tied},
        hovertemplate="tied %{x:.4f}<extra></extra>",
        showlegend=False,
    )
    for name, colour in (("tied", palette.tied), ("traditional", palette.traditional)):
        line = {"color": colour, "width": 2}
        at = float(marks[name])
        figure.add_shape(type="line", x0=at, x1=at, y0=strip, y1=1.12 * top, line=line)
    _told(
        figure,
        f"{_coloured('tied', palette.tied)} {marks['tied']:.4f} &nbsp; "
        f"{_coloured('traditional', palette.traditional)} {marks['traditional']:.4f}",
        palette,
    )
    if span:
        for name, side in (("worst", "left"), ("best", "right")):
            words = f"{name} {marks[name]:.4f}"
            note(figure, words, palette, x=marks[name], y=-0.25 * top, xanchor=side, yanchor="middle", yref="y")
    style(figure, palette, 320, t=28)
    step = next((step for step in STEPS if step * 4 >= top), STEPS[-1])
    ticks = np.arange(0, top + step / 2, step)
    figure.update_yaxes(
        title_text="share of orderings", tickformat=".2~%", tickvals=ticks, range=[-0.33 * top, 1.14 * top]
    )
    figure.update_layout(bargap=0)
    return figure.update_xaxes(
        title_text=measure, showgrid=False, tickformat=".2~f", nticks=7, range=[low - pad, high + pad]
    )


def _bars(table: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """Bars of a histogram: one a value where values are few and apart, else even bins.

    Returns:
        first and last (values inside), middle, width, chance.
    """
    values, span = table["value"].to_numpy(), high - low
    nearest = float(np.diff(values).min()) if len(values) > 1 else span
    if len(values) <= BINS and nearest >= span / (3 * BINS):
        width = min(0.9 * nearest, span / 14) or 0.02
        return pd.DataFrame(
            {"first": values, "last": values, "middle": values, "width": width, "chance": table["chance"]}
        )
    place = np.minimum(((values - low) / span * BINS).astype(int), BINS - 1)
    bars = table.groupby(place).agg(first=("value", "min"), last=("value", "max"), chance=("chance", "sum"))
    middle = low + (bars.index.to_numpy() + 0.5) * span / BINS
    return bars.assign(middle=middle, width=0.94 * span / BINS)


def sampling_convergence(means: pd.DataFrame, exact: float, palette: Palette, measure: str) -> go.Figure:
    """The mean of the orderings drawn so far, with its error, nearing the exact value.

    Args:
        means: draws, mean, standard_error.
        exact: the tied value.
        palette: colours of the theme.
        measure: its name.
    """
    error = CONFIDENT * means["standard_error"]
    low, high = (means["mean"] - error).clip(lower=0), means["mean"] + error
    figure = go.Figure()
    figure.add_scatter(
        x=np.r_[means["draws"], means["draws"][::-1]],
        y=np.r_[high, low[::-1]],
        fill="toself",
        mode="none",
        fillcolor="rgba(139,148,158,0.28)",
        hoverinfo="skip",
        showlegend=False,
    )
    first, last = float(means["draws"].iloc[0]), float(means["draws"].iloc[-1])
    figure.add_scatter(
        x=[first, last],
        y=[exact, exact],
        mode="lines",
        line={"color": palette.tied, "width": 2.5},
        hovertemplate="exact: %{y:.4f}<extra></extra>",
        showlegend=False,
    )
    figure.add_scatter(
        x=means["draws"],
        y=means["mean"],
        mode="lines",
        line={"color": palette.text, "width": 1.8},
        customdata=error,
        hovertemplate="mean of %{x:,} draws: %{y:.4f} ± %{customdata:.4f}<extra></extra>",
        showlegend=False,
    )
    bottom, top = float(min(low.min(), exact)), float(max(high.max(), exact))
    room = 0.06 * (top - bottom) or 0.01
    told = means.iloc[-1]
    _told(
        figure,
        f"{_coloured('exact', palette.tied)} {exact:.4f} &nbsp; {_coloured('drawn', palette.text)} "
        f"{told['mean']:.4f}, standard error {told['standard_error']:.4f}",
        palette,
    )
    style(figure, palette, 300, t=28)
    figure.update_yaxes(
        title_text=f"mean {measure}", tickformat=".3~r", nticks=6, range=[bottom - room, top + room]
    )
    return figure.update_xaxes(
        title_text="orderings drawn",
        type="log",
        showgrid=False,
        tickformat="~s",
        dtick=1,
        range=[np.log10(first), np.log10(last)],
    )


def _coloured(word: str, colour: str) -> str:
    return f"<b style='color:{colour}'>{word}</b>"


def _told(figure: go.Figure, text: str, palette: Palette) -> None:
    """What the lines of a figure stand for, above it."""
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
    note(figure, text, palette, font={"size": 13, "color": palette.muted}, **place)
