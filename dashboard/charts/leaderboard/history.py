"""Versions of rerankers, from the oldest to the newest."""

from collections.abc import Mapping
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note, safe, style

VersionAxis = Literal["added", "version"]
"""What runs along the x axis: time, or one version after the other."""
HEIGHT = 380
_WITHIN = 290
"""Pixels between the axes, about."""
_LINE = 17
"""Pixels from one name to the next."""
_SAID = ["name", "added", "tied", "traditional", "worst", "best", "n_shared", "n_judged"]


def version_history(
    rows: pd.DataFrame,
    palette: Palette,
    measure: str,
    colours: Mapping[str, str],
    by: VersionAxis,
) -> go.Figure:
    """Tied mean of each version with the band from worst to best, and the traditional value.

    Args:
        rows: reranker, name, version, added (time of the visitor), tied, worst, best, traditional, n_shared,
            n_judged; a reranker's versions one after the other, from the oldest on.
        palette: colours of the theme.
        measure: what the axis shows.
        colours: reranker → its colour; one alone is blue, as tied is.
        by: the column that is the x axis.
    """
    figure = go.Figure()
    groups = {str(name): part for name, part in rows.groupby("reranker", sort=False)}
    only = len(groups) == 1
    paint = {name: palette.tied if only else colours[name] for name in groups}
    for name, part in groups.items():
        part = part.sort_values(by, kind="stable")  # noqa: PLW2901 the same rows
        figure.add_scatter(
            x=[*part[by], *part[by][::-1]],
            y=[*part["worst"], *part["best"][::-1]],
            fill="toself",
            fillcolor=palette.bounds if only else faded(paint[name], 0.2),
            mode="lines",
            line={"width": 0, "color": paint[name]},
            hoverinfo="skip",
            showlegend=False,
        )
    for name, part in groups.items():
        _marks(figure, part.sort_values(by, kind="stable"), palette, paint[name], by)
    _legend(figure, palette, only=only)
    style(figure, palette, HEIGHT, r=12 if only else 150)
    low, high = _ends(rows)
    figure.update_yaxes(title_text=safe(measure), tickformat=".3~f", range=[low, high])
    _across(figure, rows, by)
    if not only:
        _names(figure, {name: part.loc[part[by].idxmax()] for name, part in groups.items()}, paint, palette, by)
    return figure


def _marks(figure: go.Figure, part: pd.DataFrame, palette: Palette, colour: str, by: VersionAxis) -> None:
    """A line of filled dots, tied, and hollow diamonds, traditional."""
    said = part[_SAID].assign(name=part["name"].map(safe), added=part["added"].dt.strftime("%Y-%m-%d %H:%M"))
    hover = (
        "<b>%{customdata[0]}</b><br>added %{customdata[1]}<br>tied %{customdata[2]:.4f}<br>traditional "
        "%{customdata[3]:.4f}<br>worst %{customdata[4]:.4f}, best %{customdata[5]:.4f}<br>"
        "%{customdata[6]} of %{customdata[7]} judged queries<extra></extra>"
    )
    hollow = {"symbol": "diamond-open", "size": 15, "color": palette.traditional, "line": {"width": 2}}
    dot = {"size": 9, "color": colour}
    for column, mode, marker in (("traditional", "markers", hollow), ("tied", "lines+markers", dot)):
        figure.add_scatter(
            x=part[by],
            y=part[column],
            mode=mode,
            marker=marker,
            line={"color": colour, "width": 2},
            customdata=said.to_numpy(),
            hovertemplate=hover,
            showlegend=False,
            cliponaxis=False,
        )


def _legend(figure: go.Figure, palette: Palette, *, only: bool) -> None:
    """What the marks mean; grey where each reranker has a colour of its own."""
    own = palette.tied if only else palette.muted
    band = palette.bounds if only else faded(palette.muted, 0.3)
    hollow = {"symbol": "diamond-open", "size": 15, "color": palette.traditional, "line": {"width": 2}}
    for name, marker in (
        ("tied", {"size": 9, "color": own}),
        ("traditional", hollow),
        ("worst to best order", {"symbol": "square", "size": 13, "color": band}),
    ):
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name, hoverinfo="skip")


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis of values."""
    low = float(rows[["worst", "traditional"]].min(axis=None))
    high = float(rows[["best", "traditional"]].max(axis=None))
    room = 0.08 * max(high - low, 0.02)
    return low - room, high + room


def _across(figure: go.Figure, rows: pd.DataFrame, by: VersionAxis) -> None:
    """The axis of versions or of time."""
    if by == "version":
        most = int(rows["version"].max())
        figure.update_xaxes(
            title_text="version, oldest first",
            range=[1 - 0.03 * most, most + 0.03 * most],
            dtick=max(1, most // 12),
            tickformat="d",
            showgrid=False,
        )
        return
    first, last = rows["added"].min(), rows["added"].max()
    room = max((last - first) * 0.03, pd.Timedelta(minutes=1))
    figure.update_xaxes(
        title_text="added to the library",
        type="date",
        range=[first - room, last + room],
        nticks=8,
        showgrid=False,
    )


def _names(
    figure: go.Figure, last: Mapping[str, pd.Series], paint: Mapping[str, str], palette: Palette, by: str
) -> None:
    """Each reranker named beyond its newest version, moved down where another is named already."""
    low, high = figure.layout.yaxis.range
    end = figure.layout.xaxis.range[1]
    below = -_LINE
    for name, row in sorted(last.items(), key=lambda one: -float(one[1]["tied"])):
        down = _WITHIN * (high - row["tied"]) / (high - low)
        below = max(down, below + _LINE)
        figure.add_shape(
            type="line",
            x0=row[by],
            x1=end,
            y0=row["tied"],
            y1=row["tied"],
            layer="below",
            line={"color": paint[name], "width": 1, "dash": "dot"},
        )
        place = {
            "x": 1,
            "xref": "paper",
            "xanchor": "left",
            "xshift": 6,
            "y": row["tied"],
            "yshift": down - below,
        }
        note(figure, safe(name, 20), palette, **place, font={"size": 12, "color": paint[name]})
