"""The targets of one reranker as bullet rows."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import TEXT_COLUMNS
from dashboard.charts.marks import VALUES, VALUES_HOVER, add_bounds, add_values, label_rows, named_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW_TICKS, note_of, set_xaxes, set_yaxes, style

_ROW = 34
"""Height of a target in pixels."""


def target_bullets(rows: pd.DataFrame, palette: Palette) -> Figure:
    """Draw the range the ties allow, the tied dot, the traditional diamond and the target upright.

    Of one reranker, as `reached` returns its targets; a row a target, its verdict in words beside it.
    """
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
    style(figure, palette, 84 + _ROW * len(rows), r=156, b=BELOW_TICKS)
    figure.set_layout(barmode="overlay").draw_shapes(bounds)
    label_rows(figure, rows["target"], palette, TEXT_COLUMNS)
    set_yaxes(figure, ticklabelstandoff=8)
    return set_xaxes(figure, range=[low, high], nticks=7)


def _verdict(row: int, verdict: str, missed_by: float, palette: Palette) -> dict[str, object]:
    """Return the verdict as a note beside its row; orange where only the sort meets the target."""
    text = f"missed by {missed_by:.2f}" if verdict == "missed" else verdict
    text = "missed by under 0.01" if text == "missed by 0.00" else text
    colour = palette.text if verdict.startswith("met") else palette.muted
    if verdict == "sort order only":
        text, colour = f"<b>{text}</b>", palette.traditional
    place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 14, "y": row}
    return note_of(text, palette, **place, font={"size": 12.5, "color": colour})


def _axis_ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis: whole tenths around every value and bound."""
    values = rows[[*VALUES, "bound"]].to_numpy(dtype=float)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = float(np.floor(finite.min() * 10) / 10), float(np.ceil(finite.max() * 10) / 10)
    return low, max(high, low + 0.1)
