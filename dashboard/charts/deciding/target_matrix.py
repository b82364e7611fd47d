"""Every target of every reranker, by what the pass rests on."""

from collections.abc import Sequence
from math import cos, radians
from typing import Any

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import (
    SLOPE_COLUMNS,
    TEXT_COLUMNS,
    chart_names,
    escaped,
    hover_text,
    short_names,
    text_columns,
)
from dashboard.charts.marks import tied_dot, traditional_diamond
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, set_yaxes, style

MAX_COLUMNS = 30
"""Rerankers whose targets are drawn side by side."""
_LEVEL_NAMES = 2
"""Names that fit side by side."""
_SLANT = 40
"""Degrees by which a reranker's name is turned."""
_ROW, _COLUMN, _LETTER = 28, 24, 7
"""Pixels of a target's row, of a reranker's column where they are many, and of a letter."""


def matrix_width(n_rerankers: int) -> int:
    """Return the pixels across that so many rerankers need, on however small a screen."""
    return max(340, 300 + _COLUMN * min(n_rerankers, MAX_COLUMNS))


def target_matrix(rows: pd.DataFrame, palette: Palette, emphasized: str) -> Figure:
    """Draw every target, a row, of every reranker, a column, by what the pass rests on.

    Args:
        rows: target, reranker, tied, verdict, as `reached` returns them; rerankers stand in their order,
            the first `MAX_COLUMNS` of them.
        palette: colours of the theme.
        emphasized: reranker whose column stands out.
    """
    targets, names = pd.Index(rows["target"].unique()), pd.Index(rows["reranker"].unique()[:MAX_COLUMNS])
    rows = rows[rows["reranker"].isin(names)]
    figure = Figure()
    if emphasized in names:
        place = names.get_loc(emphasized)
        look = {"fillcolor": palette.faint, "opacity": 0.6, "line": {"width": 0}, "layer": "below"}
        column = {"x0": place - 0.5, "x1": place + 0.5, "y0": 0, "y1": 1, "yref": "y domain"}
        figure.draw_shape(type="rect", **column, **look)
    for verdict, (label, marker) in _verdict_marks(palette).items():
        cells = rows[rows["verdict"] == verdict]
        figure.draw_scatter(
            x=list(names.get_indexer(cells["reranker"])) or [None],  # an empty trace has no legend entry
            y=list(targets.get_indexer(cells["target"])) or [None],
            mode="markers",
            marker=marker | {"opacity": 1},
            name=label,
            customdata=[
                [hover_text(row.reranker), hover_text(row.target), row.tied] for row in cells.itertuples()
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}: tied %{customdata[2]:.4f}<br>"
            f"{label}<extra></extra>",
            cliponaxis=False,
        )
    is_level = len(names) <= _LEVEL_NAMES
    labels = short_names(names, SLOPE_COLUMNS)
    overhang = 12 if is_level else _overhang([text_columns(labels[name]) for name in names])
    style(figure, palette, 160 + _ROW * len(targets), b=60, r=overhang)
    figure.set_layout(showlegend=True, legend={"y": 0, "yanchor": "top", "font": {"size": 12}})
    labels_of_rows = list(chart_names(targets, TEXT_COLUMNS).values())
    ends = [len(targets) - 0.4, -0.6]
    set_yaxes(figure, tickvals=list(range(len(targets))), ticktext=labels_of_rows, range=ends)
    return set_xaxes(
        figure,
        side="top",
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=[escaped(labels[name]) for name in names],
        tickangle=0 if is_level else -_SLANT,
        range=[-0.6, len(names) - 0.4],
    )


def _overhang(columns: Sequence[int]) -> int:
    """Return the pixels by which turned names reach over the right end, from the letters of each."""
    reach = cos(radians(_SLANT)) * _LETTER
    last = len(columns) - 1
    return max(12, *(int(reach * letters - _COLUMN * (last - place)) for place, letters in enumerate(columns)))


def _verdict_marks(palette: Palette) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the name and the marker of each verdict."""
    dot = tied_dot(palette, 12)
    ring = {"color": palette.bounds, "line": {"color": palette.tied, "width": 2}}
    missed = {"symbol": "circle-open", "size": 8, "color": palette.muted, "line": {"width": 1.5}}
    return {
        "met": ("every order", dot),
        "met on average": ("on average", dot | ring),
        "sort order only": ("sort order only", traditional_diamond(palette, 13)),
        "missed": ("missed", missed),
    }
