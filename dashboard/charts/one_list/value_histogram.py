"""How often a measure takes each value over the orderings of one list."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_diamond, tied_dot
from dashboard.charts.palette import Palette
from dashboard.charts.style import add_key, note, set_xaxes, set_yaxes, style
from metrics.evaluation import EQUAL

STEPS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25)
"""Steps of an axis of shares."""
BINS = 24
"""Bars of a histogram."""
_SAME_VALUE = 5e-5
"""Difference below which two values are written alike."""


def value_histogram(values: pd.DataFrame, marks: pd.Series, palette: Palette, measure: str) -> Figure:
    """Draw how often each value of a measure occurs over the orderings; where tied and traditional fall.

    Args:
        values: value, chance; rising.
        marks: tied, traditional, worst, best.
        palette: colours of the theme.
        measure: its name.
    """
    low = min(float(values["value"].min()), marks["worst"])
    high = max(float(values["value"].max()), marks["best"])
    span = high - low if high - low > EQUAL else 0.0
    bars = _bars(values, low, span)
    top = float(bars["chance"].max())
    figure = Figure().draw_bars(
        x=bars["middle"],
        y=bars["chance"],
        width=bars["width"],
        marker={"color": palette.heat[2]},
        customdata=[
            f"{bar.first:.4f}" if bar.last - bar.first < _SAME_VALUE else f"{bar.first:.4f} to {bar.last:.4f}"
            for bar in bars.itertuples()
        ],
        hovertemplate=f"{measure} %{{customdata}}<br>%{{y:.2%}} of orders<extra></extra>",
    )
    _add_marks(figure, marks, top, palette)
    if span:
        for name, side in (("worst", "left"), ("best", "right")):
            place = {"x": marks[name], "y": -0.25 * top, "xanchor": side, "yanchor": "middle", "yref": "y"}
            note(figure, f"{name} {marks[name]:.4f}", palette, **place)
    style(figure, palette, 320, t=28, l=54)
    step = next((step for step in STEPS if step * 4 >= top), STEPS[-1])
    ticks, ends = np.arange(0, top + step / 2, step), [-0.33 * top, 1.14 * top]
    set_yaxes(figure, title_text="share of orders", tickformat="~p", tickvals=ticks, range=ends)
    figure.set_layout(bargap=0, showlegend=False)
    room = max(0.12 * span, 0.05 * max(abs(high), 0.1))
    ends = [low - room, high + room]
    return set_xaxes(figure, title_text=measure, showgrid=False, nticks=7, range=ends)


def _add_marks(figure: Figure, marks: pd.Series, top: float, palette: Palette) -> None:
    """Add the range, the diamond and the dot below the bars, and a line from each of the two through them."""
    strip = -0.11 * top
    figure.draw_scatter(
        x=[marks["worst"], marks["best"]],
        y=[strip, strip],
        mode="lines",
        line={"color": palette.bounds, "width": 10},
        hovertemplate="worst to best: %{x:.4f}<extra></extra>",
    )
    add_diamond(figure, palette, marks["traditional"], strip, f"traditional {marks['traditional']:.4f}")
    figure.draw_scatter(
        x=[marks["tied"]],
        y=[strip],
        mode="markers",
        marker=tied_dot(palette, 8),
        hovertemplate="tied %{x:.4f}<extra></extra>",
    )
    colours = {"tied": palette.tied, "traditional": palette.traditional}
    for name, colour in colours.items():
        x = float(marks[name])
        line = {"color": colour, "width": 2}
        figure.draw_shape(type="line", x0=x, x1=x, y0=strip, y1=1.12 * top, line=line)
    add_key(figure, palette, [(name, colour, f"{marks[name]:.4f}") for name, colour in colours.items()])


def _bars(values: pd.DataFrame, low: float, span: float) -> pd.DataFrame:
    """Return first and last value, middle, width and chance of bars: one a value where these are few and apart.

    Else bins are even, from `low` on over the span of all values, 0 where there is one.
    """
    value = values["value"].to_numpy()
    if not span:
        bar = {"first": low, "last": low, "middle": low, "width": 0.02 * max(abs(low), 0.1)}
        return pd.DataFrame([bar | {"chance": values["chance"].sum()}])
    nearest = float(np.diff(value).min()) if len(value) > 1 else span
    if len(value) <= BINS and nearest >= span / (3 * BINS):
        width = min(0.9 * nearest, span / 14)
        return values.assign(first=value, last=value, middle=value, width=width)
    index = np.minimum(((value - low) / span * BINS).astype(int), BINS - 1)
    bars = values.groupby(index).agg(first=("value", "min"), last=("value", "max"), chance=("chance", "sum"))
    middle = low + (bars.index.to_numpy() + 0.5) * span / BINS
    return bars.assign(middle=middle, width=0.94 * span / BINS)
