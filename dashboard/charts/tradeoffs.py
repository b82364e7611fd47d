"""Charts of quality against latency and diversity."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts import marks
from dashboard.charts.figure import BELOW, BELOW_TICKS, Figure, padded_range, value_axis
from dashboard.charts.labels import text_columns
from dashboard.charts.marks import Box, PlotArea
from dashboard.charts.palette import Palette, faded
from metrics.studies.prose import decimal, signed_decimals
from metrics.studies.tradeoffs import duration
from metrics.support.arrays import BoolArray, FloatArray

_MIN_SECONDS = 1e-9
"""Seconds below which latencies are equal."""
_LOSS, _TARGETS = 88, 60
"""Pixels right of the recall, for the difference and for the targets."""
_BUDGET_REACH = 5
"""Factor by which a budget outside the latencies still extends the axis."""


def latency_scatter(
    timed: pd.DataFrame, palette: Palette, measure: str, latency: str, budget: float | None = None
) -> Figure:
    """Draw quality against latency on a log axis, and the Pareto fronts of tied and traditional scores.

    Zero latency is drawn at the left edge. Rerankers far below all others are drawn at the lower edge with
    their figures. Of many rerankers only those on a front have bars: worst to best case, and median to 95th
    percentile.

    `timed` has seconds, mean, p50, p95, tied, traditional, worst, best, tied_front, traditional_front and
    standing, indexed by reranker. `latency` names the statistic in `seconds`.
    """
    timed = timed[timed["standing"] != "not timed"]
    values, seconds = timed[marks.VALUES].copy(), timed[["seconds", "p50", "p95"]]
    has_bars = timed["tied_front"] | timed["traditional_front"] | (len(timed) <= marks.MOST_BARS)
    values.loc[~has_bars, ["worst", "best"]] = values.loc[~has_bars, ["tied", "tied"]].to_numpy()
    is_far_below = _is_far_below(values)
    bottom, top = padded_range(values[~is_far_below].to_numpy())
    low, high, zero = _latency_range(seconds.to_numpy(), budget)
    plot = PlotArea(np.log10(low), np.log10(high), bottom, top, marks.WIDE)
    edge = bottom + 0.05 * (top - bottom)
    spots = timed.assign(
        **values.clip(lower=edge).where(is_far_below, values, axis=0),
        **np.log10(seconds.clip(lower=_MIN_SECONDS).where(seconds > 0, zero)),
    )
    figure = Figure(palette).style(marks.TALL + 90, t=46, r=8, l=49, b=BELOW - 4)
    lines = _add_budget(figure, budget, plot)
    bars = spots[has_bars]
    bounds = spots.loc[has_bars & ~is_far_below, ["worst", "best"]]
    marks.add_segments(figure, 10 ** bars["seconds"], bounds, palette.bounds, 9)
    marks.add_segments(figure, 10 ** bars[["p50", "p95"]], bars["tied"], palette.other, 4)
    for value, colour in (("traditional", palette.traditional), ("tied", palette.tied)):
        lines += _add_front(figure, spots, value, colour, plot)
    lines += [plot.box((row.p50, row.p95), (row.tied, row.tied)) for row in bars.itertuples()]
    lines += [plot.box((row.seconds, row.seconds), (row.worst, row.best), 5) for row in bars.itertuples()]
    marks.add_values(figure, spots, x=10 ** spots["seconds"], **_hover(timed))
    figure.set_layout(legend={"traceorder": "reversed"})
    figure.set_yaxes(title_text=measure, nticks=7, range=[bottom, top])
    ticks = _ticks(low, high, zero)
    figure.set_xaxes(
        title_text=f"latency per query, {latency}, log scale",
        type="log",
        range=[plot.left, plot.right],
        tickvals=list(ticks),
        ticktext=list(ticks.values()),
    )
    places = spots[["seconds", "tied", "traditional"]].to_numpy()
    is_front, figures = timed["tied_front"].to_numpy(dtype=bool), _figures(timed, is_far_below, palette)
    return marks.add_names(figure, list(timed.index), is_front, places, plot, lines, figures)


def _is_far_below(values: pd.DataFrame) -> "pd.Series[bool]":
    """Return the rerankers that would take half of the axis from all others."""
    order = values.min(axis=1).sort_values(kind="stable").index
    for count in range(1, (len(order) - 1) // 3 + 1):
        above, below = values.loc[order[count:]], values.loc[order[:count]]
        jump = above.min(axis=None) - below.max(axis=None)
        if jump > max(above.max(axis=None) - above.min(axis=None), 0.02):
            return values.index.to_series().isin(order[:count])
    return pd.Series(data=False, index=values.index)


def _latency_range(seconds: FloatArray, budget: float | None) -> tuple[float, float, float | None]:
    """Return the ends of the axis in seconds, and where 0 is drawn if a latency is 0."""
    positive = np.maximum(seconds[seconds > 0], _MIN_SECONDS)
    low, high = (positive.min(), positive.max()) if len(positive) else (1e-3, 1e-3)
    if budget is not None and low / _BUDGET_REACH < budget < high * _BUDGET_REACH:
        low, high = min(low, budget), max(high, budget)
    zero = low / 4 if (seconds == 0).any() else None
    low = low if zero is None else zero
    decades = np.log10(high / low)
    room = max(0.06 * decades, (0.6 - decades) / 2, 0.1)
    return float(low / 10**room), float(high * 10**room), zero


def _ticks(low: float, high: float, zero: float | None) -> dict[float, str]:
    """Return seconds → label of the ticks."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    decades = np.log10(high / low)
    steps = (1, 2, 3, 5) if decades < 1.2 else (1, 3) if decades < 3.5 else (1,)  # noqa: PLR2004 as room allows
    values = [step * 10.0**power for power in powers[:: int(np.ceil(decades / 7))] for step in steps]
    first = low if zero is None else 2.5 * zero
    ticks = {value: duration(value) for value in values if first <= value <= high}
    return ticks if zero is None else {zero: "0"} | ticks


def _add_budget(figure: Figure, budget: float | None, plot: PlotArea) -> list[Box]:
    """Shade latencies above the budget; return what its line and label cover."""
    place = np.inf if budget is None else np.log10(max(budget, _MIN_SECONDS))
    if budget is None or place >= plot.right:
        return []
    start = max(place, plot.left)
    look = {"fillcolor": figure.palette.faint, "line": {"width": 0}, "layer": "below"}
    ends = {"x0": 10.0**start, "x1": 10.0**plot.right, "y0": 0, "y1": 1, "yref": "paper"}
    figure.draw_shape(type="rect", **ends, **look)
    if place > plot.left:
        figure.draw_upright(budget, layer="below")
    text = f"over {duration(budget)} →"
    figure.write(text, x=start, xanchor="left", xshift=6, y=0, yref="paper", yanchor="bottom")
    left, _, bottom, _ = plot.box((start, start), (plot.bottom, plot.bottom), 0)
    words = (left, left + 10 + 6.3 * text_columns(text), bottom - marks.LINE - 4, bottom)
    return [words, plot.box((place, place), (plot.bottom, plot.top))] * 4


def _add_front(figure: Figure, spots: pd.DataFrame, value: str, colour: str, plot: PlotArea) -> list[Box]:
    """Draw a Pareto front as steps; return what it covers."""
    front = spots[spots[f"{value}_front"]].sort_values("seconds")
    x, y = [*front["seconds"], plot.right], [plot.bottom, *front[value]]
    is_tied = value == "tied"
    figure.draw_line(
        x=10.0 ** np.array([x[0], *x]),
        y=[*y, y[-1]],
        line={"color": colour, "width": 2, "shape": "hv", "dash": "solid" if is_tied else "dot"},
        fill="tozeroy" if is_tied else None,
        fillcolor=faded(colour, 0.06),
        name=f"Pareto front, {value}",
    )
    flat = [plot.box(ends, (height, height)) for ends, height in zip(pairwise(x), y[1:], strict=True)]
    upright = [plot.box((place, place), ends) for place, ends in zip(x, pairwise(y), strict=False)]
    return 2 * (flat + upright)


def _hover(timed: pd.DataFrame) -> dict[str, Any]:
    """Return the actual figures, also of rerankers drawn at an edge."""
    times = timed[["p50", "p95", "mean"]].map(duration)
    rows = timed[["tied", "traditional"]].astype(object).join(times)
    text = (
        "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
        "<br>median %{customdata[3]}, 95th percentile %{customdata[4]}, mean %{customdata[5]}"
    )
    return {"customdata": marks.named_rows(timed.index, rows.to_numpy()), "hovertemplate": text}


def _figures(timed: pd.DataFrame, is_far_below: BoolArray, palette: Palette) -> list[str]:
    """Return what follows the names of rerankers at the lower edge."""
    return [
        f" ↓ <span style='color:{palette.tied}'>{row.tied:.3f}</span>"
        f" <span style='color:{palette.traditional}'>{row.traditional:.3f}</span>"
        if is_low
        else ""
        for row, is_low in zip(timed.itertuples(), is_far_below, strict=True)
    ]


def recall_dumbbell(covered: pd.DataFrame, palette: Palette, k: int) -> Figure:
    """Draw the loss from Recall@k (ring) to DR@k (dot), one row per reranker, with Div@k beside it.

    `covered` has recall, distinct, lost, repeated and targets, the last with _worst and _best.
    """
    rows = pd.Series(np.arange(len(covered)), covered.index)
    figure = Figure(palette).style(
        84 + marks.row_height(len(covered)) * len(covered), r=_LOSS + _TARGETS, t=38, b=BELOW_TICKS
    )
    marks.add_segments(figure, covered[["recall", "distinct"]], rows, palette.faint, 6)
    ring = {"size": 10, "color": palette.ground, "line": {"color": palette.muted, "width": 2}}
    hover = covered[["recall", "distinct", "repeated", "targets", "targets_worst", "targets_best"]]
    for column, marker in (("recall", ring), ("distinct", marks.tied_dot(palette))):
        figure.draw_marks(
            x=covered[column],
            y=rows,
            marker=marker,
            customdata=marks.named_rows(covered.index, hover.to_numpy()),
            hovertemplate=f"<b>%{{customdata[0]}}</b><br>Recall@{k} %{{customdata[1]:.4f}}<br>DR@{k} "
            "%{customdata[2]:.4f}<br>%{customdata[3]:.1%} of the relevant documents repeat a target<br>"
            f"Div@{k} %{{customdata[4]:.4f}}, worst to best %{{customdata[5]:.4f}} – %{{customdata[6]:.4f}}",
        )
    for column, shift, title in (("lost", _LOSS, "DR − Recall"), ("targets", _LOSS + _TARGETS, f"Div@{k}")):
        place = {"xref": "paper", "x": 1, "xanchor": "right", "xshift": shift - 6}
        figure.write(title, **place, yref="paper", y=1, yanchor="bottom", font={"color": palette.muted})
        for row, value in enumerate(covered[column]):
            figure.write(
                signed_decimals(-value) if column == "lost" else decimal(value, 2), **place, yref="y", y=row
            )
    marks.label_rows(figure, covered.index)
    figure.set_layout(showlegend=False)
    return figure.set_xaxes(nticks=3, tickangle=0, **value_axis(covered[["recall", "distinct"]].to_numpy()))
