"""Ties against gaps, as in the notebook's six panels: the first with its distribution, and the four others."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.gaps.panel_layers import (
    GapPanel,
    add_gap_distribution,
    first_dots,
    gap_axis_top,
    label_tie_axis,
    middles,
)
from dashboard.charts.labels import hover_text
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, set_xaxes, set_yaxes, signed_ticks, style
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


def gap_scatter(
    lists: pd.DataFrame, palette: Palette, measure: str, selected: int | None = None, *, is_signed: bool = False
) -> Figure:
    """Draw the tie ratio against the gap in the first measure, and beside it how often each gap occurs.

    Args:
        lists: tie_ratio, max_tie_size, first_gap, second_gap, reranker, query_id; the index is what a click
            gives back.
        palette: colours of the theme.
        measure: the first measure.
        selected: index of the list to ring.
        is_signed: whether gaps keep their sign, instead of their absolute values.
    """
    figure = Figure.of_panels(1, 2, column_widths=(0.76, 0.24), horizontal_spacing=0.03)
    figure.set_layout(bargap=0.12, barmode="stack", showlegend=False)
    panel = _add_panel(figure, palette, lists, ("tie_ratio", "first_gap"), is_signed=is_signed, row=1, col=1)
    panel.label_gaps(_gap_title(measure, is_signed=is_signed))
    _add_ring(panel, _heights(lists, is_signed=is_signed), selected, "tie_ratio", "first_gap")
    edges = _gap_edges(panel)
    gaps = lists["first_gap"]
    counts = [
        np.histogram(part if is_signed else part.abs(), edges)[0] for part in (gaps[gaps > 0], gaps[gaps < 0])
    ]
    add_gap_distribution(figure, middles(edges), counts, palette, 2)
    set_yaxes(figure, range=[panel.below(2.1), panel.top], col=2)
    return style(figure, palette, 350, t=16, l=53, r=16)


def gap_panels(
    lists: pd.DataFrame,
    palette: Palette,
    names: tuple[str, str],
    selected: int | None = None,
    *,
    is_signed: bool = False,
) -> Figure:
    """Draw largest ties against both gaps, the tie ratio against the second, and one gap against the other.

    Args:
        lists: as for `gap_scatter`.
        palette: colours of the theme.
        names: the two measures.
        selected: index of the list to ring.
        is_signed: as for `gap_scatter`.
    """
    figure = Figure.of_panels(2, 2, horizontal_spacing=0.09, vertical_spacing=0.24).set_layout(showlegend=False)
    heights = _heights(lists, is_signed=is_signed)
    panels = {
        (1, 1): ("max_tie_size", "first_gap"),
        (2, 1): ("tie_ratio", "second_gap"),
        (2, 2): ("max_tie_size", "second_gap"),
    }
    for (row, col), (x, y) in panels.items():
        panel = _add_panel(figure, palette, lists, (x, y), is_signed=is_signed, row=row, col=col)
        panel.label_gaps(_gap_title(names[y == "second_gap"], is_signed=is_signed))
        _add_ring(panel, heights, selected, x, y)
    _add_other_gap(figure, heights, palette, names, is_signed=is_signed)
    _add_ring(GapPanel(figure, palette, 0, 1, 2), heights, selected, "first_gap", "second_gap")
    return style(figure, palette, 450, t=16, l=53, r=16)


def _gap_title(measure: str, *, is_signed: bool) -> str:
    title = f"{measure} − tied {measure}"
    return title if is_signed else f"| {title} |"


def _heights(lists: pd.DataFrame, *, is_signed: bool) -> pd.DataFrame:
    """Return lists with their gaps as they are drawn."""
    columns = [name for name in ("first_gap", "second_gap") if name in lists]
    return lists if is_signed else lists.assign(**{name: lists[name].abs() for name in columns})


def _add_panel(
    figure: Figure,
    palette: Palette,
    lists: pd.DataFrame,
    axes: tuple[str, str],
    *,
    is_signed: bool,
    **place: int,
) -> GapPanel:
    """Shade crowded cells, dot the other lists, and draw the mean above both; return the panel."""
    x, y = axes
    top = gap_axis_top(lists[y].abs().max())
    panel = GapPanel(figure, palette, top, place["row"], place["col"], -top if is_signed else 0.0)
    lists = _heights(lists, is_signed=is_signed)
    x_edges = np.linspace(0, 1, BINS + 1) if x == "tie_ratio" else _whole_edges(lists[x])
    y_edges = _gap_edges(panel)
    with_gap = lists[lists[y].abs() > 0]
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
    single = with_gap[counts[row, column] < CROWDED]
    single = single.loc[single[y].abs().nlargest(DOTS).index]
    hover = f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:.4f}}<br>{_TIES[x]}<extra></extra>"
    _add_dots(figure, single, x, y, palette.traditional, hover, **place)
    panel.add_mean_line(mean)
    label_tie_axis(figure, x, **place)
    return panel


def _gap_edges(panel: GapPanel) -> FloatArray:
    """Return the edges of cells along the axis of gaps, one at 0."""
    n_cells = BINS - 6
    return np.linspace(panel.bottom, panel.top, n_cells * (2 if panel.bottom else 1) + 1)


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


def _add_ring(panel: GapPanel, heights: pd.DataFrame, selected: int | None, x: str, y: str) -> None:
    """Mark the selected list and name its query."""
    if selected is None or selected not in heights.index:
        return
    ring, palette = heights.loc[selected], panel.palette
    panel.figure.draw_scatter(
        x=[ring[x]],
        y=[ring[y]],
        mode="markers",
        marker={"size": 13, "color": palette.tied, "line": {"color": palette.ground, "width": 2}},
        hoverinfo="skip",
        **panel.place,
    )
    font = {"size": 13, "color": palette.tied}
    query = f"<b>{safe(str(ring['query_id']), 16)}</b>"
    note(panel.figure, query, palette, x=ring[x], y=ring[y], yshift=16, font=font, **panel.place)


def _add_other_gap(
    figure: Figure, heights: pd.DataFrame, palette: Palette, names: Sequence[str], *, is_signed: bool
) -> None:
    """Add one gap against the other, and where they are equal."""
    columns = ["first_gap", "second_gap"]
    sizes = heights[columns].abs()
    end = float(sizes.max().min())
    line = {"color": palette.other, "width": 1, "dash": "dot"}
    ends = [-end if is_signed else 0, end]
    figure.draw_scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip", row=1, col=2)
    with_gap = heights[(sizes > 0).any(axis=1)]
    with_gap = first_dots(with_gap, {name: max(sizes[name].max(), EQUAL) / _PLACES for name in columns})
    with_gap = with_gap.loc[with_gap["first_gap"].abs().nlargest(DOTS).index]
    colour = np.where(with_gap["second_gap"].abs() > 0, palette.traditional, palette.other)
    hover = (
        f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>{names[0]} gap %{{x:.4f}}"
        f"<br>{names[1]} gap %{{y:.4f}}<extra></extra>"
    )
    _add_dots(figure, with_gap, "first_gap", "second_gap", colour, hover, row=1, col=2)
    for set_axes, name, column in ((set_xaxes, names[0], columns[0]), (set_yaxes, names[1], columns[1])):
        top = gap_axis_top(sizes[column].max())
        look = signed_ticks(-top, top, 6) if is_signed else {"nticks": 6}
        ends = [-top if is_signed else -0.03 * top, top]
        set_axes(figure, title_text=_gap_title(name, is_signed=is_signed), range=ends, **look, row=1, col=2)
