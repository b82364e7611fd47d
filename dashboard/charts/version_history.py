"""Versions of rerankers, from the oldest to the newest."""

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.marks import add_band, add_legend, add_values, tied_dot, traditional_diamond
from dashboard.charts.name_places import line_names
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import safe, set_xaxes, set_yaxes, style

VersionAxis = Literal["added", "version"]
"""What runs along the x axis: time, or one version after the other."""
HEIGHT = 380
_PLOT_HEIGHT = 290
"""Pixels between the axes, about."""
_HOVER_COLUMNS = ["name", "added", "tied", "traditional", "worst", "best", "n_shared", "n_judged"]
_HOVER = (
    "<b>%{customdata[0]}</b><br>added %{customdata[1]}<br>tied %{customdata[2]:.4f}<br>traditional "
    "%{customdata[3]:.4f}<br>worst %{customdata[4]:.4f}, best %{customdata[5]:.4f}<br>"
    "%{customdata[6]} of %{customdata[7]} judged queries<extra></extra>"
)


def version_history(
    versions: pd.DataFrame, palette: Palette, measure: str, colours: Mapping[str, str], axis: VersionAxis
) -> Figure:
    """Draw the tied mean of each version with the band from worst to best, and the traditional value.

    Args:
        versions: reranker, name, version, added (time of the visitor), tied, worst, best, traditional,
            n_shared, n_judged; a reranker's versions one after the other, from the oldest on.
        palette: colours of the theme.
        measure: title of the y axis.
        colours: reranker → its colour; one alone is blue, as tied is.
        axis: the column that is the x axis.
    """
    figure = Figure()
    groups = {
        str(name): group.sort_values(axis, kind="stable")
        for name, group in versions.groupby("reranker", sort=False)
    }
    is_alone = len(groups) == 1
    paint = {name: palette.tied if is_alone else colours[name] for name in groups}
    for name, group in groups.items():
        band = palette.bounds if is_alone else faded(paint[name], 0.2)
        outline = {"mode": "lines", "line": {"width": 0, "color": paint[name]}, "showlegend": False}
        add_band(figure, group[axis], group["worst"], group["best"], band, **outline)
    for name, group in groups.items():
        _add_line(figure, group, palette, paint[name], axis)
    own = palette.tied if is_alone else palette.muted
    band = palette.bounds if is_alone else faded(palette.muted, 0.3)
    marks = {
        "tied": tied_dot(palette) | {"color": own},
        "traditional": traditional_diamond(palette),
        "worst to best order": {"symbol": "square", "size": 13, "color": band},
    }
    add_legend(figure, marks)
    style(figure, palette, HEIGHT, r=12 if is_alone else 150)
    set_yaxes(figure, title_text=safe(measure), range=_value_range(versions))
    _set_version_axis(figure, versions, axis)
    if not is_alone:
        newest = pd.DataFrame([group.loc[group[axis].idxmax()] for group in groups.values()])
        _add_names(figure, newest, paint, palette, axis)
    return figure


def _add_line(figure: Figure, group: pd.DataFrame, palette: Palette, colour: str, axis: VersionAxis) -> None:
    """Add the versions of one reranker: a line of dots, and diamonds."""
    readable = group.assign(
        name=group["name"].map(hover_text), added=group["added"].dt.strftime("%Y-%m-%d %H:%M")
    )
    hover = {"customdata": readable[_HOVER_COLUMNS].to_numpy(), "hovertemplate": _HOVER}
    line = {"color": colour, "width": 2}
    add_values(figure, group, palette, line, x=group[axis], **hover, showlegend=False)


def _value_range(versions: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis of values."""
    low = float(versions[["worst", "traditional"]].min(axis=None))
    high = float(versions[["best", "traditional"]].max(axis=None))
    room = 0.08 * max(high - low, 0.02)
    return low - room, high + room


def _set_version_axis(figure: Figure, versions: pd.DataFrame, axis: VersionAxis) -> None:
    """Set the axis of versions or of time."""
    first, last = versions[axis].min(), versions[axis].max()
    if axis == "version":
        ends = [1 - 0.03 * last, last + 0.03 * last]
        step = max(1, int(last) // 12)
        set_xaxes(figure, title_text="version, oldest first", range=ends, dtick=step, tickformat="d")
    else:
        room = max((last - first) * 0.03, pd.Timedelta(minutes=1))
        ends = [first - room, last + room]
        set_xaxes(figure, title_text="added to the library", type="date", range=ends, nticks=8)
    set_xaxes(figure, showgrid=False)


def _add_names(
    figure: Figure, newest: pd.DataFrame, paint: Mapping[str, str], palette: Palette, axis: VersionAxis
) -> None:
    """Name each reranker beyond its newest version, as near to its value as other names allow."""
    end = figure.settings["xaxis"]["range"][1]
    for row in newest.to_dict("records"):
        line = {"color": paint[str(row["reranker"])], "width": 1, "dash": "dot"}
        ends = {"x0": row[axis], "x1": end, "y0": row["tied"], "y1": row["tied"]}
        figure.draw_shape(type="line", layer="below", line=line, **ends)
    values = newest.set_index("reranker")["tied"]
    figure.write_notes(line_names(values, paint, palette, figure.settings["yaxis"]["range"], _PLOT_HEIGHT))
