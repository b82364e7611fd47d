"""Differences from a baseline with their intervals, by tied and by traditional values."""

from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import CARD_COLUMNS, hover_text
from dashboard.charts.marks import CLEAR_TOP, add_legend, label_rows, label_rows_above
from dashboard.charts.palette import Palette, blend
from dashboard.charts.style import note_of, set_xaxes, signed_ticks, style
from metrics.studies.prose import signed
from metrics.studies.significance import Verdicts
from metrics.studies.test_registry import is_significant
from metrics.support.arrays import BoolArray, IntArray
from metrics.support.wording import count_of, written_p

_ROW, _SLIM_ROW = 60, 36
"""Height of a comparison in pixels, its name above its values and beside them."""
_MIDDLE, _SHIFT = 0.16, 0.13
"""Distance of the two values of a row from its middle, which lies lower for a name above them."""
_STARS_ROOM = 84
"""Pixels to the right for the stars."""
_WASH = 0.12
"""Share of colour in the wash of a row whose verdict changes."""
_OUTLYING = 4.0
"""Median reaches of a row from which on a row is told in words."""


def difference_forest(verdicts: Verdicts, palette: Palette, measure: str, *, is_slim: bool = False) -> Figure:
    """Draw a row a comparison: the traditional difference above, the tied one below, filled if significant.

    Rows whose verdict differs between the two are washed; those far off the scale of the rest are told in
    words, so that they do not flatten it. On the right stand the stars, traditional then tied.

    Args:
        verdicts: comparisons with one baseline, in the order to be shown.
        palette: colours of the theme.
        measure: what the axis shows.
        is_slim: whether names stand beside the values, in lower rows; for a figure that is always wide.
    """
    middle = 0.0 if is_slim else _MIDDLE
    figure = Figure()
    is_outlying = _is_outlying(verdicts)
    verdicts = verdicts.without_untested()
    _add_ground(figure, np.flatnonzero(verdicts.changed), palette)
    _add_differences(figure, verdicts, ~is_outlying, "traditional", palette, middle)
    _add_differences(figure, verdicts, ~is_outlying, "tied", palette, middle)
    add_legend(
        figure,
        {
            "traditional": _marker("diamond", 10, palette.traditional, palette.traditional),
            "tied": _marker("circle", 10, palette.tied, palette.tied),
            "hollow: not significant": _marker("circle", 10, palette.ground, palette.muted),
        },
    )
    row_height = _SLIM_ROW if is_slim else _ROW
    style(figure, palette, 112 + row_height * len(verdicts.tied), r=_STARS_ROOM, t=56)
    if is_slim:
        label_rows(figure, verdicts.tied["reranker"], palette, CARD_COLUMNS, CLEAR_TOP)
    else:
        washed = blend(palette.ground, palette.traditional, _WASH)
        grounds = np.where(verdicts.changed, washed, palette.ground)
        label_rows_above(figure, verdicts.tied["reranker"], palette, 0.08, grounds)
    low, high = _axis_ends(verdicts, ~is_outlying)
    room = 0.06 * (high - low)
    set_xaxes(
        figure,
        title_text=f"{measure} difference",
        range=[low - room, high + room] if high > low else None,
        **signed_ticks(low - room, high + room, 6),
    )
    figure.write_notes(
        _outlying_note(verdicts, int(row), palette, middle) for row in np.flatnonzero(is_outlying)
    )
    _add_stars(figure, verdicts, palette, middle)
    return figure


def _add_ground(figure: Figure, changed_rows: IntArray, palette: Palette) -> None:
    """Shade the rows whose verdict changes, and draw the line of no difference."""
    wash = {"fillcolor": palette.traditional, "opacity": _WASH, "line": {"width": 0}, "layer": "below"}
    for row in changed_rows:
        box = {"x0": 0, "x1": 1, "xref": "paper", "y0": row - 0.44, "y1": row + 0.44}
        figure.draw_shape(type="rect", **box, **wash)
    zero = {"color": palette.text, "width": 1}
    figure.draw_shape(type="line", x0=0, x1=0, y0=0, y1=1, yref="paper", line=zero, layer="below")


def _marker(symbol: str, size: int, fill: object, border: str) -> dict[str, object]:
    """Return a mark that is hollow where it is filled with the colour of the ground."""
    return {"symbol": symbol, "size": size, "color": fill, "line": {"width": 2, "color": border}}


def _is_outlying(verdicts: Verdicts) -> BoolArray:
    """Return (n_rows,) whether both differences of a row are far off the scale of the rest."""
    ends = pd.concat([table[["low", "high"]] for table in (verdicts.tied, verdicts.traditional)], axis=1)
    reach = ends.abs().replace(np.inf, np.nan).max(axis=1).fillna(0.0).to_numpy()
    nearer = np.minimum(verdicts.tied["difference"].abs(), verdicts.traditional["difference"].abs())
    return np.asarray((nearer > _OUTLYING * np.median(reach)) & (len(reach) > 2))  # noqa: PLR2004 has a rest


def _axis_ends(verdicts: Verdicts, is_drawn: BoolArray) -> tuple[float, float]:
    """Return the least and largest difference that the axis holds, 0 always among them."""
    tables = (verdicts.tied, verdicts.traditional)
    ends = np.concatenate([table.loc[is_drawn, ["low", "high", "difference"]].to_numpy() for table in tables])
    ends = np.nan_to_num(ends, posinf=0, neginf=0)
    return float(ends.min(initial=0)), float(ends.max(initial=0))


def _add_differences(
    figure: Figure, verdicts: Verdicts, is_drawn: BoolArray, kind: str, palette: Palette, middle: float
) -> None:
    """Add the differences of one kind, each with its interval, around the middle of its row."""
    is_tied = kind == "tied"
    colour = palette.tied if is_tied else palette.traditional
    rows = (verdicts.tied if is_tied else verdicts.traditional)[is_drawn]
    fills = is_significant(rows["p_adjusted"].to_numpy(), verdicts.level)
    fill = np.where(fills, colour, palette.ground)
    marker = _marker("circle", 11, fill, colour) if is_tied else _marker("diamond", 13, fill, colour)
    figure.draw_scatter(
        x=rows["difference"],
        y=np.flatnonzero(is_drawn) + middle + (_SHIFT if is_tied else -_SHIFT),
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["difference"]).to_numpy(),
            "arrayminus": (rows["difference"] - rows["low"]).to_numpy(),
            "color": colour,
            "thickness": 2.5,
            "width": 0,
        },
        mode="markers",
        marker=marker | {"opacity": 1},
        name=kind,
        showlegend=False,
        customdata=[
            [hover_text(str(row.reranker)), _test_text(row), count_of(row.n, "query")]
            for row in rows.itertuples()
        ],
        hovertemplate=f"<b>%{{customdata[0]}}</b><br>{kind} %{{x:+.4f}}<br>%{{customdata[1]}}"
        "<br>%{customdata[2]}<extra></extra>",
    )


def _test_text(row: Any) -> str:  # noqa: ANN401 a row of a table
    """Return the interval and p of a comparison, or that it has none."""
    if np.isnan(row.p_adjusted):
        return "nothing can be tested"
    interval = f"from {signed(row.low, 4)} to {signed(row.high, 4)}"
    return f"{interval}<br>adjusted p {written_p(row.p_adjusted, 4)}"


def _outlying_note(verdicts: Verdicts, row: int, palette: Palette, middle: float) -> dict[str, object]:
    """Return the note of the differences of a row off the scale, at the side it lies on."""
    traditional, tied = (table["difference"].iloc[row] for table in (verdicts.traditional, verdicts.tied))
    text = (
        f"off the scale: <span style='color:{palette.traditional}'>{signed(traditional)}</span> and "
        f"<span style='color:{palette.tied}'>{signed(tied)}</span>"
    )
    if tied < 0:
        return note_of(f"← {text}", palette, xref="paper", y=row + middle, x=0.01, xanchor="left")
    return note_of(f"{text} →", palette, xref="paper", y=row + middle, x=0.99, xanchor="right")


def _add_stars(figure: Figure, verdicts: Verdicts, palette: Palette, middle: float) -> None:
    """Write the adjusted verdicts beside the rows, traditional then tied."""
    columns = (
        (verdicts.traditional, 24, "trad.", palette.traditional),
        (verdicts.tied, 60, "tied", palette.tied),
    )
    notes: list[dict[str, object]] = []
    for table, shift, title, colour in columns:
        place = {"xref": "paper", "x": 1, "xanchor": "center", "xshift": shift}
        font = {"color": colour, "size": 12}
        notes.append(note_of(title, palette, **place, yref="paper", y=1, yanchor="top", font=font))
        for row, stars in enumerate(table["stars"]):
            font = (
                {"color": palette.muted, "size": 12} if stars in {"ns", "–"} else {"color": colour, "size": 15}
            )
            notes.append(note_of(stars, palette, **place, y=row + middle, font=font))
    figure.write_notes(notes)
