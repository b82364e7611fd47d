"""Charts of an audited table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure, named_ticks
from dashboard.charts.labels import CARD_COLUMNS, chart_names, hover_text, safe
from dashboard.charts.marks import label_rows
from dashboard.charts.palette import Palette
from metrics.studies.audit.reproduction import VERDICTS
from metrics.studies.prose import decimal
from metrics.support.wording import query_before

_WORDS = ("to the digit", "by rounding", "not reproduced")
_ROW, _TOP, _BOTTOM = 28, 64, 12
"""Pixels of a row, above the first row, and below the counts."""
_LEAST_ROWS = 4
"""Minimum height in rows, so that a legend of three rows fits."""
_COLUMN, _BROAD_COLUMN, _NAMES = 50, 64, 150
"""Pixels of a column, of one with differences, and of the names."""
_LEGEND = 400
"""Pixels at which the legend takes two rows."""
_LEVEL, _LEVEL_COLUMNS = 12, 8
"""Measures up to which their names are horizontal, and the longest such name in letters."""


def matrix_cells(figures: pd.DataFrame) -> pd.DataFrame:
    """Return one row per reranker and measure: of several queries, the figure farthest off.

    Adds n, the figures per cell, and n_off, those that are not reproduced.
    """
    rank = figures["verdict"].map(VERDICTS.index)
    size = figures["difference"].abs().fillna(np.inf)
    ordered = figures.assign(rank=rank, size=size).sort_values(["rank", "size"], ascending=False, kind="stable")
    is_off = ordered["verdict"] == VERDICTS[-1]
    grouped = ordered.assign(n=1, n_off=is_off).groupby(["reranker", "measure"], sort=False)
    worst = ordered.drop_duplicates(["reranker", "measure"]).set_index(["reranker", "measure"])
    return worst.drop(columns=["rank", "size"]).join(grouped[["n", "n_off"]].sum()).reset_index()


def matrix_width(n_measures: int, *, has_differences: bool) -> int:
    """Return the pixels that so many measures need on any screen."""
    return max(_LEGEND, _NAMES + n_measures * (_BROAD_COLUMN if has_differences else _COLUMN))


def reproduction_matrix(
    figures: pd.DataFrame, palette: Palette, rerankers: Sequence[str], *, has_differences: bool
) -> Figure:
    """Draw a mark per figure, rerankers by measures: filled if exact, hollow if rounded, orange if off.

    `figures` has reranker, measure, query_id, published, computed, difference and verdict. `rerankers` selects
    and orders the rows. `has_differences` writes the difference beside orange marks.
    """
    table, measures = matrix_cells(figures), list(dict.fromkeys(figures["measure"]))
    drawn_cells = table[table["reranker"].isin(list(rerankers))]
    rows, columns = pd.Index(rerankers), pd.Index(measures)
    figure, stripes = Figure(palette), np.arange(0, len(rerankers), 2)
    stripe = {"marker": {"color": palette.faint, "opacity": 0.5}, "orientation": "h", "width": 1}
    figure.draw_bars(x=np.full(len(stripes), len(measures)), base=-0.5, y=stripes, **stripe)
    counts = figures["verdict"].value_counts()
    hollow = {"size": 10, "color": palette.ground, "line": {"color": palette.text, "width": 2}}
    markers = {"size": 11, "color": palette.text}, hollow, {"size": 11, "color": palette.traditional}
    for verdict, words, marker in zip(VERDICTS, _WORDS, markers, strict=True):
        cells = drawn_cells[drawn_cells["verdict"] == verdict]
        has_text = has_differences and verdict == VERDICTS[-1]
        figure.draw_scatter(
            x=list(columns.get_indexer(cells["measure"])) or [None],  # an empty trace has no legend entry
            y=list(rows.get_indexer(cells["reranker"])) or [None],
            mode="markers+text" if has_text else "markers",
            marker=marker | {"opacity": 1},
            text=[f" {_short_difference(value)}" for value in cells["difference"]] if has_text else None,
            textposition="middle right",
            textfont={"size": 10, "color": palette.traditional},
            name=f"{words} · {counts.get(verdict, 0):,}",
            customdata=[_hover(cell) for cell in cells.to_dict("records")],
            hovertemplate="%{customdata}",
        )
    _add_counts(figure, table, columns, len(rerankers))
    height = _ROW * max(len(rerankers) + 1, _LEAST_ROWS) + _TOP + _BOTTOM
    figure.style(height, t=_TOP, b=_BOTTOM, r=40)
    label_rows(figure, rerankers)
    below = f"of {table['reranker'].nunique():,} reproduced"
    labels = [*chart_names(rerankers).values(), below]
    figure.set_yaxes(**named_ticks(labels), range=[len(labels) - 0.5, -0.5])
    margins = figure.settings["margin"]
    margins["l"] = max(margins["l"], 120)
    names = list(chart_names(measures, CARD_COLUMNS).values())
    is_level = len(measures) <= _LEVEL and max(map(len, names), default=0) <= _LEVEL_COLUMNS
    place = {"xref": "container", "x": 0, "yref": "container", "y": 1, "yanchor": "top"}
    figure.set_layout(showlegend=True, barmode="overlay", legend=place | {"font": {"size": 12}})
    ends, angle = [-0.5, len(measures) - 0.5], 0 if is_level else -40
    return figure.set_xaxes(side="top", **named_ticks(names), tickangle=angle, range=ends)


def _short_difference(value: float) -> str:
    """Return a signed difference with three decimals and no leading zero."""
    if pd.isna(value):
        return ""
    size = f"{abs(value):.3f}".removeprefix("0")
    return f"{'−' if value < 0 else '+'}{size}" if size != ".000" else "&lt;.001"


def _hover(cell: dict[str, Any]) -> str:
    lines = [f"<b>{hover_text(str(cell['reranker']))}</b>", hover_text(str(cell["measure"]))]
    if cell["n"] > 1:
        lines.append(
            f"{cell['n_off']:,} of {cell['n']:,} published figures could not be reproduced. The largest "
            "difference:"
        )
    if pd.notna(cell["query_id"]):
        query = str(cell["query_id"])
        lines.append(query_before(query) + hover_text(query))
    lines.append(f"published {decimal(cell['published'], 4)}")
    if pd.notna(cell["computed"]):
        lines.append(f"computed {decimal(cell['computed'], 4)}")
    return "<br>".join([*lines, _WORDS[VERDICTS.index(cell["verdict"])]])


def _add_counts(figure: Figure, table: pd.DataFrame, columns: pd.Index, row: int) -> None:
    """Write below each measure how many rerankers are reproduced, orange if not all."""
    comes_out = (table["verdict"] != VERDICTS[-1]).groupby(table["measure"], sort=False)
    counts, totals = comes_out.sum().reindex(columns), comes_out.size().reindex(columns)
    pairs = zip(counts, totals, strict=True)
    figure.draw_words(
        np.arange(len(columns)),
        np.full(len(columns), row),
        [f"{count:,}" for count in counts],
        color=np.where(counts.eq(totals), figure.palette.muted, figure.palette.traditional),
        customdata=[f"{count:,} of {total:,} are reproduced" for count, total in pairs],
        hovertemplate="%{customdata}",
    )


_RULE_ROW, _BAR = 40, 0.26
"""Pixels of a rule, and share of it that its bar takes."""
_LABEL_COLUMNS = 60


def convention_bars(conventions: pd.DataFrame, palette: Palette, row: int) -> Figure:
    """Draw a bar per convention: its share of reproduced figures. A click returns its row.

    `conventions` has label, to_the_digit, by_rounding and does_not_come_out; `row` is highlighted.
    """
    comes_out = conventions["to_the_digit"] + conventions["by_rounding"]
    totals = comes_out + conventions["does_not_come_out"]
    n, is_shown = len(conventions), np.arange(len(conventions)) == row
    figure = Figure(palette).style(24 + _RULE_ROW * n, t=12, b=12, l=4, r=44)
    data = [
        [
            index,
            f"<b>{safe(rule.label, _LABEL_COLUMNS)}</b><br>{rule.to_the_digit:,} to the digit, "
            f"{rule.by_rounding:,} by rounding<br>{rule.does_not_come_out:,} of {total:,} not reproduced",
        ]
        for index, (rule, total) in enumerate(zip(conventions.itertuples(), totals, strict=True))
    ]
    filled = np.where(is_shown, palette.text, palette.other)
    for lengths, colour in ((totals, np.full(n, palette.faint)), (comes_out, filled)):
        figure.draw_bars(
            x=lengths / totals,
            y=np.arange(n),
            orientation="h",
            width=_BAR,
            marker={"color": colour, "opacity": 1, "line": {"width": 0}},
            customdata=data,
            hovertemplate="%{customdata[1]}",
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
        )
    above = {"x": 0, "xref": "x", "xanchor": "left", "yanchor": "bottom", "yshift": 6}
    beside = {"x": 1, "xref": "x", "xanchor": "left", "yanchor": "middle", "xshift": 8}
    for index, (label, count) in enumerate(zip(conventions["label"], comes_out, strict=True)):
        bold = "<b>{}</b>" if index == row else "{}"
        font = {"size": 13, "color": palette.text if index == row else palette.muted}
        figure.write(bold.format(safe(label, _LABEL_COLUMNS)), y=index, font=font, **above)
        figure.write(bold.format(f"{count:,}"), y=index, font=font, **beside)
    figure.set_layout(barmode="overlay").set_yaxes(visible=False, range=[n - 0.6, -0.75])
    return figure.set_xaxes(visible=False, range=[0, 1])
