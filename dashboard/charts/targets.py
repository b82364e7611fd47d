"""Charts of targets: which rerankers meet them, and by how much."""

from math import cos, radians

import numpy as np
import pandas as pd

from dashboard.charts import marks
from dashboard.charts.figure import BELOW_TICKS, Figure, named_ticks
from dashboard.charts.labels import TEXT_COLUMNS, chart_names, escaped, hover_text, short_names, text_columns
from dashboard.charts.palette import Palette

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
    figure = Figure(palette)
    if emphasized in names:
        place = names.get_loc(emphasized)
        look = {"fillcolor": palette.faint, "opacity": 0.6, "line": {"width": 0}, "layer": "below"}
        column = {"x0": place - 0.5, "x1": place + 0.5, "y0": 0, "y1": 1, "yref": "y domain"}
        figure.draw_shape(type="rect", **column, **look)
    dot, labels_of_verdicts = marks.tied_dot(palette, 12), {"met": "met in every order"}
    ring = {"color": palette.bounds, "line": {"color": palette.tied, "width": 2}}
    verdict_marks = {
        "met": dot,
        "met on average": dot | ring,
        "sort order only": marks.traditional_diamond(palette, 13),
        "missed": {"symbol": "circle-open", "size": 8, "color": palette.muted, "line": {"width": 1.5}},
    }
    for verdict, marker in verdict_marks.items():
        cells, label = rows[rows["verdict"] == verdict], labels_of_verdicts.get(verdict, verdict)
        figure.draw_marks(
            x=list(names.get_indexer(cells["reranker"])) or [None],  # an empty trace has no legend entry
            y=list(targets.get_indexer(cells["target"])) or [None],
            marker=marker | {"opacity": 1},
            name=label,
            customdata=[
                [hover_text(row.reranker), hover_text(row.target), row.tied] for row in cells.itertuples()
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}: tied %{customdata[2]:.4f}<br>"
            f"{label}",
        )
    is_level = len(names) <= _LEVEL_NAMES
    labels = short_names(names)
    overhang = [12]  # pixels by which names cross the right border
    if not is_level:
        widths = [cos(radians(_SLANT)) * _LETTER * text_columns(labels[name]) for name in names]
        overhang += [int(width - _COLUMN * place) for place, width in enumerate(reversed(widths))]
    figure.style(160 + _ROW * len(targets), b=60, r=max(overhang))
    figure.set_layout(showlegend=True, legend={"y": 0, "yanchor": "top", "font": {"size": 12}})
    ticks = named_ticks(chart_names(targets, TEXT_COLUMNS).values()) | {"showgrid": True}
    figure.set_yaxes(**ticks, range=[len(targets) - 0.4, -0.6])
    ticks = named_ticks(escaped(labels[name]) for name in names)
    angle, ends = 0 if is_level else -_SLANT, [-0.6, len(names) - 0.4]
    return figure.set_xaxes(side="top", **ticks, tickangle=angle, range=ends)


_BULLET_ROW = 34
"""Pixels of a target's row."""


def target_bullets(rows: pd.DataFrame, palette: Palette) -> Figure:
    """Draw bounds, tied and traditional score and the target value of one reranker, one row per target."""
    values = rows[[*marks.VALUES, "bound"]].to_numpy(dtype=float)
    tenths = 10 * values[np.isfinite(values)] if np.isfinite(values).any() else np.array([0.0, 10.0])
    low, high = float(np.floor(tenths.min()) / 10), float(np.ceil(tenths.max()) / 10)
    high, n, figure = max(high, low + 0.1), len(rows), Figure(palette)
    track = {"x": np.full(n, high - low), "base": low, "y": np.arange(n), "orientation": "h", "width": 0.5}
    figure.draw_bars(**track, marker={"color": palette.faint})
    marks.add_bounds(figure, rows, width=0.5)
    marks.add_values(figure, rows, y=np.arange(n), **marks.values_hover(rows, rows["target"]))
    figure.set_traces({"name": "traditional"}, marker={"size": 14})
    line = {"color": palette.text, "width": 3, "dash": "solid"}
    for row, target in enumerate(rows.itertuples()):
        figure.draw_upright(target.bound, line=line, y0=row - 0.38, y1=row + 0.38)
        text, colour = str(target.verdict), palette.muted
        if text == "missed":
            text = f"missed by {float(target.missed_by):.2f}".replace("by 0.00", "by under 0.01")
        elif text == "sort order only":  # only the traditional score meets the target
            text, colour = f"<b>{text}</b>", palette.traditional
        elif text.startswith("met"):
            colour = palette.text
        place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 14, "y": row}
        figure.write(text, **place, font={"size": 12.5, "color": colour})
    figure.style(84 + _BULLET_ROW * n, r=156, b=BELOW_TICKS).set_layout(barmode="overlay")
    marks.label_rows(figure, rows["target"], TEXT_COLUMNS)
    return figure.set_yaxes(ticklabelstandoff=8).set_xaxes(range=[low, high], nticks=7)
