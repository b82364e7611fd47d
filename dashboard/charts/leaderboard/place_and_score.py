"""Places by the traditional and by the tied value, and beside them the scores with what ties allow."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import SLOPE_COLUMNS, chart_names, short_names, text_columns
from dashboard.charts.leaderboard.hole_bars import ENDS, add_hole_bars, unjudged_notes
from dashboard.charts.leaderboard.score_bounds import drawable_rerankers
from dashboard.charts.leaderboard.tier_brackets import add_tier_brackets
from dashboard.charts.marks import (
    VALUES,
    VALUES_HOVER,
    add_bounds_rows,
    add_segments,
    named_rows,
    tied_dot,
)
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW, note_of, padded_range, set_yaxes, style
from metrics.studies.leaderboard.leaderboard import swap_matrix
from metrics.support.arrays import BoolArray

_MIN_WIDTH, _NAME_ROOM = 490, 142
"""Pixels across that it keeps on a phone, which has room for places and names, or for names and scores, and
pixels of these that a name has."""
_SLIM_COLUMN, _BROAD_COLUMN = 7, 9
"""Pixels of a column of a name: of small letters and signs of ASCII and of East Asian scripts; of any other."""
FEW = 20
"""Rerankers up to which every order that swaps stands out; of more, moves of `LONG_MOVE` places."""
LONG_MOVE = 3
_ROW, _SLIM_ROW, _SLIM_FROM = 30, 20, 40
"""Height of a row in pixels; slim where there are more rows than that."""
_LEAST_ROWS = 3
"""Rows whose height the figure has at least: in a lower one the title of an axis lies on its labels."""
_SPACES = {"left": "{}\u2002", "right": "\u2009{}"}
"""A place and the space to its mark: a diamond reaches farther to its side than plotly thinks."""
_LEGEND: dict[str, Any] = {"x": 1, "xanchor": "right", "font": {"size": 12}, "itemsizing": "constant"}
_SLOPE, _NAMES, _SCORES, _TIERS = (0.075, 0.195), (0.27, 0.56), (0.57, 1.0), 0.04
"""Ends of the three panels, in shares of the width, and what tiers take of the scores."""
_QUERIES = "queries, 95%"
"""What the legend calls the lines of intervals."""
_SHARES, _LEGEND_ROW = 0.08, 22
"""Share of the width that the shares of unjudged documents take, and pixels of the legend's second row."""


def is_out_of_order(leaderboard: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rerankers stand out: that change their order with another; of many, by several places."""
    if len(leaderboard) > FEW:
        moves = leaderboard["traditional_rank"] - leaderboard["tied_rank"]
        return moves.abs() >= LONG_MOVE
    swaps = swap_matrix(leaderboard)
    return pd.Series(swaps.any(axis=0) | swaps.any(axis=1), leaderboard.index)


def least_width(names: Iterable[str]) -> int:
    """Return the pixels across that keep names out of the scores: more where their letters are broad."""
    labels = short_names(names, SLOPE_COLUMNS).values()
    widest = max((sum(map(_letter_width, label)) for label in labels), default=0)
    return max(_MIN_WIDTH, ceil(_MIN_WIDTH * widest / _NAME_ROOM))


def _letter_width(letter: str) -> int:
    columns = text_columns(letter)
    is_slim = columns > 1 or (letter.isascii() and not letter.isupper())
    return columns * (_SLIM_COLUMN if is_slim else _BROAD_COLUMN)


def place_and_score(
    leaderboard: pd.DataFrame,
    palette: Palette,
    measure: str,
    drawn_rerankers: Sequence[str] | None = None,
    order: str = "traditional",
) -> Figure:
    """Draw traditional and tied place, name, and scores with tie bounds, in rows that rerankers share.

    Args:
        leaderboard: index reranker; traditional, tied, worst, best, traditional_rank, tied_rank; best first.
            Perhaps tier; query_low and query_high, between which queries put the value too; and what
            `add_hole_bars` draws.
        palette: colours of the theme.
        measure: title of the x axis.
        drawn_rerankers: rerankers that are drawn, in the order of the leaderboard; all where None.
        order: what the order is called that the tied one is compared with.
    """
    leaderboard = drawable_rerankers(leaderboard)
    rows = leaderboard if drawn_rerankers is None else leaderboard.loc[list(drawn_rerankers)]
    stands_out = is_out_of_order(leaderboard)
    names = chart_names(map(str, leaderboard.index), SLOPE_COLUMNS)
    moves = _moves(leaderboard.assign(is_marked=stands_out), rows.index)
    ends = moves[["left", "right"]].to_numpy()
    above, below = bool((ends < 0).any()), bool((ends >= len(rows)).any())
    figure = Figure()
    has_holes = set(ENDS) <= set(rows)
    if has_holes:
        add_hole_bars(figure, rows, palette, xaxis="x2")
    values = [*VALUES, *_add_intervals(figure, rows, palette), *(ENDS if has_holes else ())]
    add_bounds_rows(figure, rows, palette, xaxis="x2")
    _add_slope(figure, moves, len(rows), palette, order)
    _add_labels(figure, rows, stands_out[rows.index].to_numpy(dtype=bool), names, palette)
    if "tier" in rows:
        add_tier_brackets(figure, rows["tier"], palette, _NAMES[0])
    height = _ROW if len(rows) <= _SLIM_FROM else _SLIM_ROW
    plot = height * max(len(rows) + above + below, _LEAST_ROWS)
    style(figure, palette, 88 + plot, b=BELOW - 4)
    set_yaxes(figure, visible=False, range=[len(rows) - 0.4 + below, -0.6 - above])
    hidden = {"visible": False, "range": [0, 1]}
    scores = padded_range(rows[values].ffill(axis=1).to_numpy())
    _name_order(figure, order)
    domain = (_SCORES[0] + _TIERS * ("tier" in rows), _SCORES[1] - _SHARES * has_holes)
    figure.set_layout(
        xaxis=hidden | {"domain": _SLOPE},
        xaxis3=hidden | {"domain": _NAMES},
        xaxis4=hidden | {"domain": (_NAMES[1], _NAMES[1] + _TIERS)},
        xaxis2={"domain": domain, "range": scores, "anchor": "y", "title": {"text": measure}, "nticks": 6},
        legend=_LEGEND,
    )
    if has_holes:
        figure.write_notes(unjudged_notes(rows, palette))
    return _legend_in_rows(figure, plot) if len(values) > len(VALUES) else figure


def _legend_in_rows(figure: Figure, plot_height: int) -> Figure:
    """Set the legend in two rows: marks, then bars and lines."""
    for selector in ({"type": "bar"}, {"name": _QUERIES}):
        figure.set_traces(selector, legend="legend2")
    usual = figure.settings["template"]["layout"]["legend"]
    font = usual["font"] | _LEGEND["font"]
    return figure.set_layout(
        height=figure.height + _LEGEND_ROW,
        margin={"t": figure.settings["margin"]["t"] + _LEGEND_ROW},
        legend={"y": 1 + _LEGEND_ROW / plot_height},
        legend2=usual | _LEGEND | {"traceorder": "reversed", "font": font},
    )


def _moves(leaderboard: pd.DataFrame, drawn_rerankers: pd.Index) -> pd.DataFrame:
    """Return who has a place among the rows that are drawn, by the traditional or by the tied value.

    Rows looked for by name follow on one another though their places do not: lines show their order alone.

    Returns:
        Rows of the leaderboard; left and right: their places, counted from the first row that is drawn.
    """
    first = int(leaderboard.index.get_loc(drawn_rerankers[0]))
    n = len(drawn_rerankers)
    if not drawn_rerankers.equals(leaderboard.index[first : first + n]):
        leaderboard, first = leaderboard.loc[drawn_rerankers], 0
    moves = leaderboard.assign(
        left=leaderboard["traditional"].rank(method="first", ascending=False) - 1 - first,
        right=np.arange(len(leaderboard)) - first,
    )
    return moves[moves["left"].between(0, n - 1) | moves["right"].between(0, n - 1)]


def _add_slope(figure: Figure, moves: pd.DataFrame, n_rows: int, palette: Palette, order: str) -> None:
    """Add a line from the traditional to the tied place of each reranker, with a diamond, a dot and figures.

    Where an end lies outside the rows, the line leads to their edge, which says from or to which place.
    """
    for is_bold, colour, width in ((False, palette.other, 1.5), (True, palette.traditional, 2.5)):
        ends = moves.loc[moves["is_marked"] == is_bold, ["left", "right"]].clip(-0.7, n_rows - 0.3)
        x = np.tile([0, 1, np.nan], len(ends))
        y = np.insert(ends.to_numpy(dtype=float), 2, np.nan, axis=1).ravel()
        line = {"color": colour, "width": width}
        figure.draw_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    sides = (
        (0, "left", "traditional", _diamond(palette), palette.traditional, "from"),
        (1, "right", "tied", tied_dot(palette), palette.tied, "to"),
    )
    notes = []
    for x_end, side, value, marker, colour, word in sides:
        inside, places = moves[moves[side].between(0, n_rows - 1)], moves[f"{value}_rank"]
        figure.draw_scatter(
            x=np.full(len(inside), x_end),
            y=inside[side],
            mode="markers+text",
            marker=marker,
            text=_bold(
                [_SPACES[side].format(place) for place in places[inside.index]],
                inside["is_marked"].to_numpy(),
            ),
            textposition=f"middle {side}",
            textfont={"size": 12, "color": palette.muted},
            **_hover(inside),
        )
        head = {"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 4}
        title, font = order if side == "left" else value, {"size": 13, "color": colour}
        notes.append(note_of(title, palette, x=x_end, xref="x", font=font, **head))
        edges = ((moves[side] < 0, -0.75, "bottom"), (moves[side] >= n_rows, n_rows - 0.25, "top"))
        for is_outside, height, yanchor in edges:
            if is_outside.any():
                text = f"{word}<br>{_span(places[is_outside])}"
                notes.append(note_of(text, palette, x=x_end, xref="x", y=height, yanchor=yanchor))
    figure.write_notes(notes)


def _span(places: pd.Series) -> str:
    """Return the lowest and the highest of some places."""
    return "–".join(dict.fromkeys(map(str, (places.min(), places.max()))))


def _add_intervals(figure: Figure, rows: pd.DataFrame, palette: Palette) -> list[str]:
    """Add a thin line where queries put each value, too; return its columns, none where rows have none."""
    columns = [name for name in ("query_low", "query_high") if name in rows]
    if columns:
        heights = pd.Series(np.arange(len(rows)), rows.index)
        add_segments(figure, rows[columns], heights, palette.muted, 1.5)
        figure.traces[-1] |= {"xaxis": "x2", "name": _QUERIES, "showlegend": True}
    return columns


def _name_order(figure: Figure, order: str) -> None:
    """Call the order that the tied one is compared with by its name, in legend and hover texts."""
    if order != "traditional":
        for trace in figure.traces:
            for part in ("name", "hovertemplate"):
                if part in trace:
                    trace[part] = trace[part].replace("traditional", order)


def _add_labels(
    figure: Figure, rows: pd.DataFrame, is_marked: BoolArray, names: Mapping[str, str], palette: Palette
) -> None:
    """Add the name of each row, in full as one hovers over it."""
    figure.draw_scatter(
        x=np.zeros(len(rows)),
        y=np.arange(len(rows)),
        mode="text",
        text=_bold([names[str(name)] for name in rows.index], is_marked),
        textposition="middle right",
        textfont={"size": 13, "color": palette.text},
        **_hover(rows),
        xaxis="x3",
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
