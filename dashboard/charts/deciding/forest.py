"""Differences from a baseline with their intervals, by tied and by traditional values."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.leaderboard.leaderboard import label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style
from metrics.studies.prose import signed
from metrics.studies.significance.significance import Verdicts
from metrics.studies.significance.test_registry import is_significant
from metrics.support.arrays import BoolArray

_ROW = 52
"""Height of a comparison in pixels."""
_APART = 0.15
"""How far the two values of a row stand from its middle."""
_FAR = 4.0
"""How many times the usual reach of a row makes a row that is told in words."""


def difference_forest(found: Verdicts, palette: Palette, measure: str) -> go.Figure:
    """A row a comparison: the traditional difference above, the tied one below, filled where significant.

    Rows whose verdict differs between the two are washed; those far off the scale of the rest are told in
    words, so that they do not flatten it. On the right the stars, traditional then tied.

    Args:
        found: comparisons with one baseline, in the order to be shown.
        palette: colours of the theme.
        measure: what the axis shows.
    """
    figure = go.Figure()
    rows = pd.DataFrame(index=found.tied["reranker"])
    far = _far(found)
    for at in np.flatnonzero(found.changed):
        figure.add_shape(
            type="rect",
            layer="below",
            line_width=0,
            xref="paper",
            fillcolor=palette.traditional,
            opacity=0.12,
            x0=0,
            x1=1,
            y0=at - 0.44,
            y1=at + 0.44,
        )
    _differences(figure, found.traditional, found.level, far, -_APART, "traditional", palette)
    _differences(figure, found.tied, found.level, far, _APART, "tied", palette)
    figure.add_vline(0, line={"color": palette.text, "width": 1})
    for name, symbol, fill, line in (
        ("traditional", "diamond", palette.traditional, palette.traditional),
        ("tied", "circle", palette.tied, palette.tied),
        ("hollow: not significant", "circle", palette.ground, palette.muted),
    ):
        marker = {"symbol": symbol, "size": 10, "color": fill, "line": {"width": 2, "color": line}}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)
    style(figure, palette, 112 + _ROW * len(rows), r=96)
    label_rows(figure, rows)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13})
    low, high = _ends(found, far)
    figure.update_xaxes(
        title_text=f"{measure} difference from {safe(found.tied['baseline'].iloc[0])}",
        tickformat="+.2~f" if high - low >= 0.05 else "+.3~f",  # noqa: PLR2004
        nticks=6,
        range=[low - 0.06 * (high - low), high + 0.06 * (high - low)] if high > low else None,
    )
    for at in np.flatnonzero(far):
        _say(figure, found, int(at), palette)
    _stars(figure, found, palette)
    return figure


def _reach(found: Verdicts) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """(n,) how far the intervals of a row go from 0."""
    ends = pd.concat([table[["low", "high"]] for table in (found.tied, found.traditional)], axis=1)
    return np.asarray(ends.abs().replace(np.inf, np.nan).max(axis=1).fillna(0.0))


def _ends(found: Verdicts, far: BoolArray) -> tuple[float, float]:
    """Least and largest difference that the axis holds, 0 always among them."""
    tables = (found.tied, found.traditional)
    rows = [table[["low", "high"]].replace([np.inf, -np.inf], np.nan)[~far] for table in tables]
    both = np.nan_to_num(np.concatenate([table.to_numpy().ravel() for table in rows]))
    return float(both.min(initial=0)), float(both.max(initial=0))


def _far(found: Verdicts) -> BoolArray:
    """(n,) rows off the scale of the rest, where both differences are."""
    reach = _reach(found)
    usual = _FAR * np.median(reach)
    both = np.minimum(found.tied["difference"].abs(), found.traditional["difference"].abs())
    return np.asarray((both > usual) & (len(reach) > 2))  # noqa: PLR2004 the scale of the rest


def _differences(
    figure: go.Figure,
    table: pd.DataFrame,
    level: float,
    far: BoolArray,
    shift: float,
    kind: str,
    palette: Palette,
) -> None:
    colour = palette.tied if kind == "tied" else palette.traditional
    shown = table[~far]
    filled = is_significant(shown["p_adjusted"].to_numpy(), level)
    figure.add_scatter(
        x=shown["difference"],
        y=np.flatnonzero(~far) + shift,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (shown["high"] - shown["difference"]).to_numpy(),
            "arrayminus": (shown["difference"] - shown["low"]).to_numpy(),
            "color": colour,
            "thickness": 2.5,
            "width": 0,
        },
        mode="markers",
        marker={
            "symbol": "circle" if kind == "tied" else "diamond",
            "size": 11 if kind == "tied" else 13,
            "color": np.where(filled, colour, palette.ground),
            "line": {"color": colour, "width": 2},
            "opacity": 1,
        },
        name=kind,
        showlegend=False,
        customdata=[
            [safe(str(row.reranker)), row.low, row.high, row.p_adjusted, row.n] for row in shown.itertuples()
        ],
        hovertemplate="<b>%{customdata[0]}</b><br>" + kind + " %{x:+.4f}<br>from %{customdata[1]:+.4f} to "
        "%{customdata[2]:+.4f}<br>adjusted p %{customdata[3]:.4f}<br>%{customdata[4]} queries<extra></extra>",
    )


def _say(figure: go.Figure, found: Verdicts, at: int, palette: Palette) -> None:
    """A row off the scale, in words at the side it lies on."""
    before, tied = found.traditional["difference"].iloc[at], found.tied["difference"].iloc[at]
    words = (
        f"off the scale: <span style='color:{palette.traditional}'>{signed(before)}</span> and "
        f"<span style='color:{palette.tied}'>{signed(tied)}</span>"
    )
    side: dict[str, object] = {"x": 0.01, "xanchor": "left"} if tied < 0 else {"x": 0.99, "xanchor": "right"}
    note(figure, f"← {words}" if tied < 0 else f"{words} →", palette, xref="paper", y=at, **side)


def _stars(figure: go.Figure, found: Verdicts, palette: Palette) -> None:
    """Adjusted verdicts beside the rows, traditional then tied."""
    columns = ((found.traditional, 1.03, "trad.", palette.traditional), (found.tied, 1.1, "tied", palette.tied))
    for table, x, title, colour in columns:
        place = {"xref": "paper", "x": x, "xanchor": "center"}
        note(
            figure,
            title,
            palette,
            **place,
            yref="paper",
            y=1,
            yanchor="bottom",
            font={"color": colour, "size": 12},
        )
        for at, mark in enumerate(table["stars"]):
            font = {"color": palette.muted if mark == "ns" else colour, "size": 12 if mark == "ns" else 15}
            note(figure, mark, palette, **place, y=at, font=font)
