"""How many figures of a published table come out under each rule that was tried."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.palette import Palette
from dashboard.charts.style import note_of, safe, set_xaxes, set_yaxes, style

_ROW, _BAR = 46, 0.26
"""Pixels of a rule, and share of it that its bar takes."""
_LABEL_COLUMNS = 60


def convention_bars(conventions: pd.DataFrame, palette: Palette, row: int) -> Figure:
    """Draw a bar for each rule, as long as its share of the figures that come out; a click gives its row.

    Args:
        conventions: label, to_the_digit, by_rounding, does_not_come_out; the best first.
        palette: colours of the theme.
        row: of the rule whose matrix is shown; it stands out.
    """
    comes_out = conventions["to_the_digit"] + conventions["by_rounding"]
    totals = comes_out + conventions["does_not_come_out"]
    n, rows = len(conventions), np.arange(len(conventions))
    is_shown = rows == row
    figure = Figure()
    look = {"orientation": "h", "width": _BAR, "showlegend": False}
    hover = [
        f"<b>{safe(label, _LABEL_COLUMNS)}</b><br>{digit:,} to the digit, {rounding:,} by rounding<br>"
        f"{off:,} of {total:,} do not come out"
        for label, digit, rounding, off, total in zip(
            conventions["label"],
            conventions["to_the_digit"],
            conventions["by_rounding"],
            conventions["does_not_come_out"],
            totals,
            strict=True,
        )
    ]
    data = [[int(row), text] for row, text in zip(rows, hover, strict=True)]
    for lengths, colour in (
        (totals, np.full(n, palette.faint)),
        (comes_out, np.where(is_shown, palette.text, palette.other)),
    ):
        figure.draw_bars(
            x=lengths / totals,
            y=rows,
            marker={"color": colour.tolist(), "opacity": 1, "line": {"width": 0}},
            customdata=data,
            hovertemplate="%{customdata[1]}<extra></extra>",
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            **look,
        )
    style(figure, palette, 24 + _ROW * n, t=12, b=12, l=4, r=44)
    _write(figure, conventions["label"].tolist(), comes_out.tolist(), is_shown.tolist(), palette)
    figure.set_layout(barmode="overlay")
    set_yaxes(figure, visible=False, range=[n - 0.6, -0.75])
    return set_xaxes(figure, visible=False, range=[0, 1])


def _write(
    figure: Figure, labels: list[str], counts: list[int], is_shown: list[bool], palette: Palette
) -> None:
    """Write the rule above each bar, and how many figures come out at its end."""
    above = {"x": 0, "xref": "x", "xanchor": "left", "yanchor": "bottom", "yshift": 6}
    beside = {"x": 1, "xref": "x", "xanchor": "left", "yanchor": "middle", "xshift": 8}
    notes = []
    for row, (label, count, is_bold) in enumerate(zip(labels, counts, is_shown, strict=True)):
        name, figures = safe(label, _LABEL_COLUMNS), f"{count:,}"
        font = {"size": 13, "color": palette.text if is_bold else palette.muted}
        for text, place in ((name, above), (figures, beside)):
            notes.append(note_of(f"<b>{text}</b>" if is_bold else text, palette, y=row, font=font, **place))
    figure.write_notes(notes)
