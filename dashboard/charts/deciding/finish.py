"""Where each reranker can finish."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.leaderboard.leaderboard import ROW, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style
from metrics.support.arrays import FloatArray

_WRITTEN = 12
"""Places up to which cells carry figures."""
_SEEN = 0.005
"""Chance of a place from which on it is drawn."""


def finish_heatmap(
    places: pd.DataFrame, spread: pd.DataFrame, traditional: Sequence[int], palette: Palette
) -> go.Figure:
    """Chance of each place as a shade, every place the ties allow as an outline, the traditional as a diamond.

    Args:
        places: index reranker, columns 1 to n: chance of each place.
        spread: same index; best_place, worst_place.
        traditional: place of each by the traditional value.
        palette: colours of the theme.
    """
    n = places.shape[1]
    names = [safe(str(name)) for name in places.index]
    chance = places.to_numpy()
    words = np.where(chance >= _SEEN, np.char.mod("%.0f%%", 100 * chance), "")
    figure = go.Figure(
        go.Heatmap(
            z=np.where(chance >= _SEEN, chance, np.nan),
            x=list(range(1, n + 1)),
            zmin=0,
            zmax=1,
            colorscale=[[at / 4, colour] for at, colour in enumerate(palette.heat[:4])] + [[1, palette.tied]],
            showscale=False,
            xgap=3,
            ygap=8,
            text=words if n <= _WRITTEN else None,
            texttemplate="%{text}" if n <= _WRITTEN else None,
            textfont={"size": 12},
            customdata=np.repeat(np.array(names, dtype=object)[:, None], n, axis=1),
            hovertemplate="<b>%{customdata}</b><br>place %{x}: %{z:.1%}<extra></extra>",
            hoverongaps=False,
        )
    )
    for at, row in enumerate(spread.itertuples()):
        figure.add_shape(
            type="rect",
            line={"color": palette.other, "width": 1.5},
            x0=row.best_place - 0.5,
            x1=row.worst_place + 0.5,
            y0=at - 0.42,
            y1=at + 0.42,
        )
    figure.add_scatter(
        x=[_beside(place, row) for place, row in zip(traditional, chance, strict=True)],
        y=list(range(len(names))),
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
        showlegend=False,
    )
    style(figure, palette, 64 + int(ROW * 1.1) * len(names))
    label_rows(figure, places)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13})
    return figure.update_xaxes(
        side="top", showgrid=False, tickformat="d", dtick=1 if n <= 2 * _WRITTEN else 10, range=[0.4, n + 0.6]
    )


def _beside(place: int, chance: FloatArray) -> float:
    """Where a place is marked: in the middle of its cell, or at its edge where a figure stands there."""
    return place + 0.36 if chance[place - 1] >= _SEEN and len(chance) <= _WRITTEN else place
