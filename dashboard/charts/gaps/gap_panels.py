"""Ties against gaps: six panels in two rows, as in the notebook, drawn so that outliers can be clicked."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.gaps.panel_layers import (
    GapPanel,
    add_gap_distribution,
    first_dots,
    gap_axis_top,
    label_gap_row,
    label_tie_axes,
    middles,
    panel_grid,
)
from dashboard.charts.labels import hover_text
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, set_xaxes, set_yaxes, style
from metrics.evaluation import EQUAL
from metrics.studies.gaps.gap import trend
from metrics.support.arrays import FloatArray

CROWDED = 4
"""Lists in a cell from which on it is shaded instead of dotted."""
DOTS = 3000
"""Single lists drawn at most in a panel, the largest gaps first: so few need no WebGL, which starts slowly."""
BINS = 22
_PLACES = 300
"""Places a dot can take on an axis of its panel, about a pixel each; dots of one place are drawn as one."""
_OPACITY = 0.65
_TIES = {"tie_ratio": "tie ratio %{x:.4f}", "max_tie_size": "largest tie %{x}"}
"""Column of the x axis → its line in a hover text."""


def gap_panels(
    lists: pd.DataFrame, palette: Palette, names: tuple[str, str], selected: int | None = None
) -> Figure:
    """Draw tie ratio and largest tie against both gaps, their distribution, and one gap against the other.

    Args:
        lists: tie_ratio, max_tie_size, first_size, second_size (absolute gaps), first_gap, reranker,
            query_id; the index is what a click gives back.
        palette: colours of the theme.
        names: the two measures.
        selected: index of the list to ring.
    """
    figure = panel_grid(2)
    tops = [gap_axis_top(lists[column].max()) for column in ("first_size", "second_size")]
    ring = lists.loc[selected] if selected is not None and selected in lists.index else None
    for row, y in ((1, "first_size"), (2, "second_size")):
        for col, x in enumerate(_TIES, 1):
            _fill(GapPanel(figure, palette, tops[row - 1], row, col), lists, x, y)
            _add_ring(figure, ring, x, y, palette, row=row, col=col)
        label_gap_row(figure, palette, names[row - 1], tops[row - 1], row)
    _add_distribution(figure, lists, palette, tops[0])
    _add_other_gap(figure, lists, palette, names)
    _add_ring(figure, ring, "first_size", "second_size", palette, row=2, col=3)
    set_yaxes(figure, showticklabels=False, row=2, col=3)
    style(figure, palette, 780, t=48, l=47, r=16)
    label_tie_axes(figure)
    title = f"{names[0]} gap"
    return set_xaxes(figure, title_text=title, row=2, col=3, nticks=5, showgrid=False)


def _fill(panel: GapPanel, lists: pd.DataFrame, x: str, y: str) -> None:
    """Shade crowded cells, dot the other lists, and draw the mean above both."""
    x_edges = np.linspace(0, 1, BINS + 1) if x == "tie_ratio" else _whole_edges(lists[x])
    y_edges = np.linspace(0, panel.top, BINS - 5)
    with_gap = lists[lists[y] > 0]
    counts, _, _ = np.histogram2d(with_gap[y], with_gap[x], bins=[y_edges, x_edges])
    shade = np.where(counts >= CROWDED, counts, np.nan)
    panel.add_density(middles(x_edges), middles(y_edges), shade, counts)
    without_gap, _ = np.histogram(lists.loc[lists[y] == 0, x], bins=x_edges)
    n_lists, _ = np.histogram(lists[x], bins=x_edges)
    panel.add_no_gap_strip(middles(x_edges), without_gap, n_lists)
    mean = trend(lists[x], lists[y])
    panel.add_mean_band(mean)
    column = np.clip(np.digitize(with_gap[x], x_edges) - 1, 0, len(x_edges) - 2)
    row = np.clip(np.digitize(with_gap[y], y_edges) - 1, 0, len(y_edges) - 2)
    single = with_gap[counts[row, column] < CROWDED].nlargest(DOTS, y)
    hover = f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:.4f}}<br>{_TIES[x]}<extra></extra>"
    _add_dots(panel.figure, single, x, y, panel.palette.traditional, hover, **panel.place)
    panel.add_mean_line(mean)


def _whole_edges(sizes: pd.Series) -> FloatArray:
    """Return the edges of `BINS` cells at most, each of as many whole numbers."""
    low, high = max(int(sizes.min()), 1), int(sizes.max())
    step = max(1, -(-(high - low + 1) // BINS))
    return np.arange(low - 0.5, high + step + 0.5, step)


def _add_dots(
    figure: Figure,
    lists: pd.DataFrame,
    x: str,
    y: str,
    colour: str | np.ndarray,
    hover: str,
    **place: int,
) -> None:
    """Add a dot a list that can be clicked; its first custom value is its index.

    One that has others behind it is as opaque as all of them, drawn on one another, would be.
    """
    names, queries = ([hover_text(str(name)) for name in lists[column]] for column in ("reranker", "query_id"))
    opacity = _OPACITY
    if "n_hidden" in lists:
        opacity = 1 - (1 - _OPACITY) ** (lists["n_hidden"].to_numpy() + 1)
        hidden = (f" and {n:,} more here" * bool(n) for n in lists["n_hidden"])
        queries = [query + others for query, others in zip(queries, hidden, strict=True)]
    figure.draw_scatter(
        x=lists[x],
        y=lists[y],
        mode="markers",
        marker={"size": 6, "color": colour, "opacity": opacity},
        customdata=np.column_stack([lists.index.to_numpy(), names, queries]),
        hovertemplate=hover,
        selected={"marker": {"opacity": _OPACITY}},
        unselected={"marker": {"opacity": _OPACITY}},
        **place,
    )


def _add_ring(figure: Figure, ring: pd.Series | None, x: str, y: str, palette: Palette, **place: int) -> None:
    """Mark the selected list and name its query."""
    if ring is None:
        return
    figure.draw_scatter(
        x=[ring[x]],
        y=[ring[y]],
        mode="markers",
        marker={"size": 13, "color": palette.tied, "line": {"color": palette.ground, "width": 2}},
        hoverinfo="skip",
        **place,
    )
    font = {"size": 13, "color": palette.tied}
    query = f"<b>{safe(str(ring['query_id']), 16)}</b>"
    note(figure, query, palette, x=ring[x], y=ring[y], yshift=16, font=font, **place)


def _add_distribution(figure: Figure, lists: pd.DataFrame, palette: Palette, top: float) -> None:
    """Add the distribution of the first gap beside its panels."""
    edges = np.linspace(0, top, BINS - 5)
    counts = [
        np.histogram(lists.loc[sign * lists["first_gap"] > 0, "first_size"], bins=edges)[0] for sign in (1, -1)
    ]
    add_gap_distribution(figure, middles(edges), counts, palette)


def _add_other_gap(figure: Figure, lists: pd.DataFrame, palette: Palette, names: tuple[str, str]) -> None:
    """Add one gap against the other, and where they are equal."""
    end = min(float(lists["first_size"].max()), float(lists["second_size"].max()))
    line = {"color": palette.other, "width": 1, "dash": "dot"}
    figure.draw_scatter(x=[0, end], y=[0, end], mode="lines", line=line, hoverinfo="skip", row=2, col=3)
    with_gap = lists[(lists["first_size"] > 0) | (lists["second_size"] > 0)]
    steps = {column: max(with_gap[column].max(), EQUAL) / _PLACES for column in ("first_size", "second_size")}
    with_gap = first_dots(with_gap, steps).nlargest(DOTS, "first_size")
    colour = np.where(with_gap["second_size"] > 0, palette.traditional, palette.other)
    hover = (
        f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>{names[0]} gap %{{x:.4f}}"
        f"<br>{names[1]} gap %{{y:.4f}}<extra></extra>"
    )
    _add_dots(figure, with_gap, "first_size", "second_size", colour, hover, row=2, col=3)
