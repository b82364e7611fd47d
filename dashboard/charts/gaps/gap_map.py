"""Ties against the gap of a stored evaluation of any size, drawn from counts."""

import numpy as np

from dashboard.charts.figure import Figure
from dashboard.charts.gaps.panel_layers import (
    GapPanel,
    add_gap_distribution,
    gap_axis_top,
    label_gap_row,
    label_tie_axes,
    middles,
    panel_grid,
)
from dashboard.charts.palette import Palette
from dashboard.charts.style import style
from metrics.studies.gaps.gap import smooth_bins
from metrics.studies.gaps.gap_histogram import GapCells


def gap_map(ratios: GapCells, sizes: GapCells, palette: Palette, measure: str) -> Figure:
    """Draw tie ratio and largest tie against the gap, and its distribution; cells by the log of their count.

    Args:
        ratios: lists by tie ratio and gap.
        sizes: the same lists by largest tie and gap.
        palette: colours of the theme.
        measure: what the gap is of.
    """
    figure = panel_grid(1)
    top = gap_axis_top(ratios.levels[-1])
    _fill(GapPanel(figure, palette, top, 1, 1), ratios)
    _fill(GapPanel(figure, palette, top, 1, 2), sizes._replace(edges=sizes.edges - 0.5))
    counts = [ratios.high.sum(axis=0), ratios.low.sum(axis=0)]
    add_gap_distribution(figure, middles(ratios.levels), counts, palette)
    style(figure, palette, 430, t=48, l=48, r=24)
    label_gap_row(figure, palette, measure, top, 1)
    label_tie_axes(figure)
    return figure


def _fill(panel: GapPanel, cells: GapCells) -> None:
    """Add the cells between the first and the last that hold a list, and their mean."""
    used = np.flatnonzero(cells.n_lists)
    cells = cells.select_places(slice(used[0], used[-1] + 1)) if len(used) else cells
    x = middles(cells.edges)
    counts = (cells.high + cells.low).T
    shade = np.log10(counts, where=counts > 0, out=np.full(counts.shape, np.nan))
    panel.add_density(x, middles(cells.levels), shade, counts)
    panel.add_no_gap_strip(x, cells.none, cells.n_lists)
    if len(used) > 1:
        trend = smooth_bins(cells.edges, cells.n_lists, cells.sums, cells.squares)
        panel.add_mean_band(trend)
        panel.add_mean_line(trend)
