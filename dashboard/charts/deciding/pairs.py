"""Every pair of rerankers: how sure their order is, and which of them differ."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style

_CELL = 46
"""Pixels of a row, while there are few."""
_DOUBT = 1e-9
"""Chance that is left where ties could turn a pair round."""
_WRITTEN = 12
"""Rerankers up to which cells carry figures."""


def order_matrix(pairs: pd.DataFrame, order: Sequence[str], palette: Palette) -> go.Figure:
    """Percent of tie-breakings in which the row's reranker is above the column's; coloured where near 50.

    Args:
        pairs: as `stability.above` returns them.
        order: rerankers by falling expected mean.
        palette: colours of the theme.
    """
    place = {name: at for at, name in enumerate(order)}
    n = len(order)
    doubt, words = np.full((n, n), np.nan), np.full((n, n), "", dtype=object)
    hover = np.full((n, n), "", dtype=object)
    for row in pairs.itertuples():
        (at, first), (to, second) = sorted((place[name], name) for name in (row.reranker, row.other))
        chance = row.above if first == row.reranker else row.below
        doubt[at, to] = 1 - abs(row.above - row.below) if row.reversible else 0
        if row.reversible:
            chance = np.clip(chance, _DOUBT, 1 - _DOUBT)
        words[at, to] = _percent(chance)
        level = f"<br>level in {_percent(row.equal)}%" if row.equal > 0 else ""
        settled = "" if row.reversible else "<br>no tie-breaking can reverse it"
        hover[at, to] = (
            f"<b>{safe(first)}</b> above {safe(second)}<br>in {_percent(chance)}% of tie-breakings{level}"
            f"<br>{row.method}{settled}"
        )
    figure = go.Figure(
        go.Heatmap(
            z=doubt,
            zmin=0,
            zmax=1,
            colorscale=[[0, palette.faint], [0.02, palette.warm[0]], [1, palette.warm[2]]],
            showscale=False,
            xgap=2,
            ygap=2,
            text=words if n <= _WRITTEN else None,
            texttemplate="%{text}" if n <= _WRITTEN else None,
            textfont={"size": 12},
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
        )
    )
    return _triangle(figure, order, palette)


def verdict_matrix(
    tied: pd.Series, traditional: pd.Series, pairs: pd.DataFrame, order: Sequence[str], palette: Palette
) -> go.Figure:
    """Which pairs differ significantly, by which value.

    Args:
        tied: (n_pairs,) whether significant by tied values.
        traditional: (n_pairs,) whether by traditional ones.
        pairs: baseline, reranker, p_adjusted of each, by tied values.
        order: rerankers by falling tied mean.
        palette: colours of the theme.
    """
    place = {name: at for at, name in enumerate(order)}
    ends = np.array(
        [
            sorted((place[one], place[other]))
            for one, other in zip(pairs["baseline"], pairs["reranker"], strict=True)
        ]
    ).reshape(-1, 2)
    size = 15 if len(order) <= _WRITTEN else 5
    kinds = (
        ("both", tied & traditional, "circle", palette.text, palette.text),
        ("tied only", tied & ~traditional, "circle", palette.tied, palette.tied),
        ("traditional only", ~tied & traditional, "diamond", palette.ground, palette.traditional),
        ("neither", ~tied & ~traditional, "circle", palette.ground, palette.other),
    )
    upper = np.where(np.triu(np.ones((len(order), len(order)), bool), 1), 1.0, np.nan)
    ground = [[0, palette.faint], [1, palette.faint]]
    figure = go.Figure(
        go.Heatmap(z=upper, colorscale=ground, showscale=False, xgap=2, ygap=2, hoverinfo="skip")
    )
    for name, which, symbol, fill, line in kinds:
        rows = np.flatnonzero(which)
        figure.add_scatter(
            x=ends[rows, 1],
            y=ends[rows, 0],
            mode="markers",
            marker={
                "symbol": symbol,
                "size": size if name != "neither" else size * 0.6,
                "color": fill,
                "line": {"color": line, "width": 2},
                "opacity": 1,
            },
            name=f"{name} · {len(rows)}",
            customdata=[
                [safe(order[row]), safe(order[column]), p]
                for (row, column), p in zip(ends[rows], pairs["p_adjusted"].iloc[rows], strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b> and %{customdata[1]}<br>significant: "
            + name
            + "<br>adjusted p, tied %{customdata[2]:.4f}<extra></extra>",
        )
    _triangle(figure, order, palette)
    place_ = {"orientation": "v", "x": 0, "y": 0, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
    return figure.update_layout(legend=place_)


def _percent(chance: float) -> str:
    """A chance as whole percent; never 0 or 100 where there is doubt."""
    if 0 < chance < 0.01:  # noqa: PLR2004
        return "<1"
    return ">99" if 0.99 < chance < 1 else f"{chance:.0%}"[:-1]  # noqa: PLR2004


def _triangle(figure: go.Figure, order: Sequence[str], palette: Palette) -> go.Figure:
    """Rows and columns by name, the upper half only."""
    n = len(order)
    style(figure, palette, 110 + max(120, min(_CELL * n, 620)), t=36, r=48)
    names = [safe(name, 16) for name in order]
    few = n <= 3 * _WRITTEN
    axis = {"showgrid": False, "tickfont": {"color": palette.text, "size": 12}}
    figure.update_xaxes(
        **axis,
        tickvals=list(range(1, n)) if few else [],
        ticktext=names[1:],
        side="top",
        tickangle=-40,
        range=[0.5, n - 0.5],
    )
    return figure.update_yaxes(
        **axis, tickvals=list(range(n - 1)) if few else [], ticktext=names[:-1], range=[n - 1.5, -0.5]
    )
