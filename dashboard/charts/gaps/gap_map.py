"""Ties against the gap of a stored evaluation of any size, drawn from counts."""

import numpy as np

from dashboard.charts.figure import Figure
from dashboard.charts.gaps.panel_layers import (
    GapPanel,
    add_gap_distribution,
    gap_axis_top,
    label_tie_axis,
    middles,
)
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_yaxes, style
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
    figure = Figure.of_panels(1, 3, column_widths=(0.4, 0.36, 0.24), horizontal_spacing=0.045)
    figure.set_layout(bargap=0.12, barmode="stack", showlegend=False)
    top = gap_axis_top(ratios.levels[-1])
    panels = {"tie_ratio": ratios, "max_tie_size": sizes._replace(edges=sizes.edges - 0.5)}
    for col, (column, cells) in enumerate(panels.items(), 1):
        panel = GapPanel(figure, palette, top, 1, col)
        _fill(panel, cells)
        panel.label_gaps(f"| {measure} − tied {measure} |" if col == 1 else "")
        label_tie_axis(figure, column, row=1, col=col)
    set_yaxes(figure, showticklabels=False, col=2)
    set_yaxes(figure, range=[panel.below(2.1), top], col=3)
    counts = [ratios.high.sum(axis=0), ratios.low.sum(axis=0)]
    add_gap_distribution(figure, middles(ratios.levels), counts, palette)
    return style(figure, palette, 430, t=16, l=48, r=24)


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
