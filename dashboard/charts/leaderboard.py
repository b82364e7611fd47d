"""Charts of the Leaderboard: ranks beside scores, and other tools."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts import marks
from dashboard.charts.figure import BELOW, BELOW_TICKS, Figure, padded_range
from dashboard.charts.labels import SLOPE_COLUMNS, chart_names, hover_text, short_names, text_columns
from dashboard.charts.palette import Palette, faded
from metrics.evaluation import EQUAL
from metrics.studies.leaderboard import swap_matrix
from metrics.support.arrays import BoolArray

_END = 0.34
"""Rows from a tier's last row to the end of its bracket."""
_SHORTEST_TIER = 0.03
"""Share of all ranks that a tier needs for its number."""


def tier_runs(tiers: pd.Series) -> list[tuple[int, int, int]]:
    """Return the runs of equal tiers from the top: tier, first and last row, counted from 0."""
    values = tiers.astype(int).tolist()
    starts = [row for row, tier in enumerate(values) if not row or tier != values[row - 1]]
    return [(values[first], first, end - 1) for first, end in pairwise([*starts, len(values)])]


def add_tier_brackets(figure: Figure, tiers: pd.Series, start: float) -> None:
    """Add a bracket and a number per tier in column x4, and shade every second tier.

    The shade begins at `start`, a share of the width.
    """
    runs, palette = tier_runs(tiers), figure.palette
    x = [value for _ in runs for value in (0.2, 0.4, 0.4, 0.2, None)]
    y = [value for _, first, last in runs for value in (*[first - _END] * 2, *[last + _END] * 2, None)]
    line = {"color": palette.muted, "width": 1.5}
    figure.draw_line(x=x, y=y, line=line, xaxis="x4", cliponaxis=False)
    middles, words = [(first + last) / 2 for _, first, last in runs], [str(tier) for tier, _, _ in runs]
    look = {"textposition": "middle right", "color": palette.muted, "xaxis": "x4"}
    figure.draw_words(np.full(len(runs), 0.5), middles, words, **look)
    _shade_tiers(figure, tiers, start)
    figure.write("tier", x=0.3, xref="x4", y=0, yref="paper", yanchor="top", yshift=1)


def _shade_tiers(figure: Figure, tiers: pd.Series, start: float, above: float = 0.5) -> None:
    """Shade every second of several tiers, from `above` rows above its first row."""
    runs, colour = tier_runs(tiers), faded(figure.palette.other, 0.14)
    band = {"xref": "paper", "x0": start, "x1": 1, "layer": "below", "line": {"width": 0}}
    for _, first, last in runs[::2] if len(runs) > 1 else []:
        figure.draw_shape(type="rect", **band, y0=first - above, y1=last + 1 - above, fillcolor=colour)


def add_tier_lines(figure: Figure, tiers: pd.Series) -> None:
    """Add a numbered line above each tier of the strip."""
    look = {"y0": 1.04, "y1": 1.04, "yref": "paper", "line": {"color": figure.palette.muted, "width": 1.5}}
    for tier, first, last in tier_runs(tiers):
        figure.draw_shape(type="line", x0=first + 0.65, x1=last + 1.35, **look)
        if last - first + 1 >= _SHORTEST_TIER * len(tiers):
            place = {"x": 1 + (first + last) / 2, "y": 1.04, "yref": "paper", "yanchor": "bottom"}
            figure.write(f"{'tier ' * (first == 0)}{tier}", **place)


_STACKED_ROW = 44
"""Pixels of a row whose name stands above its bar."""


def drawable_rerankers(leaderboard: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of rerankers with at least one scored list."""
    return leaderboard.dropna(subset=marks.VALUES)


def score_bounds(
    leaderboard: pd.DataFrame, palette: Palette, measure: str, *, is_stacked: bool = False
) -> Figure:
    """Draw worst, best, tied and traditional mean per reranker; `is_stacked` puts names above bars."""
    figure, leaderboard = Figure(palette), drawable_rerankers(leaderboard)
    marks.add_bounds_rows(figure, leaderboard)
    if is_stacked:
        figure.style(100 + _STACKED_ROW * len(leaderboard), t=48)
        marks.label_rows_above(figure, leaderboard.index, 0.24)
        if "tier" in leaderboard:
            _shade_tiers(figure, leaderboard["tier"], 0, above=0.8)
            place = {"x": 1, "xref": "paper", "xanchor": "right", "yref": "y", "yanchor": "bottom"}
            for tier, first, _ in tier_runs(leaderboard["tier"]):
                figure.write(f"tier {tier}", y=first - 0.24, **place)
        figure.set_yaxes(range=[len(leaderboard) - 0.4, -0.8])
    else:
        figure.style(marks.rows_height(len(leaderboard)))
        marks.label_rows(figure, leaderboard.index)
    values = leaderboard[marks.VALUES].to_numpy()
    return figure.set_xaxes(title_text=measure, nticks=6, range=padded_range(values))


_MIN_WIDTH, _NAME_ROOM = 490, 142
"""Pixels that the chart keeps on a phone, and those of its names."""
_SLIM_COLUMN, _BROAD_COLUMN = 7, 9
"""Pixels of a column of narrow letters, and of other letters."""
FEW = 20
"""Rerankers above which only moves of `LONG_MOVE` ranks are highlighted."""
LONG_MOVE = 3
_SLOPE_ROW, _SLIM_ROW, _SLIM_FROM = 30, 20, 40
"""Pixels of a row, of a row where there are many, and the number from which there are many."""
_LEAST_ROWS = 3
"""Minimum height in rows; in a lower figure the axis title covers its ticks."""
_SPACES = {"left": "{}\u2002", "right": "\u2009{}"}
"""A rank with the space to its mark, which is wider than plotly assumes."""
_LEGEND: dict[str, Any] = {"x": 1, "xanchor": "right", "font": {"size": 12}, "itemsizing": "constant"}
_SLOPE, _NAMES, _SCORES, _TIER_ROOM = (0.075, 0.195), (0.27, 0.56), (0.57, 1.0), 0.04
"""Ends of the three panels as shares of the width, and the width of tiers."""
_LEGEND_ROW = 22
"""Pixels of the legend's second row."""


def is_out_of_order(leaderboard: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rerankers are highlighted: those that swap with another, or of many that move far."""
    if len(leaderboard) > FEW:
        moves = leaderboard["traditional_rank"] - leaderboard["tied_rank"]
        return moves.abs() >= LONG_MOVE
    swaps = swap_matrix(leaderboard)
    return pd.Series(swaps.any(axis=0) | swaps.any(axis=1), leaderboard.index)


def least_width(names: Iterable[str]) -> int:
    """Return the pixels that keep names apart from scores."""
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
    """Draw traditional and tied rank, name, and scores with tie bounds, one row per reranker.

    `leaderboard` is sorted, best first, with traditional, tied, worst, best, traditional_rank and tied_rank.
    Optional columns are tier, and query_low and query_high (confidence interval).
    `drawn_rerankers` selects rows. `order` names the ranking that the tied one is compared with.
    """
    leaderboard = drawable_rerankers(leaderboard)
    rows = leaderboard if drawn_rerankers is None else leaderboard.loc[list(drawn_rerankers)]
    stands_out = is_out_of_order(leaderboard)
    names = chart_names(map(str, leaderboard.index), SLOPE_COLUMNS)
    moves = _moves(leaderboard.assign(is_marked=stands_out), rows.index)
    ends = moves[["left", "right"]].to_numpy()
    above, below = bool((ends < 0).any()), bool((ends >= len(rows)).any())
    figure = Figure(palette)
    if intervals := [name for name in ("query_low", "query_high") if name in rows]:
        look = {"xaxis": "x2", "name": "queries, 95%", "legend": "legend2"}
        heights = pd.Series(np.arange(len(rows)), rows.index)
        marks.add_segments(figure, rows[intervals], heights, palette.muted, 1.5, **look)
    marks.add_bounds_rows(figure, rows, xaxis="x2")
    _add_slope(figure, moves, len(rows), order)
    is_marked = stands_out[rows.index].to_numpy(dtype=bool)
    words = _bold([names[str(name)] for name in rows.index], is_marked)
    look = {"textposition": "middle right", "xaxis": "x3"} | marks.values_hover(rows)
    figure.draw_words(np.zeros(len(rows)), np.arange(len(rows)), words, size=13, **look)
    if "tier" in rows:
        add_tier_brackets(figure, rows["tier"], _NAMES[0])
    height = _SLOPE_ROW if len(rows) <= _SLIM_FROM else _SLIM_ROW
    plot = height * max(len(rows) + above + below, _LEAST_ROWS)
    figure.style(88 + plot, b=BELOW - 4)
    figure.set_yaxes(visible=False, range=[len(rows) - 0.4 + below, -0.6 - above])
    hidden = {"visible": False, "range": [0, 1]}
    values = [*marks.VALUES, *intervals]
    scores = padded_range(rows[values].ffill(axis=1).to_numpy())
    if order != "traditional":  # legend and hover texts name the order
        for trace in figure.traces:
            for part in {"name", "hovertemplate"} & trace.keys():
                trace[part] = trace[part].replace("traditional", order)
    domain = (_SCORES[0] + _TIER_ROOM * ("tier" in rows), _SCORES[1])
    figure.set_layout(
        xaxis=hidden | {"domain": _SLOPE},
        xaxis3=hidden | {"domain": _NAMES},
        xaxis4=hidden | {"domain": (_NAMES[1], _NAMES[1] + _TIER_ROOM)},
        xaxis2={"domain": domain, "range": scores, "anchor": "y", "title": {"text": measure}, "nticks": 6},
        legend=_LEGEND,
    )
    if not intervals:
        return figure
    figure.set_traces({"type": "bar"}, legend="legend2")  # a second row: bars and lines below marks
    usual = figure.settings["template"]["layout"]["legend"]
    font = usual["font"] | _LEGEND["font"]
    return figure.set_layout(
        height=figure.height + _LEGEND_ROW,
        margin={"t": figure.settings["margin"]["t"] + _LEGEND_ROW},
        legend={"y": 1 + _LEGEND_ROW / plot},
        legend2=usual | _LEGEND | {"traceorder": "reversed", "font": font},
    )


def _moves(leaderboard: pd.DataFrame, drawn_rerankers: pd.Index) -> pd.DataFrame:
    """Return the rerankers whose traditional or tied rank is among the drawn rows.

    If the rows are not consecutive, lines show their relative order.
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


def _add_slope(figure: Figure, moves: pd.DataFrame, n_rows: int, order: str) -> None:
    """Connect traditional and tied rank of each reranker; lines to ranks outside the rows end at the edge."""
    palette = figure.palette
    for is_bold, colour, width in ((False, palette.other, 1.5), (True, palette.traditional, 2.5)):
        ends = moves.loc[moves["is_marked"] == is_bold, ["left", "right"]].clip(-0.7, n_rows - 0.3)
        across = pd.DataFrame({"left": 0, "right": 1}, ends.index)
        marks.add_segments(figure, across, ends.astype(float), colour, width)
    sides = (
        (0, "left", "traditional", marks.covering_diamond(palette, 11), palette.traditional, "from"),
        (1, "right", "tied", marks.tied_dot(palette), palette.tied, "to"),
    )
    for x_end, side, value, marker, colour, word in sides:
        inside, places = moves[moves[side].between(0, n_rows - 1)], moves[f"{value}_rank"]
        ranks = [_SPACES[side].format(place) for place in places[inside.index]]
        figure.draw_scatter(
            x=np.full(len(inside), x_end),
            y=inside[side],
            mode="markers+text",
            marker=marker,
            text=_bold(ranks, inside["is_marked"].to_numpy()),
            textposition=f"middle {side}",
            textfont={"size": 12, "color": palette.muted},
            **marks.values_hover(inside),
        )
        head = {"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 4}
        title, font = order if side == "left" else value, {"size": 13, "color": colour}
        figure.write(title, x=x_end, xref="x", font=font, **head)
        edges = ((moves[side] < 0, -0.75, "bottom"), (moves[side] >= n_rows, n_rows - 0.25, "top"))
        for is_outside, height, yanchor in edges:
            if is_outside.any():
                span = dict.fromkeys((places[is_outside].min(), places[is_outside].max()))
                text = f"{word}<br>{'–'.join(map(str, span))}"
                figure.write(text, x=x_end, xref="x", y=height, yanchor=yanchor)


def _bold(texts: Sequence[str], is_marked: BoolArray) -> list[str]:
    return [f"<b>{text}</b>" if is_bold else text for text, is_bold in zip(texts, is_marked, strict=True)]


_CLEARLY_OFF = 0.05
"""Share of the range of tied scores from which a gap has its diamond."""
_MANY_DOTS = 60
"""Rerankers above which dots are smaller."""

_TIER_LINES = 20
"""Pixels of the tier lines."""


def clear_gap(leaderboard: pd.DataFrame) -> float:
    """Return the gap from which the strip shows the traditional score."""
    return float(_CLEARLY_OFF * np.ptp(leaderboard["tied"]))


def place_strip(leaderboard: pd.DataFrame, palette: Palette, measure: str, first: int, last: int) -> Figure:
    """Draw the tied score of every reranker by rank, framing rows `first` to `last`, counted from 0."""
    places = np.arange(1, len(leaderboard) + 1)
    figure, spots = Figure(palette), leaderboard.set_axis(places)
    ends = {"x0": first + 0.5, "x1": last + 1.5, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    frame = {"line": {"color": palette.tied, "width": 1.5}, "fillcolor": faded(palette.tied, 0.06)}
    figure.draw_shape(type="rect", **ends, **frame)
    marks.add_segments(figure, pd.Series(places, places), spots[["worst", "best"]], palette.bounds, 5)
    is_off = (spots["gap"].abs() >= max(clear_gap(leaderboard), EQUAL)).to_numpy()
    is_framed = (places > first) & (places <= last + 1)
    size = 7 if len(places) <= _MANY_DOTS else 4
    dot = marks.tied_dot(palette, size) | {"color": np.where(is_framed, palette.tied, palette.muted)}
    for value, rows, marker in (
        ("traditional", is_off, marks.traditional_diamond(palette, 11)),
        ("tied", np.ones(len(places), dtype=bool), dot),
    ):
        hover = marks.values_hover(leaderboard[rows])
        figure.draw_marks(x=places[rows], y=spots[value][rows], marker=marker, **hover)
    room = _TIER_LINES * ("tier" in leaderboard)
    figure.style(170 + room, t=12 + room, b=BELOW_TICKS)
    if "tier" in leaderboard:
        add_tier_lines(figure, leaderboard["tier"])
    figure.set_yaxes(title_text=measure, nticks=4, range=padded_range(leaderboard[marks.VALUES].to_numpy()))
    return figure.set_xaxes(range=[0.3, len(places) + 0.7], showgrid=False, tickformat="d", nticks=12)


_TOOL_ROOM = 14
"""Pixels between the legend and the chart of tools, whose marks look alike."""


def tool_strip(leaderboard: pd.DataFrame, values: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the score that each tool reports as a tick on the bounds, and the tied score as a dot.

    A tick is wider where several tools agree.
    """
    figure = Figure(palette).style(marks.rows_height(len(leaderboard)) + _TOOL_ROOM, t=42 + _TOOL_ROOM)
    marks.add_bounds(figure, leaderboard)
    look = {"symbol": "line-ns-open", "size": 18, "color": palette.traditional}
    rounded = values.assign(value=values["value"].round(6))
    groups = rounded.groupby(["reranker", "value"], sort=False)["tool"]
    for number, ((reranker, value), tools) in enumerate(groups):
        figure.draw_marks(
            x=[value],
            y=[leaderboard.index.get_loc(reranker)],
            marker=look | {"line": {"width": 1.5 + min(len(tools), 6) / 2}},
            name="other tools (wide: several agree)",
            legendgroup="tools",
            showlegend=number == 0,
            hovertemplate=f"<b>%{{x:.4f}}</b><br>{'<br>'.join(map(hover_text, tools))}",
        )
    figure.draw_marks(
        x=leaderboard["tied"],
        y=np.arange(len(leaderboard)),
        marker=marks.tied_dot(palette),
        name="tied",
        customdata=[hover_text(str(name)) for name in leaderboard.index],
        hovertemplate="<b>%{customdata}</b><br>tied %{x:.4f}",
    )
    figure.set_layout(legend={"y": 1 + _TOOL_ROOM / (marks.rows_height(len(leaderboard)) - 42 - BELOW)})
    marks.label_rows(figure, leaderboard.index, top=marks.CLEAR_TOP)
    means = [leaderboard[["worst", "best", "tied"]].to_numpy().ravel(), values["value"].to_numpy()]
    return figure.set_xaxes(range=padded_range(np.concatenate(means)), title_text=measure, nticks=6)
