"""Every pair of rerankers: how sure their order is, and which of them differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import MATRIX_COLUMNS, escaped, hover_text, short_names, text_columns
from dashboard.charts.marks import add_legend, cells
from dashboard.charts.palette import Palette, blend, faded
from dashboard.charts.style import note_of, set_xaxes, set_yaxes, style
from metrics.evaluation import EQUAL
from metrics.studies.prose import signed
from metrics.studies.significance import Verdicts
from metrics.studies.test_registry import is_significant
from metrics.support.wording import chance_percent, with_signs, written_p

_ROW = 30, 16
"""Pixels of a row where there are few, and of many."""
_MAX_WRITTEN = 24
"""Rerankers up to which cells carry figures."""
_LEGEND_INSIDE = 9
"""Rerankers from which on the empty triangle has room for what the colours mean."""
_COLUMN, _LETTER = 31, 7.5
"""Pixels of a column that carries figures, and of a letter of a name."""
_PHONE_COLUMN, _PHONE_ROW, _NAME = 25, 46, 22
"""The same of a column and of a row on a phone, and of the name above its cells."""
_UNMOVED, _LEVEL = "·", "="
"""A pair that no order of the ties reverses, and one that every order leaves level."""


def matrix_width(n: int, *, is_narrow: bool = False) -> int:
    """Return the pixels across that so many rerankers need on any screen; fewer with names above their rows."""
    if is_narrow and n <= _MAX_WRITTEN:
        return _PHONE_COLUMN * n
    return 150 + (_COLUMN if n <= _MAX_WRITTEN else 8) * n


def order_matrix(
    pairs: pd.DataFrame, order: Sequence[str], palette: Palette, *, is_narrow: bool = False
) -> Figure:
    """Draw the percent of tie-breakings in which the row is above the column; coloured where near 50.

    Args:
        pairs: as `stability.pairwise_order` returns them.
        order: rerankers by falling expected mean.
        palette: colours of the theme.
        is_narrow: whether it is drawn for a phone.
    """
    position = {name: index for index, name in enumerate(order)}
    doubt, text, hover = _empty_triangles(len(order))
    for pair in pairs.itertuples():
        chance, upper, lower = pair.above, pair.reranker, pair.other
        if position[upper] > position[lower]:
            chance, upper, lower = pair.below, lower, upper
        cell = position[upper], position[lower]
        doubt[cell] = 1 - abs(pair.above - pair.below) if pair.reversible else 0
        text[cell], says = _order_words(pair, chance)
        hover[cell] = f"<b>{hover_text(upper)}</b> above {hover_text(lower)}<br>{says}"
    scale = [[0, palette.faint], [0.02, palette.faint], [1, palette.warm[2]]]
    legend = {}
    if pairs["reversible"].any():
        legend["50: fragile, a coin decides"] = palette.warm[2]
        legend["85: leans"] = blend(palette.faint, palette.warm[2], 0.3)
    pale = {
        ">99: settled in practice": pairs["reversible"].any(),
        f"{_UNMOVED} : no order of the ties reverses it": (text == _UNMOVED).any(),
        f"{_LEVEL} : level in every order of the ties": (text == _LEVEL).any(),
    }
    legend["<br>".join(words for words, is_there in pale.items() if is_there)] = palette.faint
    figure = _draw_cells((doubt, text, hover), scale, (0, 1))
    return _lay_out_triangle(figure, order, legend, palette, is_narrow=is_narrow)


def verdict_matrix(
    pairs: Verdicts, order: Sequence[str], palette: Palette, *, is_narrow: bool = False
) -> Figure:
    """Write the tied difference of each pair, bold if significant, coloured by which value's test is.

    Args:
        pairs: every two rerankers compared, by tied and by traditional values.
        order: rerankers by falling tied mean.
        palette: colours of the theme.
        is_narrow: whether it is drawn for a phone.
    """
    kind, text, hover = _empty_triangles(len(order))
    names = pd.Index(order)
    ends = [names.get_indexer(pairs.tied[column]) for column in ("reranker", "baseline")]
    tied, traditional = (
        is_significant(rows["p_adjusted"].to_numpy(), pairs.level) for rows in (pairs.tied, pairs.traditional)
    )
    labels = ("neither", "traditional only", "tied only", "both")
    kinds = traditional + 2 * tied
    for reranker, baseline, code, row in zip(*ends, kinds.tolist(), pairs.tied.itertuples(), strict=True):
        cell = min(reranker, baseline), max(reranker, baseline)
        difference = row.difference if reranker < baseline else -row.difference
        kind[cell] = code
        text[cell] = _difference_text(difference, palette, is_bold=code > 1)
        hover[cell] = (
            f"<b>{hover_text(order[cell[0]])}</b> minus {hover_text(order[cell[1]])}"
            f"<br>tied {signed(difference, 4)}<br>significant: {labels[code]}"
            f"<br>adjusted p, tied {written_p(row.p_adjusted)}"
        )
    fills = (faded(palette.other, 0.12), palette.warm[0], palette.bounds, faded(palette.other, 0.6))
    steps = [[place, fill] for code, fill in enumerate(fills) for place in (code / 4, (code + 1) / 4)]
    legend = {f"{labels[code]} · {int((kinds == code).sum())}": fills[code] for code in (3, 2, 1, 0)}
    figure = _draw_cells((kind, text, hover), steps, (-0.5, 3.5))
    return _lay_out_triangle(figure, order, legend, palette, is_narrow=is_narrow)


def _empty_triangles(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (n, n) values, words and hover texts of cells, none of them filled."""
    return np.full((n, n), np.nan), np.full((n, n), "", dtype=object), np.full((n, n), "", dtype=object)


def _draw_cells(
    triangles: tuple[np.ndarray, np.ndarray, np.ndarray],
    colours: Sequence[list[Any]],
    ends: tuple[float, float],
) -> Figure:
    """Return a figure of cells, as `_empty_triangles` begins them; of many, words stand in the hover alone."""
    values, text, hover = triangles
    words = text if len(text) <= _MAX_WRITTEN else None
    look = {"hovertemplate": "%{customdata}<extra></extra>", "showlegend": False}
    return Figure().draw(cells(values, colours, words, zmin=ends[0], zmax=ends[1], customdata=hover, **look))


def _order_words(pair: Any, chance: float) -> tuple[str, str]:  # noqa: ANN401 a row of a table
    """Return what the cell of a pair says, and its hover; `chance` is that of the row above the column."""
    level = f"<br>level in {chance_percent(pair.equal)}" if 0 < pair.equal < 1 else ""
    if pair.reversible:
        return _chance_text(chance), f"in {chance_percent(chance)} of tie-breakings{level}<br>{pair.method}"
    if pair.equal == 1:
        return _LEVEL, "level in every order of the ties"
    return _UNMOVED, f"no order of the ties reverses it{level}"


def _chance_text(chance: float) -> str:
    """Return a chance as whole percent without its sign; never 0 or 100."""
    return with_signs(chance_percent(chance)).removesuffix("%")


def _difference_text(difference: float, palette: Palette, *, is_bold: bool) -> str:
    """Return a difference with three decimals and no zero before the point."""
    size = f"{abs(difference):.3f}".removeprefix("0")
    text = f"{'−' * (difference < 0)}{size}" if size != ".000" else "<.001" if abs(difference) > EQUAL else "0"
    return f"<b>{text}</b>" if is_bold else f"<span style='color:{palette.muted}'>{text}</span>"


def _lay_out_triangle(
    figure: Figure, order: Sequence[str], legend: Mapping[str, str], palette: Palette, *, is_narrow: bool
) -> Figure:
    """Number the columns, name each row, and say what the colours mean: `legend` has words → colour."""
    n = len(order)
    is_narrow = is_narrow and n <= _MAX_WRITTEN
    margin = 8
    if is_narrow:
        _name_above(figure, order, palette)
    else:
        margin = max(margin, _name_at_diagonal(figure, order, palette))
    look = {"symbol": "square", "size": 14, "line": {"width": 1, "color": palette.muted}}
    add_legend(figure, {words: look | {"color": colour} for words, colour in legend.items()})
    is_inside = n >= _LEGEND_INSIDE and not is_narrow
    row = _PHONE_ROW if is_narrow else max(_ROW[1], min(_ROW[0], 900 // n))
    margins = {"l": margin, "t": 28, "b": 8 if is_inside else 96}
    above = _NAME / _PHONE_ROW if is_narrow else 0  # rows that the first name takes
    style(figure, palette, margins["t"] + margins["b"] + round(row * (n + above)), **margins)
    place = {"x": 0, "y": 0, "yanchor": "bottom" if is_inside else "top", "orientation": "v"}
    figure.set_layout(showlegend=True, legend=place | {"font": {"size": 12}})
    step = 1 if n <= 2 * _MAX_WRITTEN else 10
    places = np.arange(n)
    ticks = places[(places == 0) | ((places + 1) % step == 0)]
    set_xaxes(
        figure,
        side="top",
        showgrid=False,
        tickvals=ticks,
        ticktext=ticks + 1,
        tickangle=0,
        range=[-0.5, n - 0.5],
    )
    return set_yaxes(figure, showgrid=False, showticklabels=False, range=[n - 0.5, -0.5 - above])


def _name_at_diagonal(figure: Figure, order: Sequence[str], palette: Palette) -> int:
    """Write each name left of its cells, in the empty triangle; return the margin that names need."""
    labels, places = short_names(order, MATRIX_COLUMNS), np.arange(len(order))
    figure.draw_scatter(
        x=places + 0.4,
        y=places,
        mode="text",
        text=[f"{escaped(labels[name])}  <b>{place}</b>" for place, name in enumerate(order, start=1)],
        textposition="middle left",
        textfont={"size": 12, "color": palette.text},
        cliponaxis=False,
        hovertext=[hover_text(name) for name in order],
        hoverinfo="text",
        showlegend=False,
    )
    cell = (matrix_width(len(order)) - 150) / len(order)
    widths = _LETTER * (np.array([text_columns(labels[name]) for name in order]) + 4)
    return int((widths - cell * (places + 0.9)).max())


def _name_above(figure: Figure, order: Sequence[str], palette: Palette) -> None:
    """Write each name above its cells, which are lower and closer for it."""
    labels = short_names(order, MATRIX_COLUMNS)
    figure.set_traces({"type": "heatmap"}, ygap=_NAME, textfont={"size": 10})
    foot = (_PHONE_ROW - _NAME) / 2 / _PHONE_ROW
    place = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom"}
    font = {"size": 12, "color": palette.text}
    figure.write_notes(
        note_of(f"<b>{row + 1}</b>  {escaped(labels[name])}", palette, **place, y=row - foot, font=font)
        for row, name in enumerate(order)
    )
