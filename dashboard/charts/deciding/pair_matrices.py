"""Every pair of rerankers: how sure their order is, and which of them differ."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import cells
from dashboard.charts.palette import Palette
from dashboard.charts.style import style

_CELL = 46
"""Pixels of a row, while there are few."""
_MIN_DOUBT = 1e-9
"""Chance that is left where ties could turn a pair round."""
_MAX_WRITTEN = 12
"""Rerankers up to which cells carry figures."""


def order_matrix(pairs: pd.DataFrame, order: Sequence[str], palette: Palette) -> go.Figure:
    """Draw the percent of tie-breakings in which the row is above the column; coloured where near 50.

    Args:
        pairs: as `stability.pairwise_order` returns them.
        order: rerankers by falling expected mean.
        palette: colours of the theme.

    Returns:
        The upper triangle of all pairs.
    """
    position = {name: index for index, name in enumerate(order)}
    n = len(order)
    doubt, text = np.full((n, n), np.nan), np.full((n, n), "", dtype=object)
    hover = text.copy()
    for pair in pairs.itertuples():
        chance = pair.above
        upper, lower = pair.reranker, pair.other
        if position[upper] > position[lower]:
            chance, upper, lower = pair.below, lower, upper
        if pair.reversible:
            chance = np.clip(chance, _MIN_DOUBT, 1 - _MIN_DOUBT)
        cell = position[upper], position[lower]
        doubt[cell] = 1 - abs(pair.above - pair.below) if pair.reversible else 0
        text[cell] = _percent(chance)
        level = f"<br>level in {_percent(pair.equal)}%" if pair.equal > 0 else ""
        settled = "" if pair.reversible else "<br>no tie-breaking can reverse it"
        hover[cell] = (
            f"<b>{hover_text(upper)}</b> above {hover_text(lower)}<br>in {text[cell]}% of tie-breakings{level}"
            f"<br>{pair.method}{settled}"
        )
    figure = go.Figure(
        cells(
            doubt,
            [[0, palette.faint], [0.02, palette.warm[0]], [1, palette.warm[2]]],
            text if n <= _MAX_WRITTEN else None,
            zmin=0,
            zmax=1,
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    return _style_triangle(figure, order, palette)


def verdict_matrix(
    tied: pd.Series, traditional: pd.Series, pairs: pd.DataFrame, order: Sequence[str], palette: Palette
) -> go.Figure:
    """Draw which pairs differ significantly, and by which value.

    Args:
        tied: (n_pairs,) whether significant by tied values.
        traditional: (n_pairs,) whether by traditional ones.
        pairs: baseline, reranker, p_adjusted of each, by tied values.
        order: rerankers by falling tied mean.
        palette: colours of the theme.

    Returns:
        The upper triangle of all pairs.
    """
    positions = [pd.Index(order).get_indexer(pairs[column]) for column in ("baseline", "reranker")]
    corners = np.sort(np.column_stack(positions), axis=1)
    upper = np.where(np.triu(np.ones((len(order), len(order)), bool), 1), 1.0, np.nan)
    figure = go.Figure(cells(upper, [palette.faint, palette.faint], hoverinfo="skip"))
    kinds = (
        ("both", tied & traditional, "circle", palette.text, palette.text),
        ("tied only", tied & ~traditional, "circle", palette.tied, palette.tied),
        ("traditional only", ~tied & traditional, "diamond", palette.ground, palette.traditional),
        ("neither", ~tied & ~traditional, "circle", palette.ground, palette.other),
    )
    size = 15 if len(order) <= _MAX_WRITTEN else 5
    for name, is_kind, symbol, fill, border in kinds:
        rows, columns = corners[np.asarray(is_kind)].T
        figure.add_scatter(
            x=columns,
            y=rows,
            mode="markers",
            marker={
                "symbol": symbol,
                "size": size if name != "neither" else size * 0.6,
                "color": fill,
                "line": {"color": border, "width": 2},
                "opacity": 1,
            },
            name=f"{name} · {len(rows)}",
            customdata=[
                [hover_text(order[row]), hover_text(order[column]), p]
                for row, column, p in zip(rows, columns, pairs["p_adjusted"][np.asarray(is_kind)], strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b> and %{customdata[1]}<br>significant: "
            f"{name}<br>adjusted p, tied %{{customdata[2]:.4f}}<extra></extra>",
        )
    _style_triangle(figure, order, palette)
    legend = {"orientation": "v", "x": 0, "y": 0, "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
    return figure.update_layout(legend=legend)


def _percent(chance: float) -> str:
    """Return a chance as whole percent; never 0 or 100 where there is doubt."""
    if 0 < chance < 0.01:  # noqa: PLR2004
        return "<1"
    return ">99" if 0.99 < chance < 1 else f"{chance:.0%}"[:-1]  # noqa: PLR2004


def _style_triangle(figure: go.Figure, order: Sequence[str], palette: Palette) -> go.Figure:
    """Name rows and columns, and leave out the first column and the last row, which are empty."""
    n = len(order)
    style(figure, palette, 110 + max(120, min(_CELL * n, 620)), t=36, r=48)
    names = list(chart_names(order, 16).values())
    ticks = list(range(n)) if n <= 3 * _MAX_WRITTEN else []
    look = {"showgrid": False, "tickfont": {"color": palette.text, "size": 12}}
    top = {"side": "top", "tickangle": -40, "range": [0.5, n - 0.5]}
    figure.update_xaxes(**look, **top, tickvals=ticks[1:], ticktext=names[1:])
    return figure.update_yaxes(**look, tickvals=ticks[:-1], ticktext=names[:-1], range=[n - 1.5, -0.5])
