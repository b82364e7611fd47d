"""Charts of the orders of one list: the values that they give, and every single order."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_segments, traditional_diamond
from dashboard.charts.one_list import document_hover, score_text
from dashboard.charts.palette import Palette, blend, ink
from metrics.evaluation import EQUAL
from metrics.measures import parse
from metrics.studies.one_list import rank_column
from metrics.studies.permutations import MAX_RANKS, PossibleValues, chance_text, value_digits
from metrics.studies.prose import decimal
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import treatment

_ROW, _ROWS, _TOP, _BOTTOM = 36, 300, 52, 24
"""Pixels of a row and of all rows at most, above the first row, and of the words below the last one."""
_STRIP, _CHANCE, _VALUE = (0.19, 0.53), (0.59, 0.69), (0.72, 0.86)
"""Left and right end of the example orders, the chances and the axis of values, as shares of the width."""
_NAME, _SHARE, _WRITTEN, _BESIDE = 0.18, 0.58, 0.875, 0.97
"""Right end of the names of rows and of their chances, left end of values, and middle of the second measure."""
_NARROW_STRIP, _NARROW_VALUE, _STACKED = (0, 0.62), (0.66, 0.98), 1.7
"""The same on a phone, and rows that a row takes there with its words above it."""
_LEAST_RANKS, _LETTERS, _NARROW_LETTERS = 10, 50, 32
"""Ranks that a strip has at least, and letters along it."""
_HALF, _BOX, _LOW = 0.42, 0.31, 0.2
"""Half the height of a tie, of a relevant and of a non-relevant document, in rows."""
_FAR = 0.5
"""Share of the greatest value from which the least one begins the axis instead of 0."""


def permutations_figure(
    possible: PossibleValues, ladder: pd.DataFrame, palette: Palette, *, is_narrow: bool = False
) -> Figure:
    """Draw the possible values of a measure, a row each: an example order, its chance and the value on an axis.

    The blue line is the tied value, the diamond the traditional one. `ladder` is that of the list, see
    `metrics.studies.one_list.ladder`. A narrow figure writes each row above its order.
    """
    rows, n, start = possible.rows, len(possible.rows), possible.start
    heights = np.arange(n, dtype=np.float64) * (_STACKED if is_narrow else 1)
    top, end = -0.5 - is_narrow * (_STACKED - 1), heights[-1] + 1
    height = _TOP + round(min(_ROW * (end - top - 0.5), _ROWS)) + _BOTTOM
    figure = Figure(palette).style(height, l=0, r=0, t=_TOP, b=_BOTTOM)
    orders = np.array(rows["order"].to_list())
    ranks = start + np.arange(orders.shape[1])
    ends = start - 0.5, start + max(len(ranks), _LEAST_RANKS) - 0.5
    by_rank = bool(rows["first_rank"].notna().any())
    _add_orders(figure, orders, ladder, ranks, np.tile(ranks, (n, 1)), heights, is_first_only=by_rank)
    _add_scores(figure, ladder, ranks, ends, end, is_narrow=is_narrow)
    for k in sorted({parse(name).k or 0 for name in (possible.measure, possible.beside)}):
        if ends[0] < k + 0.5 < start + len(ranks) - 0.5:
            for first, last in zip(heights, heights, strict=True) if is_narrow else [(0, heights[-1])]:
                figure.draw_upright(k + 0.5, y0=first - _HALF, y1=last + _HALF)
            figure.write(f"k = {k}", x=k + 0.5, y=top, yref="y", yanchor="bottom")
    _add_values(figure, possible, heights, top, _NARROW_VALUE if is_narrow else _VALUE)
    if is_narrow:
        _write_rows(figure, possible, heights)
    else:
        _add_chances(figure, possible)
        _write_columns(
            figure, possible, "first relevant document at" if by_rank else "an order with this value"
        )
    hidden = {"visible": False, "anchor": "y"}
    return figure.set_layout(
        barmode="overlay",
        showlegend=False,
        xaxis=hidden | {"domain": _NARROW_STRIP if is_narrow else _STRIP, "range": ends},
        xaxis2=hidden | {"domain": _CHANCE, "range": (0, max(rows["chance"].max(), EQUAL))},
        xaxis4=hidden | {"domain": (0, 1), "range": (0, 1)},
        yaxis={"visible": False, "range": [end - 0.5, top]},
    )


def _write_rows(figure: Figure, possible: PossibleValues, heights: FloatArray) -> None:
    """Write each row above its order, that of the traditional value in its colour."""
    rows, palette, n_digits = possible.rows, figure.palette, value_digits(possible.rows)
    values = [decimal(value, n_digits) for value in rows["value"]]
    columns = zip(rows["name"], rows["chance"], values, _written(rows["beside"]), strict=True)
    words = [
        f"{f'{name} · ' * (name != value)}{chance_text(share)} · <b>{possible.measure} {value}</b> · "
        f"{possible.beside} {beside}"
        for name, share, value, beside in columns
    ]
    colours = np.where(rows["is_traditional"], palette.traditional, palette.text)
    place = {"xaxis": "x4", "textposition": "middle right", "size": 13}
    figure.draw_words(np.zeros(len(rows)), heights - _STACKED / 2, words, color=colours, **place)


def _write_columns(figure: Figure, possible: PossibleValues, head: str) -> None:
    """Write name, chance and values of each row in columns, and the tied value of the second measure."""
    rows, palette, n = possible.rows, figure.palette, len(possible.rows)
    n_digits, heights = value_digits(rows), np.arange(n)
    for column, side, texts, colour in (
        (_NAME, "left", rows["name"], palette.text),
        (_SHARE, "left", map(chance_text, rows["chance"]), palette.text),
        (_WRITTEN, "right", [decimal(value, n_digits) for value in rows["value"]], palette.text),
        (_BESIDE, "center", _written(rows["beside"]), np.where(rows["beside"], palette.text, palette.muted)),
    ):
        look = {"color": colour, "size": 13, "xaxis": "x4", "textposition": f"middle {side}"}
        figure.draw_words(np.full(n, column), heights, list(texts), **look)
    own = np.flatnonzero(rows["is_traditional"])
    look = {"xaxis": "x4", "textposition": "middle right", "size": 13}
    figure.draw_words([0], own, [treatment(possible.traditional).heading], color=palette.traditional, **look)
    tied = f"<b>{decimal(possible.scores.loc[possible.beside, 'expected'])}</b>"
    figure.draw_words([_BESIDE], [n - 0.2], [tied], color=palette.tied, size=13, xaxis="x4")
    for x, side, text in (
        (sum(_STRIP) / 2, "center", head),
        (sum(_CHANCE) / 2, "center", "chance"),
        (_WRITTEN, "left", possible.measure),
        (_BESIDE, "center", possible.beside),
    ):
        font = {"size": 12, "color": palette.text}
        figure.write(f"<b>{text}</b>", x=x, xref="x4", xanchor=side, y=-0.5, yref="y", yshift=24, font=font)


def _written(values: "pd.Series[float]") -> list[str]:
    """Write values with three decimals, or without any if all are whole."""
    return [f"{value:.0f}" if (values % 1 == 0).all() else decimal(value) for value in values]


def _add_orders(
    figure: Figure,
    orders: IntArray,
    ladder: pd.DataFrame,
    ranks: IntArray,
    across: IntArray,
    heights: FloatArray | IntArray,
    *,
    is_first_only: bool,
) -> None:
    """Draw orders as strips: a box for each document, before a pale block for each tie.

    `orders` is (n_orders, n_ranks) positions in the ladder, `ranks` their ranks, `across` the places of the
    boxes and `heights` of the orders. `is_first_only` makes relevant documents pale below the first.
    """
    palette, ties = figure.palette, ladder.iloc[ranks - 1]
    for _, tie in pd.DataFrame({"first": ties["first"], "at": np.arange(len(ranks))}).groupby("first")["at"]:
        is_tied = ties["last"].iloc[tie.iloc[0]] > ties["first"].iloc[tie.iloc[0]]
        left, right = across[:, tie.iloc[0]], across[:, tie.iloc[-1]]
        if is_tied:
            look = {"marker": {"color": palette.bounds}, "base": heights - _HALF}
            figure.draw_bars(
                x=(left + right) / 2, y=np.full(len(heights), 2 * _HALF), width=right - left + 0.92, **look
            )
    documents = ladder.iloc[orders.ravel()]
    is_relevant = documents["relevant"].to_numpy(dtype=bool).reshape(orders.shape)
    is_pale = is_relevant & (is_relevant.cumsum(axis=1) > 1) & is_first_only
    half, pale = np.where(is_relevant, _BOX, _LOW), blend(palette.ground, palette.tied, 0.5)
    fill = np.where(is_pale, pale, np.where(is_relevant, palette.tied, palette.ground))
    is_graded = bool((ladder["grade"] > 1).any())
    figure.draw_bars(
        x=across.ravel(),
        y=2 * half.ravel(),
        base=(heights[:, None] - half).ravel(),
        width=0.64,
        marker={
            "color": fill.ravel(),
            "line": {"width": 1, "color": np.where(is_relevant, palette.tied, palette.other).ravel()},
        },
        text=[f"{grade:g}" if is_graded and grade > 0 else "" for grade in documents["grade"]],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="none",
        textfont={"size": 11, "color": [ink(colour) for colour in fill.ravel()]},
        hovertext=[document_hover(document, rank_column(ladder)) for document in documents.to_dict("records")],
        hovertemplate="%{hovertext}",
    )


def _add_scores(
    figure: Figure,
    ladder: pd.DataFrame,
    ranks: IntArray,
    ends: tuple[float, float],
    height: float,
    *,
    is_narrow: bool,
) -> None:
    """Write the score of each tie below its block where it fits, and which ranks are drawn if not all are."""
    ranked_by, letters = rank_column(ladder), _NARROW_LETTERS if is_narrow else _LETTERS
    per_rank = letters / (ends[1] - ends[0])
    ties = ladder.iloc[ranks - 1].assign(rank=ranks).groupby("first")
    for _, tie in ties:
        text = score_text(ranked_by, tie[ranked_by].iloc[0], per_rank * len(tie))
        if text and tie["last"].iloc[0] > tie["first"].iloc[0]:
            figure.write(text, x=tie["rank"].mean(), y=height - 0.5, yref="y", yanchor="top")
    if len(ranks) < len(ladder):
        text = f"ranks {ranks[0]:,} to {ranks[-1]:,} of {len(ladder):,}"
        place = {"xref": "x4", "xanchor": "right", "yref": "y", "yanchor": "top"}
        figure.write(text, x=1 if is_narrow else _NAME, y=height - 0.5, **place)


def _add_chances(figure: Figure, possible: PossibleValues) -> None:
    rows, palette = possible.rows, figure.palette
    errors = {"error_x": {"array": rows["standard_error"], "color": palette.muted, "thickness": 1, "width": 3}}
    figure.draw_bars(
        x=rows["chance"],
        y=np.arange(len(rows)),
        orientation="h",
        width=0.45,
        marker={"color": palette.other},
        xaxis="x2",
        customdata=rows["standard_error"],
        hovertemplate="%{x:.4%} of all orders" + "<br>standard error %{customdata:.4%}" * bool(possible.draws),
        **errors if possible.draws else {},
    )


def _add_values(
    figure: Figure, possible: PossibleValues, heights: FloatArray, top: float, domain: tuple[float, float]
) -> None:
    """Draw each value as a dot, larger for a larger chance, on a line from the start of the axis."""
    rows, palette = possible.rows, figure.palette
    tied, own = possible.scores.loc[possible.measure, ["expected", possible.traditional]]
    low, high = float(rows["low"].min()), float(rows["high"].max())
    start = 0.0 if low < _FAR * high else low - 0.15 * (high - low)
    right = max(high, start + EQUAL)
    room = 0.06 * (right - start)
    lines = pd.DataFrame({"start": start, "end": rows["high"]})
    add_segments(figure, lines, pd.Series(heights), palette.grid, 2, xaxis="x3")
    line = {"color": palette.tied, "width": 2, "dash": "solid"}
    figure.draw_upright(tied, y0=top, y1=heights[-1] + 0.5, xref="x3", line=line)
    dot = {"color": blend(palette.ground, palette.tied, 0.6), "line": {"width": 0}}
    figure.draw_marks(
        x=rows["value"],
        y=heights,
        marker=dot | {"size": 7 + 9 * np.sqrt(rows["chance"])},
        customdata=rows[["low", "high"]],
        hovertemplate=f"{possible.measure} %{{x:.4f}}<br>from %{{customdata[0]:.4f}} to %{{customdata[1]:.4f}}",
        xaxis="x3",
    )
    figure.draw_marks(
        x=[own],
        y=heights[rows["is_traditional"]],
        marker=traditional_diamond(palette),
        hovertemplate=f"{treatment(possible.traditional).heading}: %{{x:.4f}}",
        xaxis="x3",
    )
    side = "right" if tied - start > 0.6 * (right - start) else "center"
    place = {"x": tied, "xref": "x3", "xanchor": side, "y": top, "yref": "y", "yanchor": "bottom"}
    text = f"<b>{parse(possible.measure).tied} {decimal(tied)}</b>"
    figure.write(text, font={"size": 13, "color": palette.tied}, **place)
    axis = {"visible": False, "anchor": "y", "domain": domain, "range": (start - room, right + room)}
    figure.set_layout(xaxis3=axis)


_ORDER_ROW, _PER_COLUMN, _BEHIND, _LEAST_SPAN = 17, 40, 6, 42
"""Pixels of a single order, orders one below another, ranks that the values behind a strip take, and of all."""


def orders_figure(
    orders: IntArray, values: pd.DataFrame, means: "pd.Series[float]", ladder: pd.DataFrame, palette: Palette
) -> Figure:
    """Draw every single order of a list as a strip with its values, side by side if there are many.

    `orders` is (n_orders, n_docs) positions in the ladder, `values` has a row for each order and a column for
    each of two measures, and `means` their tied values, which close the first column. Ranks below the last tie
    are left out; if too many ranks are left, also those that no tie covers.
    """
    varies = np.flatnonzero((orders != orders[0]).any(axis=0))
    ranks = np.arange(varies[-1] + 1 if len(varies) else min(len(ladder), MAX_RANKS))
    ranks = varies if len(ranks) > MAX_RANKS else ranks
    n, n_columns = len(orders), -(-len(orders) // _PER_COLUMN)
    n_rows, width = -(-n // n_columns), len(ranks) + _BEHIND
    column, heights = np.arange(n) // n_rows, np.arange(n) % n_rows
    across = column[:, None] * width + np.arange(len(ranks))
    figure = Figure(palette).style(44 + _ORDER_ROW * (n_rows + 2), l=0, r=0, t=44, b=0)
    _add_orders(figure, orders[:, ranks], ladder, ranks + 1, across, heights, is_first_only=True)
    span = max(n_columns * width, _LEAST_SPAN)
    look = {"xaxis": "x", "textposition": "middle center"}
    for number, name in enumerate(values):
        place = len(ranks) + 0.9 + 2.2 * number
        figure.draw_words(column * width + place, heights, _written(values[name]), size=12, **look)
        mean = f"<b>{decimal(means[name])}</b>"
        figure.draw_words([place], [n_rows + 0.2], [mean], size=12, color=palette.tied, **look)
        end, side = (place - 1, "left") if number else (place + 1, "right")  # long names grow apart
        for block in range(n_columns):
            x = block * width + end
            figure.write(f"<b>{name}</b>", x=x, xanchor=side, y=-0.6, yref="y", yanchor="bottom")
    label = f"mean of {n:,} orders" if n > 1 else "the only order"
    figure.write(label, x=len(ranks) + 4.4, y=n_rows + 0.2, yref="y", xanchor="left")
    axis = {"visible": False, "range": (-0.6, span - 0.5)}
    return figure.set_layout(
        barmode="overlay", showlegend=False, xaxis=axis, yaxis={"visible": False, "range": [n_rows + 1, -0.6]}
    )
