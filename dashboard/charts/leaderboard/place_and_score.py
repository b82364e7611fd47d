"""Places by the traditional and by the tied value, and beside them the scores with what ties allow."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.labels import SLOPE_COLUMNS, chart_names
from dashboard.charts.leaderboard.score_bounds import drawable_rerankers
from dashboard.charts.marks import (
    VALUES,
    VALUES_HOVER,
    add_bounds_rows,
    named_rows,
    tied_dot,
)
from dashboard.charts.palette import Palette
from dashboard.charts.style import add_notes, note_of, padded_range, style
from metrics.studies.leaderboard.leaderboard import swap_matrix
from metrics.support.arrays import BoolArray

MIN_WIDTH = 590
"""Pixels below which its names and its scores have no room beside each other."""
FEW = 20
"""Rerankers up to which every order that swaps stands out; of more, moves of `LONG_MOVE` places."""
LONG_MOVE = 3
_ROW, _SLIM_ROW, _SLIM_FROM = 30, 20, 40
"""Height of a row in pixels; slim where there are more rows than that."""
_LEAST_ROWS = 3
"""Rows whose height the figure has at least: in a lower one the title of an axis lies on its labels."""
_SLOPE, _NAMES, _SCORES = (0.09, 0.21), (0.265, 0.5), (0.51, 1.0)
"""Ends of the three panels, in shares of the width; between names and scores is room for a column of tiers."""


def is_out_of_order(leaderboard: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rerankers stand out: those that change their order with another; of many, by several places.

    Args:
        leaderboard: index reranker; traditional_rank, tied_rank.
    """
    if len(leaderboard) > FEW:
        moves = leaderboard["traditional_rank"] - leaderboard["tied_rank"]
        return moves.abs() >= LONG_MOVE
    swaps = swap_matrix(leaderboard)
    return pd.Series(swaps.any(axis=0) | swaps.any(axis=1), leaderboard.index)


def place_and_score(
    leaderboard: pd.DataFrame, palette: Palette, measure: str, drawn_rerankers: Sequence[str] | None = None
) -> go.Figure:
    """Draw the traditional and the tied place of each reranker, its name, and its scores with tie bounds.

    Args:
        leaderboard: index reranker; traditional, tied, worst, best, traditional_rank, tied_rank; best first.
        palette: colours of the theme.
        measure: title of the x axis.
        drawn_rerankers: rerankers that are drawn, in the order of the leaderboard; all where None.

    Returns:
        A row a reranker that places, name and scores share.
    """
    leaderboard = drawable_rerankers(leaderboard)
    rows = leaderboard if drawn_rerankers is None else leaderboard.loc[list(drawn_rerankers)]
    is_marked = is_out_of_order(leaderboard)[rows.index].to_numpy(dtype=bool)
    names = chart_names(map(str, leaderboard.index), SLOPE_COLUMNS)
    figure = go.Figure()
    add_bounds_rows(figure, rows, palette, xaxis="x3")
    _add_slope(figure, rows, is_marked, palette, is_part=len(rows) < len(leaderboard))
    _add_labels(figure, rows, is_marked, names, palette)
    height = _ROW if len(rows) <= _SLIM_FROM else _SLIM_ROW
    style(figure, palette, 88 + height * max(len(rows), _LEAST_ROWS))
    figure.update_yaxes(visible=False, range=[len(rows) - 0.4, -0.6])
    hidden = {"visible": False, "range": [0, 1]}
    ends = padded_range(rows[VALUES].to_numpy())
    return figure.update_layout(
        xaxis=hidden | {"domain": _SLOPE},
        xaxis2=hidden | {"domain": _NAMES},
        xaxis3={"domain": _SCORES, "range": ends, "anchor": "y", "title": {"text": measure}, "nticks": 6},
        legend={"x": _SCORES[0], "font": {"size": 12}, "itemsizing": "constant"},
    )


def _add_slope(
    figure: go.Figure, rows: pd.DataFrame, is_marked: BoolArray, palette: Palette, *, is_part: bool
) -> None:
    """Add a line from the traditional to the tied place of each reranker, with a diamond, a dot and figures."""
    left = rows["traditional"].rank(method="first", ascending=False).to_numpy() - 1
    right = np.arange(len(rows))
    for is_bold, colour, width in ((False, palette.other, 1.5), (True, palette.traditional, 2.5)):
        ends = np.column_stack([left, right, np.full(len(rows), np.nan)])[is_marked == is_bold]
        x = np.tile([0, 1, np.nan], len(ends))
        line = {"color": colour, "width": width}
        figure.add_scatter(x=x, y=ends.ravel(), mode="lines", line=line, hoverinfo="skip", showlegend=False)
    first, last = rows["tied_rank"].min(), rows["tied_rank"].max()
    before = [
        f"from {place}" if is_part and not first <= place <= last else str(place)
        for place in rows["traditional_rank"]
    ]
    sides = (
        (0, left, _diamond(palette), before, "middle left"),
        (1, right, tied_dot(palette), rows["tied_rank"].astype(str), "middle right"),
    )
    for x_end, heights, marker, places, side in sides:
        figure.add_scatter(
            x=np.full(len(rows), x_end),
            y=heights,
            mode="markers+text",
            marker=marker,
            text=_bold([f"\u2002{place}\u2002" for place in places], is_marked),
            textposition=side,
            textfont={"size": 12, "color": palette.muted},
            **_hover(rows),
        )
    heads = (("traditional", palette.traditional, 0), ("tied", palette.tied, 1))
    place = {"xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 4}
    add_notes(
        figure,
        (note_of(word, palette, x=x, font={"size": 13, "color": colour}, **place) for word, colour, x in heads),
    )


def _add_labels(
    figure: go.Figure, rows: pd.DataFrame, is_marked: BoolArray, names: Mapping[str, str], palette: Palette
) -> None:
    """Add the name of each row, in full as one hovers over it."""
    figure.add_scatter(
        x=np.zeros(len(rows)),
        y=np.arange(len(rows)),
        mode="text",
        text=_bold([names[str(name)] for name in rows.index], is_marked),
        textposition="middle right",
        textfont={"size": 13, "color": palette.text},
        **_hover(rows),
        xaxis="x2",
    )


def _hover(rows: pd.DataFrame) -> dict[str, Any]:
    return {
        "customdata": named_rows(rows.index, rows[VALUES].to_numpy()),
        "hovertemplate": VALUES_HOVER,
        "showlegend": False,
        "cliponaxis": False,
    }


def _diamond(palette: Palette) -> dict[str, Any]:
    """Return a diamond that hides the line behind it."""
    border = {"color": palette.traditional, "width": 2}
    return {"symbol": "diamond", "size": 11, "color": palette.ground, "line": border, "opacity": 1}


def _bold(texts: Sequence[str], is_marked: BoolArray) -> list[str]:
    return [f"<b>{text}</b>" if is_bold else text for text, is_bold in zip(texts, is_marked, strict=True)]
