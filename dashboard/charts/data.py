"""Charts of the Data pages: values of a column, versions of a reranker, lists over time."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.charts.figure import Figure, padded_range
from dashboard.charts.labels import hover_text, safe
from dashboard.charts.marks import add_band, add_legend, add_values, line_names, tied_dot, traditional_diamond
from dashboard.charts.palette import Palette, faded
from metrics.support.arrays import histogram

BARS = 60


def column_histogram(values: pa.ChunkedArray, palette: Palette, *, is_score: bool) -> Figure:
    """Draw a small histogram of scores (blue) or grades (grey); infinite values are skipped."""
    counts, middles = histogram(values.to_numpy(), BARS)
    figure = Figure(palette).style(72, t=2, b=2, l=0, r=0).set_layout(bargap=0.08)
    figure.draw_bars(
        x=np.arange(BARS),  # the browser can place neither neighbours in float64 nor the ends of its range
        y=counts,
        customdata=middles,
        marker={"color": palette.tied if is_score else palette.other},
        hovertemplate="%{y:,} rows near %{customdata:.4g}",
    )
    return figure.set_yaxes(visible=False).set_xaxes(visible=False)


VersionAxis = Literal["added", "version"]
"""Column of the x axis: time or version number."""
HEIGHT = 380
_PLOT_HEIGHT = 290
"""Approximate pixels of the y axis."""
_HOVER_COLUMNS = ["name", "added", "tied", "traditional", "worst", "best", "n_shared", "n_judged"]
_HOVER = (
    "<b>%{customdata[0]}</b><br>added %{customdata[1]}<br>tied %{customdata[2]:.4f}<br>traditional "
    "%{customdata[3]:.4f}<br>worst %{customdata[4]:.4f}, best %{customdata[5]:.4f}<br>"
    "%{customdata[6]} of %{customdata[7]} judged queries"
)


def version_history(
    versions: pd.DataFrame, palette: Palette, measure: str, colours: Mapping[str, str], axis: VersionAxis
) -> Figure:
    """Draw tied and traditional mean and the bounds of each version.

    `versions` has reranker, name, version, added (local time), tied, worst, best, traditional, n_shared and
    n_judged, oldest version first. A single reranker is blue.
    """
    groups = {
        str(name): group.sort_values(axis, kind="stable")
        for name, group in versions.groupby("reranker", sort=False)
    }
    is_alone = len(groups) == 1
    figure = Figure(palette).style(HEIGHT, r=12 if is_alone else 150)
    paint = {name: palette.tied if is_alone else colours[name] for name in groups}
    for name, group in groups.items():
        band = palette.bounds if is_alone else faded(paint[name], 0.2)
        outline = {"mode": "lines", "line": {"width": 0, "color": paint[name]}}
        add_band(figure, group[axis], group["worst"], group["best"], band, **outline)
    for name, group in groups.items():
        added = group["added"].dt.strftime("%Y-%m-%d %H:%M")
        readable = group.assign(name=group["name"].map(hover_text), added=added)[_HOVER_COLUMNS]
        hover = {"customdata": readable, "hovertemplate": _HOVER, "showlegend": False}
        add_values(figure, group, {"color": paint[name], "width": 2}, x=group[axis], **hover)
    band = palette.bounds if is_alone else faded(palette.muted, 0.3)
    marks = {
        "tied": tied_dot(palette) | {"color": palette.tied if is_alone else palette.muted},
        "traditional": traditional_diamond(palette),
        "worst to best case": {"symbol": "square", "size": 13, "color": band},
    }
    add_legend(figure, marks)
    low = float(versions[["worst", "traditional"]].min(axis=None))
    high = float(versions[["best", "traditional"]].max(axis=None))
    room = 0.08 * max(high - low, 0.02)
    figure.set_yaxes(title_text=safe(measure), range=(low - room, high + room))
    first, last = versions[axis].min(), versions[axis].max()
    if axis == "version":
        ends, step = [1 - 0.03 * last, last + 0.03 * last], max(1, int(last) // 12)
        look = {"title_text": "version, oldest first", "dtick": step, "tickformat": "d"}
    else:
        margin = max((last - first) * 0.03, pd.Timedelta(minutes=1))
        ends = [first - margin, last + margin]
        look = {"title_text": "date added to the library", "type": "date", "nticks": 8}
    figure.set_xaxes(range=ends, showgrid=False, **look)
    if not is_alone:
        newest = pd.DataFrame([group.loc[group[axis].idxmax()] for group in groups.values()])
        for row in newest.to_dict("records"):
            line = {"color": paint[str(row["reranker"])], "width": 1, "dash": "dot"}
            place = {"x0": row[axis], "x1": ends[1], "y0": row["tied"], "y1": row["tied"]}
            figure.draw_shape(type="line", layer="below", line=line, **place)
        line_names(figure, newest.set_index("reranker")["tied"], paint, _PLOT_HEIGHT)
    return figure


MAX_POINTS = 1500
"""Maximum points of a line."""
_MEAN_HOVER = (
    "<b>%{customdata[0]}</b>, query %{customdata[1]}<br>list %{x:,}: %{y:.4f}<br>bounds "
    "%{customdata[2]:.4f} to %{customdata[3]:.4f}<extra>%{meta}</extra>"
)


def running_means_chart(
    means: pd.DataFrame, palette: Palette, measure: str, window: int, change: int | None, order: str
) -> Figure:
    """Draw means and bounds of the latest `window` lists, and thin lines for the means of all lists so far.

    `means` is returned by `metrics.studies.history.running_means`. `change` is the number of lists before a
    change.
    """
    drawn_rows = np.unique(np.linspace(0, len(means) - 1, min(len(means), MAX_POINTS)).round().astype(int))
    rows = means.iloc[drawn_rows]
    late_rows = rows[rows["tied_of_late"].notna()]
    figure = Figure(palette).style(340, t=34, r=16).set_layout(showlegend=False)
    add_band(figure, late_rows["n"], late_rows["worst_of_late"], late_rows["best_of_late"], palette.bounds)
    colours = {"traditional": palette.traditional, "tied": palette.tied}
    for name, colour in colours.items():
        _add_mean(figure, rows, name, "", {"color": colour, "width": 1.2, "dash": "dot"})
        _add_mean(figure, late_rows, name, "_of_late", {"color": colour, "width": 2.4})
    latest = means.iloc[-1]
    entries = [(name, colour, f"{latest[f'{name}_of_late']:.4f}") for name, colour in colours.items()]
    others = [("dotted", palette.muted, "mean of all lists so far"), ("band", palette.muted, "worst to best")]
    figure.write_key([*reversed(entries), *others])
    values = [f"{name}{late}" for name in ("tied", "traditional") for late in ("", "_of_late")]
    plotted = rows[[*values, "worst_of_late", "best_of_late"]].to_numpy()
    title = safe(f"{measure}, last {window:,}")
    figure.set_yaxes(title_text=title, range=padded_range(plotted[~np.isnan(plotted)]))
    room = 0.02 * max(len(means), 2)
    figure.set_xaxes(title_text=f"list, {order}", range=[1 - room, len(means) + room], showgrid=False)
    if change is not None:
        side = "right" if change > len(means) / 2 else "left"
        place = {"x": change + 0.5, "xanchor": side, "y": 0, "yref": "paper", "yanchor": "bottom"}
        figure.draw_upright(change + 0.5).write(f"changed after {change:,}", **place)
    return figure


def _add_mean(figure: Figure, rows: pd.DataFrame, name: str, late: str, line: dict[str, object]) -> None:
    bounds = rows[[f"worst{late}", f"best{late}"]].to_numpy()
    texts = [[hover_text(str(text)) for text in rows[column]] for column in ("name", "query_id")]
    figure.draw_line(
        x=rows["n"],
        y=rows[f"{name}{late}"],
        line=line,
        customdata=np.array([*texts, *bounds.T], dtype=object).T,
        meta=f"{name}, {'latest' if late else 'all so far'}",
        hovertemplate=_MEAN_HOVER,
    )
