"""Charts of targets: which rerankers meet them, and by how much."""

from collections.abc import Sequence
from math import cos, radians
from typing import Any

import numpy as np
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
from dashboard.charts.marks import (
    VALUES,
    VALUES_HOVER,
    add_bounds,
    add_values,
    label_rows,
    named_rows,
    tied_dot,
    traditional_diamond,
)
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW_TICKS, note_of, set_xaxes, set_yaxes, style

MAX_COLUMNS = 30
"""Maximum rerankers in the matrix."""
_LEVEL_NAMES = 2
"""Names that fit horizontally."""
_SLANT = 40
"""Degrees by which longer rows of names are rotated."""
_ROW, _COLUMN, _LETTER = 28, 24, 7
"""Pixels of a target's row, of a reranker's column and of a letter."""


def matrix_width(n_rerankers: int) -> int:
    """Return the pixels that so many rerankers need on any screen."""
    return max(340, 300 + _COLUMN * min(n_rerankers, MAX_COLUMNS))


def target_matrix(rows: pd.DataFrame, palette: Palette, emphasized: str) -> Figure:
    """Draw whether each reranker (column) meets each target (row).

    `rows` are those of `reached`. The column of `emphasized` is shaded.
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
    """Return the pixels by which rotated names cross the right border."""
    reach = cos(radians(_SLANT)) * _LETTER
    last = len(columns) - 1
    return max(12, *(int(reach * letters - _COLUMN * (last - place)) for place, letters in enumerate(columns)))


def _verdict_marks(palette: Palette) -> dict[str, tuple[str, dict[str, Any]]]:
    dot = tied_dot(palette, 12)
    ring = {"color": palette.bounds, "line": {"color": palette.tied, "width": 2}}
    missed = {"symbol": "circle-open", "size": 8, "color": palette.muted, "line": {"width": 1.5}}
    return {
        "met": ("met in every order", dot),
        "met on average": ("met on average", dot | ring),
        "sort order only": ("sort order only", traditional_diamond(palette, 13)),
        "missed": ("missed", missed),
    }


_BULLET_ROW = 34
"""Pixels of a target's row."""


def target_bullets(rows: pd.DataFrame, palette: Palette) -> Figure:
    """Draw bounds, tied and traditional score and the target value of one reranker, one row per target."""
    low, high = _axis_ends(rows)
    position = np.arange(len(rows))
    figure = Figure()
    track = {"x": np.full(len(rows), high - low), "base": low, "y": position, "orientation": "h", "width": 0.5}
    figure.draw_bars(**track, marker={"color": palette.faint}, hoverinfo="skip", showlegend=False)
    add_bounds(figure, rows, palette, width=0.5, hoverinfo="skip")
    data = named_rows(rows["target"], rows[VALUES].to_numpy())
    add_values(figure, rows, palette, y=position, customdata=data, hovertemplate=VALUES_HOVER)
    figure.set_traces({"name": "traditional"}, marker={"size": 14})
    line = {"color": palette.text, "width": 3}
    bounds = [
        {"type": "line", "x0": bound, "x1": bound, "y0": row - 0.38, "y1": row + 0.38, "line": line}
        for row, bound in enumerate(rows["bound"])
    ]
    verdicts = zip(rows["verdict"], rows["missed_by"], strict=True)
    notes = [_verdict(row, str(said), float(by), palette) for row, (said, by) in enumerate(verdicts)]
    figure.write_notes(notes)
    style(figure, palette, 84 + _BULLET_ROW * len(rows), r=156, b=BELOW_TICKS)
    figure.set_layout(barmode="overlay").draw_shapes(bounds)
    label_rows(figure, rows["target"], palette, TEXT_COLUMNS)
    set_yaxes(figure, ticklabelstandoff=8)
    return set_xaxes(figure, range=[low, high], nticks=7)


def _verdict(row: int, verdict: str, missed_by: float, palette: Palette) -> dict[str, object]:
    """Return the verdict as a note, orange where only the traditional score meets the target."""
    text = f"missed by {missed_by:.2f}" if verdict == "missed" else verdict
    text = "missed by under 0.01" if text == "missed by 0.00" else text
    colour = palette.text if verdict.startswith("met") else palette.muted
    if verdict == "sort order only":
        text, colour = f"<b>{text}</b>", palette.traditional
    place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 14, "y": row}
    return note_of(text, palette, **place, font={"size": 12.5, "color": colour})


def _axis_ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the range of all values and targets, rounded outward to tenths."""
    values = rows[[*VALUES, "bound"]].to_numpy(dtype=float)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = float(np.floor(finite.min() * 10) / 10), float(np.ceil(finite.max() * 10) / 10)
    return low, max(high, low + 0.1)
