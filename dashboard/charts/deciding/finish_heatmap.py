"""Where each reranker can finish."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.labels import hover_text
from dashboard.charts.marks import ROW, cells, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import style
from metrics.support.arrays import BoolArray

_MAX_WRITTEN = 12
"""Places up to which cells carry figures."""
_MIN_CHANCE = 0.005
"""Chance of a place from which on it is drawn."""


def finish_heatmap(
    places: pd.DataFrame, spread: pd.DataFrame, traditional: Sequence[int], palette: Palette
) -> go.Figure:
    """Draw the chance of each place as a shade, what the ties allow as an outline, the sort as a diamond.

    Args:
        places: index reranker, columns 1 to n: chance of each place.
        spread: same index; best_place, worst_place.
        traditional: place of each by the traditional value.
        palette: colours of the theme.

    Returns:
        A row a reranker, a column a place.
    """
    n = places.shape[1]
    names = np.array([hover_text(str(name)) for name in places.index], dtype=object)
    chance = places.to_numpy()
    is_drawn = chance >= _MIN_CHANCE
    text = np.where(is_drawn, np.char.mod("%.0f%%", 100 * chance), "") if n <= _MAX_WRITTEN else None
    figure = go.Figure(
        cells(
            np.where(is_drawn, chance, np.nan),
            (*palette.heat[:4], palette.tied),
            text,
            x=np.arange(1, n + 1),
            zmin=0,
            zmax=1,
            xgap=3,
            ygap=8,
            customdata=np.repeat(names[:, None], n, axis=1),
            hovertemplate="<b>%{customdata}</b><br>place %{x}: %{z:.1%}<extra></extra>",
        )
    )
    for row, (best, worst) in enumerate(zip(spread["best_place"], spread["worst_place"], strict=True)):
        box = {"x0": best - 0.5, "x1": worst + 0.5, "y0": row - 0.42, "y1": row + 0.42}
        figure.add_shape(type="rect", line={"color": palette.other, "width": 1.5}, **box)
    _add_traditional(figure, names, traditional, is_drawn, palette)
    style(figure, palette, 64 + int(ROW * 1.1) * len(names))
    label_rows(figure, places.index, palette)
    step = 1 if n <= 2 * _MAX_WRITTEN else 10
    return figure.update_xaxes(side="top", showgrid=False, tickformat="d", dtick=step, range=[0.4, n + 0.6])


def _add_traditional(
    figure: go.Figure, names: np.ndarray, traditional: Sequence[int], is_drawn: BoolArray, palette: Palette
) -> None:
    """Add a diamond at each traditional place; `is_drawn` says which cells are, (rerankers, places)."""
    n = is_drawn.shape[1]
    has_figure = is_drawn[np.arange(len(names)), np.array(traditional, dtype=int) - 1] & (n <= _MAX_WRITTEN)
    figure.add_scatter(
        x=np.array(traditional) + 0.36 * has_figure,  # at the edge of a cell that carries a figure
        y=np.arange(len(names)),
        mode="markers",
        marker={
            "symbol": "diamond",
            "size": 12,
            "color": palette.ground,
            "line": {"color": palette.traditional, "width": 2},
            "opacity": 1,
        },
        customdata=list(zip(names, traditional, strict=True)),
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}. by the traditional value<extra></extra>",
    )
