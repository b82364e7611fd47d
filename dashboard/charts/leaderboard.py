"""Charts of the Leaderboard: ranks beside scores, and other tools."""

from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts import marks
from dashboard.charts.figure import BELOW, BELOW_TICKS, Figure, value_axis
from dashboard.charts.labels import chart_names, hover_text, text_columns
from dashboard.charts.palette import Palette
from metrics.evaluation import EQUAL
from metrics.studies.prose import signed_decimals
from metrics.support.wording import percent, with_signs

_STACKED_ROW = 44
"""Pixels of a row whose name stands above its bar."""


def drawable_rerankers(leaderboard: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of rerankers with at least one scored list."""
    return leaderboard.dropna(subset=marks.VALUES)


def score_bounds(leaderboard: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw worst, best, tied and traditional mean per reranker, and the tied mean's interval if it is known.

    Names, tied means and ranks are above bars, so that all fit on a phone; a traditional rank if it differs.
    """
    figure, leaderboard, title = Figure(palette), drawable_rerankers(leaderboard), measure
    if "query_low" in leaderboard:
        title += " · line: Student's t, 95% over queries"
        ends = leaderboard[["query_low", "query_high"]].set_axis(np.arange(len(leaderboard))).dropna()
        marks.add_segments(figure, ends, pd.Series(ends.index, ends.index), palette.muted, 1.3)
    marks.add_bounds_rows(figure, leaderboard)
    figure.style(100 + _STACKED_ROW * len(leaderboard), t=48)
    marks.label_rows_above(figure, leaderboard.index, 0.24)
    place = {"x": 1, "xref": "paper", "xanchor": "right", "yref": "y", "yanchor": "bottom"}
    for row, (ranks, scored) in enumerate(zip(rank_texts(leaderboard), leaderboard.itertuples(), strict=True)):
        text = f"<b>{scored.tied:.3f}</b> · rank {ranks}"
        if scored.traditional_rank != scored.tied_rank:
            text += f", <span style='color:{palette.traditional}'>was #{scored.traditional_rank}</span>"
        figure.write(text, y=row - 0.24, **place)
    figure.set_yaxes(range=[len(leaderboard) - 0.4, -0.8])
    columns = leaderboard.columns.intersection([*marks.VALUES, "query_low", "query_high"])
    values = leaderboard[columns].ffill(axis=1).to_numpy()
    return figure.set_xaxes(title_text=title, nticks=6, **value_axis(values))


LEAST_WIDTH = 840
"""Pixels that keep the columns of the leaderboard apart."""
LONG_MOVE = 3
"""Ranks from which a move is highlighted."""
_ROW, _SLIM_ROW, _ROWS = 30, 18, 270
"""Pixels of a row, of a row where there are many, and of all rows, which twelve do not exceed."""
_LEAST_ROWS = 3
"""Minimum height in rows; in a lower figure the axis title covers its ticks."""
_COLUMNS = {"slope": 84, "rank": 38, "strip": 62, "name": 20, "tied": 50, "scores": 0}
_COLUMNS |= {"traditional": 46, "moved": 34, "gap": 68, "ties": 58}
"""Columns from left to right and their pixels in the least width, without the names; scores have the rest."""
_LETTER = 7.1
"""Pixels of a bold letter of a name."""
_DIGIT = 9
"""Width of a digit."""
_SPACE = 8
"""Width of the space beside the strip and beside the scores, as those of the columns."""
_TICK = 33
"""Pixels between the ticks of the scores."""
_APART = 15
"""Rerankers up to which the cells of a strip are drawn apart."""
_HALF_CELL = 0.22
"""Half the height of these cells, in rows."""
_RANK_HELP = (
    "The ranks that other queries of the same kind could give.<br>A lower mean can have a wider interval: its "
    "scores differ more from query to query."
)
Places = dict[str, tuple[float, float]]
"""Left and right end of each column, as shares of the width."""


def leaderboard_figure(
    leaderboard: pd.DataFrame,
    palette: Palette,
    labels: tuple[str, str],
    drawn_rerankers: Sequence[str] | None = None,
    order: str = "traditional",
) -> Figure:
    """Draw the leaderboard as a table with the scores on one axis.

    On the axis, a thin line is the interval of the tied mean over queries, a bar goes from the worst to the
    best tie order (if they differ), a dot is the tied and a diamond the traditional score. A slope from the
    traditional to the tied ranks comes first if a drawn rank changes.

    Args:
        leaderboard: rows, best first, with traditional, tied, worst, best, gap, tie_ratio, traditional_rank and
            tied_rank; optional: rank_low and rank_high (interval of the rank), query_low and query_high
            (interval of the mean).
        palette: colours of the theme.
        labels: names of the tied and of the traditional mean.
        drawn_rerankers: the rows to draw; all by default.
        order: what ranked the traditional scores.
    """
    leaderboard = drawable_rerankers(leaderboard)
    rows = leaderboard if drawn_rerankers is None else leaderboard.loc[list(drawn_rerankers)]
    moves, heights, figure = _moves(leaderboard, rows.index), np.arange(len(rows)), Figure(palette)
    has_slope = bool((moves["traditional_rank"] != moves["tied_rank"]).any())
    n_digits = len(str(len(leaderboard)))
    names = chart_names(map(str, leaderboard.index))
    labels_in_sight = [unescape(names[str(name)]) for name in rows.index]
    places = _places(
        n_digits, max(map(text_columns, labels_in_sight)), has_slope=has_slope, has_strip="rank_low" in rows
    )
    intervals = [name for name in ("query_low", "query_high") if name in rows]
    is_bar = (rows["best"] - rows["worst"] > EQUAL).to_numpy()
    marks.add_bounds(figure, rows[is_bar], y=heights[is_bar], xaxis="x2", showlegend=False)
    if intervals:
        ends = rows[intervals].set_axis(heights).dropna()
        marks.add_segments(figure, ends, pd.Series(ends.index, ends.index), palette.muted, 1.3, xaxis="x2")
    hover = marks.values_hover(rows, notes=_hover_notes(rows))
    marks.add_values(figure, rows, y=heights, xaxis="x2", showlegend=False, **hover)
    if has_slope:
        _add_slope(figure, moves, len(rows), places["slope"], order)
    if "rank_low" in rows:
        _add_strip(figure, rows, len(leaderboard))
    _add_texts(figure, rows, places, names, hover)
    _add_heads(figure, places, labels, has_intervals=bool(intervals), has_bars=bool(is_bar.any()))
    outside = moves[["left", "right"]].to_numpy()
    above, below = (bool(cut.any()) and has_slope for cut in (outside < 0, outside >= len(rows)))
    height = max(_SLIM_ROW, min(_ROW, _ROWS // len(rows)))
    figure.style(84 + height * max(len(rows) + above + below, _LEAST_ROWS), l=0, r=0, t=46, b=BELOW_TICKS)
    figure.set_yaxes(visible=False, range=[len(rows) - 0.4 + below, -0.6 - above])
    scores = value_axis(rows[[*marks.VALUES, *intervals]].ffill(axis=1).to_numpy())
    wide = LEAST_WIDTH * float(np.diff(places["scores"])[0])
    hidden = {"visible": False, "anchor": "y"}
    return figure.set_layout(
        barmode="overlay",
        xaxis=hidden | {"domain": (0, 1), "range": (0, 1)},
        xaxis2=scores | {"domain": places["scores"], "anchor": "y", "nticks": round(wide / _TICK)},
        xaxis4=hidden | {"domain": places["strip"], "range": (0.5, len(leaderboard) + 0.5)},
    )


def _places(n_digits: int, n_letters: int, *, has_slope: bool, has_strip: bool) -> Places:
    """Return the columns that ranks of so many digits and names of so many letters need."""
    widths = _COLUMNS | {"rank": _COLUMNS["rank"] + 2 * _DIGIT * (n_digits - 1)}
    widths["name"] += round(_LETTER * n_letters)
    widths |= ({} if has_slope else {"slope": 0, "moved": 0}) | ({} if has_strip else {"strip": 0})
    widths["scores"] = LEAST_WIDTH - sum(widths.values())
    ends = np.cumsum([0, *widths.values()]) / LEAST_WIDTH
    places = dict(zip(widths, zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True), strict=True))
    space, (start, end), (first, last) = _SPACE / LEAST_WIDTH, places["strip"], places["scores"]
    return places | {"strip": (start, max(start, end - 2 * space)), "scores": (first + space, last - 2 * space)}


def _hover_notes(rows: pd.DataFrame) -> list[str]:
    """Return the interval over queries, and the verdict with its reason, of each row that has them."""
    lines = pd.DataFrame(index=rows.index)
    if "query_low" in rows:
        ends = [f"{low:.4f} to {high:.4f}" for low, high in rows[["query_low", "query_high"]].to_numpy()]
        lines["interval"] = [f"95% over queries {text}<br>(Student's t, of this mean)" for text in ends]
    if "why" in rows:
        lines["why"] = [hover_text(f"{verdict}: {why}") for verdict, why in rows[["verdict", "why"]].to_numpy()]
    return ["<br>".join(texts) for texts in lines.to_numpy()]


def rank_texts(leaderboard: pd.DataFrame) -> list[str]:
    """Return the rank interval of each reranker, `1–4`, or its rank where there is no interval."""
    if "rank_low" not in leaderboard:
        return [str(rank) for rank in leaderboard["tied_rank"]]
    ends = leaderboard[["rank_low", "rank_high"]].to_numpy()
    return [f"{low}" if low == high else f"{low}–{high}" for low, high in ends]


def _add_strip(figure: Figure, rows: pd.DataFrame, n: int) -> None:
    """Draw ranks 1 to n of each row: pale, shaded within its interval, dark at its own rank."""
    palette = figure.palette
    low, high, own = (rows[name].to_numpy(np.float64) for name in ("rank_low", "rank_high", "tied_rank"))
    everything = np.ones(len(rows)), np.full(len(rows), float(n))
    for (first, last), colour in (
        (everything, palette.grid),
        ((low, high), palette.other),
        ((own, own), palette.muted),
    ):
        look = {"width": 2 * _HALF_CELL, "marker": {"color": colour}, "orientation": "h", "xaxis": "x4"}
        figure.draw_bars(x=last - first + 1, base=first - 0.5, y=np.arange(len(rows)), **look)
    for rank in range(1, n) if n <= _APART else ():
        ends = {"x0": rank + 0.5, "x1": rank + 0.5, "xref": "x4", "y0": 0, "y1": 1, "yref": "y domain"}
        figure.draw_shape(type="line", **ends, line={"color": palette.ground, "width": 1.5})


def _add_texts(
    figure: Figure, rows: pd.DataFrame, places: Places, names: Mapping[str, str], hover: dict[str, Any]
) -> None:
    palette, ranks = figure.palette, rows["traditional_rank"]
    is_moved = ranks != rows["tied_rank"]
    texts = {
        "rank": (rank_texts(rows), palette.muted),
        "name": ([f"<b>{names[str(name)]}</b>" for name in rows.index], palette.text),
        "tied": ([f"<b>{value:.3f}</b>" for value in rows["tied"]], palette.text),
        "traditional": ([f"{value:.3f}" for value in rows["traditional"]], palette.text),
        "moved": ([f"#{rank}" for rank in ranks], np.where(is_moved, palette.traditional, "rgba(0,0,0,0)")),
        "gap": ([signed_decimals(value) for value in rows["gap"]], palette.text),
        "ties": ([with_signs(percent(share)) for share in rows["tie_ratio"]], palette.text),
    }
    look = {"textposition": "middle right", "size": 13} | hover
    for column, (words, colour) in texts.items():
        x = np.full(len(rows), places[column][0])
        figure.draw_words(x, np.arange(len(rows)), words, color=colour, **look)


def _add_heads(
    figure: Figure, places: Places, labels: tuple[str, str], *, has_intervals: bool, has_bars: bool
) -> None:
    palette, (tied, traditional) = figure.palette, labels
    place = {"xref": "paper", "xanchor": "left", "xshift": -1}
    place |= {"yref": "paper", "yanchor": "bottom", "yshift": 8, "y": 1}
    rank = "rank, 95%" if places["strip"][1] > places["strip"][0] else "rank"
    hover = {"rank": {"hovertext": _RANK_HELP}} if rank != "rank" else {}
    heads = {"rank": rank, "tied": tied, "traditional": traditional, "gap": "gap", "ties": "tie ratio"}
    colours = {"tied": palette.tied, "traditional": palette.traditional}
    for column, words in heads.items():
        font = {"size": 12, "color": colours.get(column, palette.text)}
        figure.write(f"<b>{words}</b>", x=places[column][0], font=font, **place | hover.get(column, {}))
    key = ["line: Student's t, 95% over queries"] * has_intervals + ["bar: worst to best tie order"] * has_bars
    figure.write("<br>".join(key), x=sum(places["scores"]) / 2, **place | {"xanchor": "center"})


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


def _add_slope(
    figure: Figure, moves: pd.DataFrame, n_rows: int, place: tuple[float, float], order: str
) -> None:
    """Connect traditional and tied rank of each reranker; lines to ranks outside the rows end at the edge."""
    palette, size = figure.palette, (moves["traditional_rank"] - moves["tied_rank"]).abs()
    n_digits = len(str(moves[["traditional_rank", "tied_rank"]].to_numpy().max()))
    shares = ((19 + _DIGIT * n_digits) / _COLUMNS["slope"], 0.82)  # room for the ranks before the diamonds
    start, end = (place[0] + share * (place[1] - place[0]) for share in shares)
    for is_drawn, colour, width in (
        (size == 0, palette.grid, 1.5),
        ((size > 0) & (size < LONG_MOVE), palette.other, 1.5),
        (size >= LONG_MOVE, palette.traditional, 2.5),
    ):
        ends = moves.loc[is_drawn, ["left", "right"]].clip(-0.7, n_rows - 0.3)
        across = pd.DataFrame({"left": start, "right": end}, ends.index)
        marks.add_segments(figure, across, ends.astype(float), colour, width)
    sides = (
        (start, "left", "traditional", marks.covering_diamond(palette, 11), "from"),
        (end, "right", "tied", marks.tied_dot(palette), "to"),
    )
    for x_end, side, value, marker, word in sides:
        inside, ranks = moves[moves[side].between(0, n_rows - 1)], moves[f"{value}_rank"]
        figure.draw_scatter(
            x=np.full(len(inside), x_end),
            y=inside[side],
            mode="markers+text" if side == "left" else "markers",
            marker=marker,
            text=[f"{rank}\u2002" for rank in ranks[inside.index]],
            textposition="middle left",
            textfont={"size": 12, "color": palette.muted},
            **marks.values_hover(inside),
        )
        edges = ((moves[side] < 0, -0.75, "bottom"), (moves[side] >= n_rows, n_rows - 0.25, "top"))
        for is_outside, height, yanchor in edges:
            if is_outside.any():
                span = dict.fromkeys((ranks[is_outside].min(), ranks[is_outside].max()))
                text = f"{word}<br>{'–'.join(map(str, span))}"
                figure.write(text, x=x_end, xref="x", y=height, yanchor=yanchor)
    head = {"x": place[0], "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
    figure.write(f"{order}<br>→ tied", **head, yshift=8, font={"size": 11.5, "color": palette.muted})


_TOOL_ROOM = 14
"""Pixels between the legend and the chart of tools, whose marks look alike."""


def tool_strip(leaderboard: pd.DataFrame, values: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the score that each tool reports as a tick on the bounds, and the tied score as a dot.

    A tick is wider where several tools agree, and grey if `question` says that they measure something else.
    """
    figure = Figure(palette).style(marks.rows_height(len(leaderboard)) + _TOOL_ROOM, t=42 + _TOOL_ROOM)
    marks.add_bounds(figure, leaderboard)
    looks = {
        False: ("other tools (wide: several agree)", palette.traditional),
        True: ("something else measured", palette.muted),
    }
    rounded = values.assign(value=values["value"].round(6), is_other=values["question"] != "")
    groups, legend_names = rounded.groupby(["reranker", "value", "is_other"], sort=False), set()
    for (reranker, value, is_other), rows in groups:
        name, colour = looks[is_other]
        width, lines = 1.5 + min(len(rows), 6) / 2, [*rows["tool"], *filter(None, rows["question"].unique())]
        figure.draw_marks(
            x=[value],
            y=[leaderboard.index.get_loc(reranker)],
            marker={"symbol": "line-ns-open", "size": 14, "color": colour, "line": {"width": width}},
            name=name,
            legendgroup=name,
            showlegend=name not in legend_names,
            hovertemplate=f"<b>%{{x:.4f}}</b><br>{'<br>'.join(map(hover_text, lines))}",
        )
        legend_names.add(name)
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
    return figure.set_xaxes(title_text=measure, nticks=12, **value_axis(np.concatenate(means)))
