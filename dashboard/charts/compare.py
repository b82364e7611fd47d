"""Charts of Compare: differences from a baseline, pairs of rerankers, possible ranks."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure, signed_ticks
from dashboard.charts.labels import MATRIX_COLUMNS, escaped, hover_text, short_names, text_columns
from dashboard.charts.marks import (
    CLEAR_TOP,
    add_chance_key,
    add_legend,
    cells,
    covering_diamond,
    label_rows,
    label_rows_above,
    row_height,
)
from dashboard.charts.palette import Palette, blend, faded, ink
from metrics.evaluation import EQUAL
from metrics.studies.pair_findings import Verdicts
from metrics.studies.pairs import significant_signs
from metrics.studies.prose import signed
from metrics.support.arrays import BoolArray, FloatArray
from metrics.support.wording import chance_percent, count_of, percent, with_signs, written_p

_NARROW_ROW = 60
"""Pixels of a comparison with its name above its values."""
_MIDDLE, _SHIFT = 0.16, 0.13
"""Rows from a row's middle to its values' middle, and from there to each value."""
_STARS_ROOM, _QUERIES_ROOM = 84, 116
"""Pixels to the right for the stars, and for the queries won, lost and equal."""
_BINS = 21
"""Bars of a histogram, the middle one around 0."""
_FEW_QUERIES = 8
"""Queries of a bar up to which each has its tick."""
_WASH = 0.12
"""Opacity of the background of rows whose verdict changes."""
_OUTLYING = 4.0
"""Multiple of the median reach above which a row is written in words."""


def difference_forest(verdicts: Verdicts, palette: Palette, measure: str, *, is_narrow: bool = False) -> Figure:
    """Draw traditional above tied difference per comparison, filled if significant.

    Rows whose verdict differs between the two are shaded. Outlying differences are written in words so that
    they do not flatten the others. On the right: queries won, lost and equal by tied values, then stars,
    traditional and tied. `is_narrow` puts names above the values, and leaves out the queries.
    """
    middle, room = (_MIDDLE, _STARS_ROOM) if is_narrow else (0.0, _STARS_ROOM + _QUERIES_ROOM)
    figure, is_outlying = Figure(palette), _is_outlying(verdicts)
    is_drawn, names = ~is_outlying, verdicts.tied["reranker"]
    for row in np.flatnonzero(verdicts.changed):
        wash = {"fillcolor": palette.traditional, "opacity": _WASH, "line": {"width": 0}, "layer": "below"}
        figure.draw_shape(type="rect", x0=0, x1=1, xref="paper", y0=row - 0.44, y1=row + 0.44, **wash)
    figure.draw_upright(0, line={"width": 1, "dash": "solid"}, layer="below")
    for kind, table, shift, symbol, size, colour in (
        ("traditional", verdicts.traditional, -_SHIFT, "diamond", 13, palette.traditional),
        ("tied", verdicts.tied, _SHIFT, "circle", 11, palette.tied),
    ):
        rows = table[is_drawn]
        fill = np.where(significant_signs(rows) != 0, colour, palette.ground)
        interval = {"type": "data", "symmetric": False, "color": colour, "thickness": 2.5, "width": 0}
        reach = {"array": rows["high"] - rows["difference"], "arrayminus": rows["difference"] - rows["low"]}
        figure.draw_marks(
            x=rows["difference"],
            y=np.flatnonzero(is_drawn) + middle + shift,
            error_x=interval | reach,
            marker=_marker(symbol, size, fill, colour) | {"opacity": 1},
            name=kind,
            showlegend=False,
            customdata=[
                [hover_text(str(row.reranker)), _test_text(row), count_of(row.n, "query")]
                for row in rows.itertuples()
            ],
            hovertemplate=f"<b>%{{customdata[0]}}</b><br>{kind} %{{x:+.4f}}<br>%{{customdata[1]}}"
            "<br>%{customdata[2]}",
        )
    marks = {
        "traditional": _marker("diamond", 10, palette.traditional, palette.traditional),
        "tied": _marker("circle", 10, palette.tied, palette.tied),
        "hollow: not significant": _marker("circle", 10, palette.ground, palette.muted),
    }
    add_legend(figure, marks)
    figure.style(104 + (_NARROW_ROW if is_narrow else row_height(len(names))) * len(names), r=room, t=56)
    if not is_narrow:
        label_rows(figure, names, top=CLEAR_TOP)
    else:
        washed = blend(palette.ground, palette.traditional, _WASH)
        label_rows_above(figure, names, 0.08, np.where(verdicts.changed, washed, palette.ground))
    drawn_rows = pd.concat([verdicts.tied[is_drawn], verdicts.traditional[is_drawn]])
    values = np.nan_to_num(drawn_rows[["low", "high", "difference"]].to_numpy(), posinf=0, neginf=0)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
    ends = [low, high] if high > low else None
    figure.set_xaxes(title_text=f"{measure} difference", range=ends, **signed_ticks(low, high, 6))
    for row in np.flatnonzero(is_outlying):
        traditional, tied = (table["difference"].iloc[row] for table in (verdicts.traditional, verdicts.tied))
        text = (
            f"off the scale: <span style='color:{palette.traditional}'>{signed(traditional)}</span> and "
            f"<span style='color:{palette.tied}'>{signed(tied)}</span>"
        )
        text, x, side = (f"← {text}", 0.01, "left") if tied < 0 else (f"{text} →", 0.99, "right")
        figure.write(text, xref="paper", y=row + middle, x=x, xanchor=side)
    for table, shift, title, colour in (
        (verdicts.traditional, room - 60, "trad.", palette.traditional),
        (verdicts.tied, room - 24, "tied", palette.tied),
    ):
        place = {"xref": "paper", "x": 1, "xanchor": "center", "xshift": shift}
        figure.write(title, **place, yref="paper", y=1, yanchor="bottom", font={"color": colour, "size": 12})
        for number, stars in enumerate(table["stars"]):
            is_quiet = stars in {"ns", "–"}
            font = {"color": palette.muted if is_quiet else colour, "size": 12 if is_quiet else 15}
            figure.write(stars, **place, y=number + middle, font=font)
    if not is_narrow:
        place = {"xref": "paper", "x": 1, "xanchor": "center", "xshift": 62, "font": {"size": 12}}
        figure.write("won · lost · equal", **place, yref="paper", y=1, yanchor="bottom")
        for number, row in enumerate(verdicts.tied.itertuples()):
            won, lost = f"{row.won:,}", f"{row.lost:,}"
            won = f"<b>{won}</b>" if row.won > row.lost else won
            lost = f"<b>{lost}</b>" if row.lost > row.won else lost
            figure.write(f"{won} · {lost} · {row.equal:,}", **place, y=number + middle)
    return figure


def difference_histogram(
    differences: FloatArray, pair: "pd.Series[Any]", palette: Palette, measure: str
) -> Figure:
    """Draw how many queries differ by how much, with the mean difference and its interval above.

    `differences` are those that are not 0, `pair` is the row of the table of pairs. The mean is filled if its
    difference is significant.
    """
    figure = Figure(palette, bargap=0.08)
    reach = float(np.abs(differences).max(initial=0)) or 1.0
    counts, ends = np.histogram(differences, _BINS, (-reach, reach))
    middles, top = (ends[1:] + ends[:-1]) / 2, 1.18 * max(1, counts.max())
    figure.draw_bars(
        x=middles,
        y=counts,
        marker={"color": palette.other},
        customdata=np.column_stack([ends[:-1], ends[1:]]),
        hovertemplate="%{y:,} queries<br>from %{customdata[0]:+.3f} to %{customdata[1]:+.3f}",
    )
    figure.draw_upright(0, line={"width": 1, "dash": "solid"}, layer="below")
    if np.isfinite(pair["low"]):
        figure.draw_line(x=[pair["low"], pair["high"]], y=[top, top], line={"color": palette.tied, "width": 3})
    fill = palette.tied if significant_signs(pair.to_frame().T)[0] else palette.ground
    figure.draw_marks(
        x=[pair["difference"]],
        y=[top],
        marker=_marker("circle", 11, fill, palette.tied) | {"opacity": 1},
        hovertemplate=f"mean {signed(pair['difference'], 4)}<br>{_test_text(pair)}",
    )
    side, end = ("left", pair["high"]) if pair["difference"] >= 0 else ("right", pair["low"])
    figure.write(
        f"mean {signed(pair['difference'])}",
        x=end if np.isfinite(end) else pair["difference"],
        y=top,
        xanchor=side,
        xshift=10 if side == "left" else -10,
        font={"color": palette.tied},
    )
    figure.style(300, t=32)
    figure.set_xaxes(title_text=f"{measure} difference of each query", **signed_ticks(-reach, reach, 8))
    figure.set_xaxes(range=[-1.05 * reach, 1.05 * reach])
    ticks = {"dtick": 1} if top < _FEW_QUERIES else {}
    return figure.set_yaxes(title_text="queries", range=[0, 1.12 * top], **ticks)


def _marker(symbol: str, size: int, fill: object, border: str) -> dict[str, object]:
    """Return a mark, hollow if filled with the background colour."""
    return {"symbol": symbol, "size": size, "color": fill, "line": {"width": 2, "color": border}}


def _is_outlying(verdicts: Verdicts) -> BoolArray:
    """Return whether both differences of each row are far off the scale of the others."""
    ends = pd.concat(
        [table[["low", "high", "difference"]] for table in (verdicts.tied, verdicts.traditional)], axis=1
    )
    reach = ends.abs().replace(np.inf, np.nan).max(axis=1).fillna(0.0).to_numpy()
    nearer = np.minimum(verdicts.tied["difference"].abs(), verdicts.traditional["difference"].abs())
    return np.asarray((nearer > _OUTLYING * np.median(reach)) & (len(reach) > 2))  # noqa: PLR2004 has a rest


def _test_text(row: Any) -> str:  # noqa: ANN401 a row of a table
    if np.isnan(row.p_adjusted):
        return "no test is possible"
    interval = f"from {signed(row.low, 4)} to {signed(row.high, 4)}"
    return f"{interval}<br>adjusted p {written_p(row.p_adjusted, 4)}"


_ROW, _ROWS = (28, 16), 480
"""Maximum and minimum pixels of a row, and of all rows where that leaves a choice."""
_MAX_WRITTEN, _MAX_ABOVE = 30, 24
"""Rerankers up to which cells have figures, and up to which a phone has names above cells."""
_LEGEND_INSIDE = 8
"""Rerankers from which the legend fits in the empty triangle."""
_COLUMN, _LETTER = 26, 7.5
"""Pixels of a column with figures, and of a letter of a name."""
_PHONE_COLUMN, _PHONE_ROW, _NAME = 25, 46, 22
"""Pixels of a column, a row and a name on a phone."""
_UNMOVED, _EQUAL = "·", "="
"""Cells of pairs that no tie order reverses, and of pairs that are equal in all orders."""
PairCells = dict[tuple[int, int], tuple[float, str, str]]
"""Row and column of a pair → value, text and hover text of its cell."""


def matrix_width(n: int, *, is_narrow: bool = False) -> int:
    """Return the pixels that so many rerankers need on any screen."""
    if is_narrow and n <= _MAX_ABOVE:
        return _PHONE_COLUMN * n
    return 150 + (_COLUMN if n <= _MAX_WRITTEN else 8) * n


def order_matrix(
    pairs: pd.DataFrame, order: Sequence[str], palette: Palette, *, is_narrow: bool = False
) -> Figure:
    """Draw the percentage of draws in which the row ranks above the column, coloured near 50.

    `pairs` are those of `Draws`. `order` sorts rerankers by tied mean.
    """
    position = {name: index for index, name in enumerate(order)}
    cells_of_pairs: PairCells = {}
    for pair in pairs.itertuples():
        chance, upper, lower = pair.above, pair.reranker, pair.other
        if position[upper] > position[lower]:
            chance, upper, lower = pair.below, lower, upper
        doubt, equal = 0.0, f"<br>equal in {chance_percent(pair.equal)}" if 0 < pair.equal < 1 else ""
        if pair.equal == 1:
            text, says = _EQUAL, "equal in every draw"
        elif pair.reversible:
            doubt, text = 1 - abs(pair.above - pair.below), with_signs(chance_percent(chance)).removesuffix("%")
            says = f"this ranking holds in {chance_percent(chance)} of the draws{equal}"
        else:
            text, says = _UNMOVED, f"no tie order reverses this pair{equal}"
        says = f"<b>{hover_text(upper)}</b> above {hover_text(lower)}<br>{says}"
        cells_of_pairs[position[upper], position[lower]] = doubt, text, says
    scale = [[0, palette.faint], [0.02, palette.faint], [1, palette.warm[2]]]
    legend = {}
    if pairs["reversible"].any():
        legend["50: decided by chance"] = palette.warm[2]
        legend["85: leans"] = blend(palette.faint, palette.warm[2], 0.3)
    texts = {text for _, text, _ in cells_of_pairs.values()}
    pale = {
        ">99: settled in practice": pairs["reversible"].any(),
        f"{_UNMOVED} : no tie order reverses this pair": _UNMOVED in texts,
        f"{_EQUAL} : equal in every draw": _EQUAL in texts,
    }
    legend["<br>".join(words for words, is_there in pale.items() if is_there)] = palette.faint
    return _draw_triangle(cells_of_pairs, order, palette, (scale, 0, 1), legend, is_narrow=is_narrow)


def verdict_matrix(
    pairs: Verdicts, order: Sequence[str], palette: Palette, *, is_narrow: bool = False
) -> Figure:
    """Write the tied difference of each pair, bold if significant, coloured by which test is significant.

    The legend counts all pairs, of which those of rerankers in `order` are drawn.
    """
    names = pd.Index(order)
    ends = [names.get_indexer(pairs.tied[column]) for column in ("reranker", "baseline")]
    tied, traditional = (significant_signs(rows) != 0 for rows in (pairs.tied, pairs.traditional))
    labels = ("neither", "traditional only", "tied only", "both")
    kinds, cells_of_pairs = traditional + 2 * tied, PairCells()
    for reranker, baseline, code, row in zip(*ends, kinds.tolist(), pairs.tied.itertuples(), strict=True):
        first, second = sorted((reranker, baseline))
        if first < 0:
            continue
        difference = row.difference if reranker < baseline else -row.difference
        text = _difference_text(difference, palette, is_bold=code > 1)
        p_text = f"adjusted p, tied {written_p(row.p_adjusted)}"
        says = (
            f"<b>{hover_text(order[first])}</b> minus {hover_text(order[second])}"
            f"<br>tied {signed(difference, 4)}<br>significant: {labels[code]}"
            f"<br>{'no test is possible' if np.isnan(row.p_adjusted) else p_text}"
        )
        cells_of_pairs[first, second] = code, text, says
    fills = (faded(palette.other, 0.12), palette.warm[0], palette.bounds, faded(palette.other, 0.6))
    steps = [[place, fill] for code, fill in enumerate(fills) for place in (code / 4, (code + 1) / 4)]
    legend = {f"{labels[code]} · {int((kinds == code).sum())}": fills[code] for code in (3, 2, 1, 0)}
    return _draw_triangle(cells_of_pairs, order, palette, (steps, -0.5, 3.5), legend, is_narrow=is_narrow)


def _difference_text(difference: float, palette: Palette, *, is_bold: bool) -> str:
    """Return a difference with three decimals and no leading zero."""
    if np.isnan(difference):
        return "–"
    size = f"{abs(difference):.3f}".removeprefix("0")
    text = f"{'−' * (difference < 0)}{size}" if size != ".000" else "<.001" if abs(difference) > EQUAL else "0"
    return f"<b>{text}</b>" if is_bold else f"<span style='color:{palette.muted}'>{text}</span>"


def _draw_triangle(
    cells_of_pairs: PairCells,
    order: Sequence[str],
    palette: Palette,
    scale: tuple[Sequence[list[Any]], float, float],
    legend: Mapping[str, str],
    *,
    is_narrow: bool,
) -> Figure:
    """Draw a cell per pair, number the columns, name the rows, and add a legend of words → colour.

    `scale` holds the colours and the values at their ends. Of many rerankers, words appear on hover only.
    """
    n = len(order)
    values, (text, hover) = np.full((n, n), np.nan), np.full((2, n, n), "", dtype=object)
    for cell, entry in cells_of_pairs.items():
        values[cell], text[cell], hover[cell] = entry
    colours, low, high = scale
    look = {"customdata": hover, "hovertemplate": "%{customdata}", "zmin": low, "zmax": high}
    figure = Figure(palette).draw(cells(values, colours, text if n <= _MAX_WRITTEN else None, **look))
    is_narrow = is_narrow and n <= _MAX_ABOVE
    margin = max(8, (_name_above if is_narrow else _name_at_diagonal)(figure, order))
    look = {"symbol": "square", "size": 14, "line": {"width": 1, "color": palette.muted}}
    add_legend(figure, {words: look | {"color": colour} for words, colour in legend.items()})
    is_inside = n >= _LEGEND_INSIDE and not is_narrow
    row = _PHONE_ROW if is_narrow else max(_ROW[1], min(_ROW[0], _ROWS // n))
    margins = {"l": margin, "t": 32, "b": 8 if is_inside else 96}
    above = _NAME / _PHONE_ROW if is_narrow else 0  # rows that the first name takes
    figure.style(margins["t"] + margins["b"] + round(row * (n + above)), **margins)
    place = {"x": 0, "y": 0, "yanchor": "bottom" if is_inside else "top", "orientation": "v"}
    figure.set_layout(showlegend=True, legend=place | {"font": {"size": 12}})
    step = 1 if n <= 2 * _MAX_WRITTEN else 10
    ticks = np.array([place for place in range(n) if place == 0 or (place + 1) % step == 0])
    look = {"side": "top", "showgrid": False, "tickangle": 0}
    figure.set_xaxes(tickvals=ticks, ticktext=ticks + 1, range=[-0.5, n - 0.5], **look)
    return figure.set_yaxes(showgrid=False, showticklabels=False, range=[n - 0.5, -0.5 - above])


def _name_at_diagonal(figure: Figure, order: Sequence[str]) -> int:
    """Write names left of their cells; return the margin they need."""
    labels, places = short_names(order, MATRIX_COLUMNS), np.arange(len(order))
    words = [f"{escaped(labels[name])}  <b>{place}</b>" for place, name in enumerate(order, start=1)]
    hover = {"hovertext": [hover_text(name) for name in order], "hoverinfo": "text"}
    figure.draw_words(places + 0.4, places, words, textposition="middle left", **hover)
    cell = (matrix_width(len(order)) - 150) / len(order)
    widths = _LETTER * (np.array([text_columns(labels[name]) for name in order]) + 4)
    return int((widths - cell * (places + 0.9)).max())


def _name_above(figure: Figure, order: Sequence[str]) -> int:
    """Write names above their cells, which needs no margin."""
    labels = short_names(order, MATRIX_COLUMNS)
    figure.set_traces({"type": "heatmap"}, ygap=_NAME, textfont={"size": 10})
    place = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom"}
    font = {"size": 12, "color": figure.palette.text}
    for row, name in enumerate(order):
        y = row - (_PHONE_ROW - _NAME) / 2 / _PHONE_ROW
        figure.write(f"<b>{row + 1}</b>  {escaped(labels[name])}", **place, y=y, font=font)
    return 0


_MAX_FINISHES = 12
"""Ranks up to which cells have figures."""
_CELL, _SLIM_CELL, _LOWERED = 29, 19, 8
"""Pixels of a cell with and without its figure, and by which a diamond is below a figure."""
_FINISH_NAME, _FINISH_GAP = 24, 3
"""Pixels between rows with and without names there."""
_MAX_SIGNED = 8
"""Ranks up to which figures have a percent sign."""
_NEARLY = 1 - 1e-9
"""Largest probability of a rank that is not the only one."""
_MIN_CHANCE = 0.005
"""Probability from which a rank is drawn."""


def finish_heatmap(
    places: pd.DataFrame,
    spread: pd.DataFrame,
    traditional: Sequence[int],
    palette: Palette,
    *,
    is_narrow: bool = False,
) -> Figure:
    """Draw the probability of each rank as a shade, possible ranks as an outline, and the traditional rank.

    `places` has one column per rank. `spread` has best_place and worst_place. `is_narrow`
    puts names above rows.
    """
    n = places.shape[1]
    cell, gap = _CELL if n <= _MAX_FINISHES else _SLIM_CELL, _FINISH_NAME if is_narrow else _FINISH_GAP
    height, half = cell + gap, cell / (cell + gap) / 2
    names = np.array([hover_text(str(name)) for name in places.index], dtype=object)
    is_open = (spread["worst_place"] > spread["best_place"]).to_numpy()
    chance = places.to_numpy().clip(max=np.where(is_open, _NEARLY, 1.0)[:, None])
    is_drawn = chance >= _MIN_CHANCE
    words = np.vectorize(lambda share: with_signs(percent(share)), otypes=[object])(chance)
    short = np.where(is_drawn, [[text.removesuffix("%") for text in row] for row in words], "")
    text = np.where(is_drawn, words, "") if n <= _MAX_SIGNED else short if n <= _MAX_FINISHES else None
    shades = (*palette.heat[:4], palette.tied)
    is_traditional = np.arange(1, n + 1) == np.array(traditional)[:, None]
    inked = np.vectorize(partial(_inked, shades), otypes=[object])
    figure = Figure(palette).draw(
        cells(
            np.where(is_drawn, chance, np.nan),
            shades,
            None if text is None else inked(text, chance, is_traditional),
            x=np.arange(1, n + 1),
            zmin=0,
            zmax=1,
            xgap=3,
            ygap=gap,
            customdata=np.dstack([np.repeat(names[:, None], n, axis=1), words]),
            hovertemplate="<b>%{customdata[0]}</b><br>rank %{x}: %{customdata[1]}",
        )
    )
    for row, (best, worst) in enumerate(zip(spread["best_place"], spread["worst_place"], strict=True)):
        box = {"x0": best - 0.5, "x1": worst + 0.5, "y0": row - half - 0.03, "y1": row + half + 0.03}
        figure.draw_shape(type="rect", line={"color": palette.other, "width": 1.5}, **box)
    is_lowered = is_drawn[is_traditional] & (n <= _MAX_FINISHES)
    figure.draw_marks(
        x=np.array(traditional),
        y=np.arange(len(names)) + _LOWERED / height * is_lowered,
        marker=covering_diamond(palette, 12),
        customdata=list(zip(names, traditional, strict=True)),
        hovertemplate="<b>%{customdata[0]}</b><br>traditional rank %{customdata[1]}",
    )
    figure.style(96 + height * len(names), b=40)
    add_chance_key(figure, shades[1:], -6)
    if is_narrow:
        label_rows_above(figure, places.index, half + 0.04)
    else:
        label_rows(figure, places.index)
    figure.set_yaxes(range=[len(names) - 0.5, -0.85 if is_narrow else -0.5])
    step = 1 if n <= 2 * _MAX_FINISHES else 10
    return figure.set_xaxes(side="top", showgrid=False, tickformat="d", dtick=step, range=[0.4, n + 0.6])


def _inked(shades: Sequence[str], text: str, chance: float, is_traditional: bool) -> str:  # noqa: FBT001 vectorized
    """Return a cell's text in the colour that contrasts with its shade, above a diamond."""
    low = min(int(chance * (len(shades) - 1)), len(shades) - 2)
    shade = blend(shades[low], shades[low + 1], chance * (len(shades) - 1) - low)
    return text and f"<span style='color:{ink(shade)}'>{text}</span>{'<br>&nbsp;' * is_traditional}"
