"""Where the documents of one list can land."""

import re
from collections.abc import Iterable
from html import unescape
from itertools import pairwise

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names
from dashboard.charts.marks import add_chance_key, add_cutoff, cells
from dashboard.charts.one_list.first_hit_bars import MAX_LABELS
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, set_yaxes, style
from metrics.support.arrays import FloatArray
from metrics.ties import place_chances

HEATMAP_ROWS = 24
"""Documents whose chances are drawn."""
_DEEP = 0.45
"""Chance from which on a cell is as deep in colour as the ground is not."""
_ROOM, _LETTER, _AIR = 430, 6.5, 4
"""Pixels that all cells of a row have together, of a letter of a figure, and around a figure."""

_AXIS, _KEY = 56, 28
"""Pixels of the labels and the title below the cells, and of the key below these."""


def rank_heatmap(ladder: pd.DataFrame, palette: Palette, k: int | None) -> Figure:
    """Draw the chance of each document at each rank: even over the places its tie group covers.

    Args:
        ladder: doc_id, grade, relevant, first, last; top first, as for `tie_ladder`.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    documents = ladder.head(HEATMAP_ROWS)
    n = len(documents)
    chance = place_chances(documents["first"], documents["last"], n)
    labels = chart_names(documents["doc_id"].astype(str), 18)
    names = [
        labels[str(document.doc_id)] + (f" · <b>{document.grade:g}</b>" if document.relevant else "")
        for document in documents.itertuples()
    ]
    figure = _chance_cells(chance, names, [f"rank {rank}" for rank in range(1, n + 1)], palette)
    if k is not None and k < n:
        add_cutoff(figure, palette, k, (0.4, n + 0.6), 0.35)
    height = 88 + _KEY + n * min(max(600 // n, 24), 40)
    style(figure, palette, height, t=20, b=_AXIS + _KEY, l=_room_for(names))
    add_chance_key(figure, palette, palette.heat[2:], -_AXIS)
    ticks = {"nticks": 13} if n > MAX_LABELS else {"dtick": 1}
    return set_xaxes(figure, title_text="rank", showgrid=False, tickformat="d", range=[0.5, n + 0.5], **ticks)


def tie_group_heatmap(groups: pd.DataFrame, palette: Palette) -> Figure:
    """Draw the chance of a document of each tie in each span of places: `rank_heatmap` for large ties.

    Groups are as of `tie_groups`; a row a group, a column a span of places.
    """
    groups = groups.head(HEATMAP_ROWS)
    n_places = int(groups["last"].iloc[-1])
    ends = np.unique(np.linspace(0, n_places, max(MAX_LABELS, len(groups)) + 1).round())
    low, high = groups[["first"]].to_numpy() - 1, groups[["last"]].to_numpy()
    inside = np.clip(np.minimum(high, ends[1:]) - np.maximum(low, ends[:-1]), 0, None)
    names = [f"{group.documents:,} tied · <b>{group.relevant:,}</b>" for group in groups.itertuples()]
    spans = [f"places {first + 1:,.0f} to {last:,.0f}" for first, last in pairwise(ends)]
    figure = _chance_cells(inside / (high - low), names, spans, palette)
    style(figure, palette, 96 + _KEY + 24 * len(groups), t=20, b=_AXIS + _KEY, l=_room_for(names))
    add_chance_key(figure, palette, palette.heat[2:], -_AXIS)
    return set_xaxes(
        figure,
        title_text="places up to",
        showgrid=False,
        tickvals=np.arange(2, len(ends), 2),
        ticktext=[f"{end:,.0f}" for end in ends[2::2]],
        range=[0.5, len(ends) - 0.5],
    )


def _room_for(names: Iterable[str]) -> int:
    """Return the pixels that names take beside the cells; with too few, plotly draws the figure again."""
    longest = max(len(unescape(re.sub("<[^>]*>", "", name))) for name in names)
    return round(_LETTER * longest) + 2 * _AIR


def _chance_cells(chance: FloatArray, rows: list[str], columns: list[str], palette: Palette) -> Figure:
    """Draw cells by chance, with figures where they have room; those that cannot be are palest."""
    n, n_columns = chance.shape
    x, y = np.arange(1, n_columns + 1), np.arange(1, n + 1)
    steps = np.maximum(np.linspace(0, 1, len(palette.heat) - 1), 1e-9)
    figure = Figure().draw(
        cells(
            chance,
            [[0, palette.heat[0]], *zip(steps, palette.heat[1:], strict=True)],
            x=x,
            y=y,
            customdata=np.array([[f"{row}<br>{column}" for column in columns] for row in rows], dtype=object),
            zmin=0,
            zmax=1,
            hovertemplate="%{customdata}: %{z:.4~f}<extra></extra>",
        )
    )
    row, column = np.nonzero(chance)
    figures = [f"{value:.0%}" for value in chance[row, column]]
    longest = max(map(len, figures), default=0)
    if n_columns <= min(MAX_LABELS, _ROOM / (_LETTER * longest + _AIR)):
        figure.draw_scatter(
            x=x[column],
            y=y[row],
            mode="text",
            text=figures,
            textfont={"size": 11, "color": np.where(chance[row, column] < _DEEP, palette.text, palette.ground)},
            hoverinfo="skip",
            showlegend=False,
        )
    return set_yaxes(figure, tickvals=y, ticktext=rows, range=[n + 0.5, 0.5], showgrid=False)
