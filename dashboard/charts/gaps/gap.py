"""Ties against gaps: six panels in two rows, as in the notebook, drawn so that outliers can be clicked."""

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
from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style
from metrics.studies.gaps.gap import trend

CROWDED = 4
"""Lists in a cell from which on it is shaded instead of dotted."""
DOTS = 3000
"""Single lists drawn at most in a panel, the largest gaps first: so few need no WebGL, which starts slowly."""
BINS = 22


def gap_panels(
    table: pd.DataFrame, palette: Palette, names: tuple[str, str], selected: int | None = None
) -> go.Figure:
    """Tie ratio and largest tie against both gaps, their distribution, and one gap against the other.

    Args:
        table: tie_ratio, max_tie_size, first_size, second_size (absolute gaps), first_gap, reranker,
            query_id; the index is what a click gives back.
        palette: colours of the theme.
        names: the two measures.
        selected: index of the list to ring.
    """
    figure = make_subplots(
        2, 3, column_widths=[0.4, 0.36, 0.24], horizontal_spacing=0.045, vertical_spacing=0.2
    )
    for row, size in ((1, "first_size"), (2, "second_size")):
        top = top_of(table[size].max())
        floor = floor_of(top)
        for col, x in ((1, "tie_ratio"), (2, "max_tie_size")):
            _panel(figure, table, x, size, palette, top, floor, row, col)
            _ring(figure, table, x, size, palette, selected, row, col)
        name_gaps(figure, names[row - 1], palette, top, floor, row)
    _margin(figure, table, palette)
    _against(figure, table, palette, names, selected)
    style(figure, palette, 780, t=48)
    figure.update_layout(bargap=0.12, barmode="stack", showlegend=False, clickmode="event+select")
    name_ties(figure)
    return figure.update_xaxes(
        title_text=f"{names[0]} gap", row=2, col=3, tickformat=".2~f", nticks=5, showgrid=False
    )


def _panel(
    figure: go.Figure,
    table: pd.DataFrame,
    x: str,
    y: str,
    palette: Palette,
    top: float,
    floor: float,
    row: int,
    col: int,
) -> None:
    edges = np.linspace(0, 1, BINS + 1) if x == "tie_ratio" else _whole_edges(table[x])
    off = table[table[y] > 0]
    level = np.linspace(0, top, BINS - 5)
    counts, _, _ = np.histogram2d(off[y], off[x], bins=[level, edges])
    middle_x, middle_y = (edges[1:] + edges[:-1]) / 2, (level[1:] + level[:-1]) / 2
    shown = np.where(counts >= CROWDED, counts, np.nan)
    shade(figure, (middle_x, middle_y), shown, counts, palette, row=row, col=col)
    strip, _ = np.histogram(table.loc[table[y] == 0, x], bins=edges)
    every, _ = np.histogram(table[x], bins=edges)
    no_gap_strip(figure, middle_x, strip, every, floor, palette, row=row, col=col)
    line = trend(table[x], table[y])
    mean_band(figure, line, row=row, col=col)
    at_x = np.clip(np.digitize(off[x], edges) - 1, 0, len(edges) - 2)
    at_y = np.clip(np.digitize(off[y], level) - 1, 0, len(level) - 2)
    single = off[counts[at_y, at_x] < CROWDED].nlargest(DOTS, y)
    figure.add_scatter(
        x=single[x],
        y=single[y],
        mode="markers",
        marker={"size": 6, "color": palette.traditional, "opacity": 0.65},
        customdata=_tags(single),
        hovertemplate=_hover(x),
        row=row,
        col=col,
        selected={"marker": {"opacity": 0.65}},
        unselected={"marker": {"opacity": 0.65}},
    )
    mean_line(figure, line, palette, row=row, col=col)


def _whole_edges(sizes: pd.Series) -> np.ndarray:
    low, high = max(int(sizes.min()), 1), int(sizes.max())
    step = max(1, -(-(high - low + 1) // BINS))
    return np.arange(low - 0.5, high + step + 0.5, step)


def _tags(lists: pd.DataFrame) -> np.ndarray:
    names = [safe(str(name)) for name in lists["reranker"]]
    queries = [safe(str(query)) for query in lists["query_id"]]
    return np.column_stack([lists.index.to_numpy(), names, queries, lists["tie_ratio"], lists["max_tie_size"]])


def _hover(x: str) -> str:
    axis = (
        "tie ratio %{x:.4f}" if x == "tie_ratio" else "largest tie %{x}" if x == "max_tie_size" else "%{x:.4f}"
    )
    return f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:.4f}}<br>{axis}<extra></extra>"


def _ring(
    figure: go.Figure,
    table: pd.DataFrame,
    x: str,
    y: str,
    palette: Palette,
    selected: int | None,
    row: int,
    col: int,
) -> None:
    if selected is None or selected not in table.index:
        return
    one = table.loc[selected]
    figure.add_scatter(
        x=[one[x]],
        y=[one[y]],
        mode="markers",
        marker={"size": 13, "color": palette.tied, "line": {"color": palette.ground, "width": 2}},
        hoverinfo="skip",
        row=row,
        col=col,
    )
    figure.add_annotation(
        x=one[x],
        y=one[y],
        text=f"<b>{safe(str(one['query_id']), 16)}</b>",
        showarrow=False,
        yshift=16,
        font={"size": 13, "color": palette.tied},
        row=row,
        col=col,
    )


def _margin(figure: go.Figure, table: pd.DataFrame, palette: Palette) -> None:
    """Distribution of the first gap beside its panels."""
    edges = np.linspace(0, top_of(table["first_size"].max()), BINS - 5)
    high, low = (table["first_gap"] * sign > 0 for sign in (1, -1))
    counts = [np.histogram(table.loc[one, "first_size"], bins=edges)[0] for one in (high, low)]
    margin(figure, (edges[1:] + edges[:-1]) / 2, counts, palette)


def _against(
    figure: go.Figure, table: pd.DataFrame, palette: Palette, names: tuple[str, str], selected: int | None
) -> None:
    """One gap against the other."""
    shown = table[(table["first_size"] > 0) | (table["second_size"] > 0)].nlargest(DOTS, "first_size")
    both = shown["second_size"] > 0
    end = min(float(table["first_size"].max()), float(table["second_size"].max()))
    figure.add_scatter(
        x=[0, end],
        y=[0, end],
        mode="lines",
        line={"color": palette.other, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        row=2,
        col=3,
    )
    figure.add_scatter(
        x=shown["first_size"],
        y=shown["second_size"],
        mode="markers",
        marker={"size": 6, "color": np.where(both, palette.traditional, palette.other), "opacity": 0.65},
        customdata=_tags(shown),
        hovertemplate=(
            f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>{names[0]} gap %{{x:.4f}}"
            f"<br>{names[1]} gap %{{y:.4f}}<extra></extra>"
        ),
        selected={"marker": {"opacity": 0.65}},
        unselected={"marker": {"opacity": 0.65}},
        row=2,
        col=3,
    )
    _ring(figure, table, "first_size", "second_size", palette, selected, 2, 3)
    figure.update_yaxes(showticklabels=False, row=2, col=3)
