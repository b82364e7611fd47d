"""A stored evaluation of any size, drawn from counts."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.gaps.cells import (
    floor_of,
    margin,
    mean_band,
    mean_line,
    name_gaps,
    name_ties,
    no_gap_strip,
    shade,
    top_of,
)
from dashboard.charts.leaderboard.leaderboard import label_rows
from dashboard.charts.leaderboard.ridges import ridges, tie_bars
from dashboard.charts.palette import Palette
from dashboard.charts.style import style
from metrics.studies.gaps.gap import smooth_bins
from metrics.studies.gaps.gap_histogram import GapCells
from metrics.support.arrays import FloatArray, IntArray

ROW = 44
_LEAST = 0.05
"""Gap that an axis reaches at least."""


def gap_map(ratios: GapCells, sizes: GapCells, palette: Palette, measure: str) -> go.Figure:
    """Tie ratio and largest tie against the gap, and its distribution; cells as dark as counts are long.

    Args:
        ratios: lists by tie ratio and gap.
        sizes: the same lists by largest tie and gap.
        palette: colours of the theme.
        measure: what the gap is of.
    """
    figure = make_subplots(1, 3, column_widths=[0.4, 0.36, 0.24], horizontal_spacing=0.045)
    top = top_of(ratios.levels[-1])
    floor = floor_of(top)
    _panel(figure, ratios, palette, floor, 1)
    _panel(figure, sizes._replace(edges=sizes.edges - 0.5), palette, floor, 2)
    middles = (ratios.levels[1:] + ratios.levels[:-1]) / 2
    margin(figure, middles, [ratios.high.sum(axis=0), ratios.low.sum(axis=0)], palette)
    style(figure, palette, 430, t=48)
    name_gaps(figure, measure, palette, top, floor, 1)
    name_ties(figure)
    return figure.update_layout(bargap=0.12, barmode="stack", showlegend=False)


def _panel(figure: go.Figure, cells: GapCells, palette: Palette, floor: float, col: int) -> None:
    place, used = {"row": 1, "col": col}, np.flatnonzero(cells.n_lists)
    cells = cells.select_places(slice(used[0], used[-1] + 1)) if len(used) else cells
    edges = cells.edges
    counts = (cells.high + cells.low).T
    shown = np.log10(counts, where=counts > 0, out=np.full(counts.shape, np.nan))
    middles = (edges[1:] + edges[:-1]) / 2, (cells.levels[1:] + cells.levels[:-1]) / 2
    shade(figure, middles, shown, counts, palette, **place)
    no_gap_strip(figure, middles[0], cells.none, cells.n_lists, floor, palette, **place)
    if len(used) > 1:
        line = smooth_bins(edges, cells.n_lists, cells.sums, cells.squares)
        mean_band(figure, line, **place)
        mean_line(figure, line, palette, **place)


def gap_rows(
    board: pd.DataFrame, edges: FloatArray, counts: list[IntArray], palette: Palette, measure: str
) -> go.Figure:
    """Mean tie ratio and the distribution of gaps, a row a reranker.

    Args:
        board: index reranker; tie_ratio, gap, lists_with_gap.
        edges: of the gaps, as far below zero as above.
        counts: for each reranker, lists with a gap between them.
        palette: colours of the theme.
        measure: what the gap is of.
    """
    figure = make_subplots(1, 2, column_widths=[0.36, 0.64], horizontal_spacing=0.05, shared_yaxes=True)
    tie_bars(figure, board, palette, 1)
    ridges(figure, board, edges, counts, palette, 2)
    style(figure, palette, 110 + ROW * len(board), r=108, t=52)
    label_rows(figure, board)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13}, col=1)
    end = max(float(edges[-1]), _LEAST) * 1.04
    title = f"{measure} gap of single lists"
    return figure.update_xaxes(title_text=title, tickformat="+.2~f", nticks=6, range=[-end, end], col=2)
