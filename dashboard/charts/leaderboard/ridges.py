"""Rows of rerankers: how much they tie, and how far off their lists are."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import note_of, safe
from metrics.studies.prose import percent, signed
from metrics.support.arrays import FloatArray, IntArray

_KERNEL = np.exp(-0.5 * (np.arange(-4, 5) / 1.6) ** 2)
_HIGHEST = 0.82
"""Part of a row that the highest ridge fills."""


def tie_bars(figure: go.Figure, board: pd.DataFrame, palette: Palette, col: int) -> None:
    """Mean tie ratio of each reranker.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        board: index reranker; tie_ratio.
        palette: colours of the theme.
        col: of the subplot.
    """
    figure.add_bar(
        x=board["tie_ratio"],
        y=list(range(len(board))),
        orientation="h",
        width=0.42,
        marker={"color": palette.other},
        text=[percent(share) for share in board["tie_ratio"]],
        textposition="outside",
        textfont={"color": palette.muted},
        cliponaxis=False,
        showlegend=False,
        hovertemplate="%{x:.4f} of the documents are tied<extra></extra>",
        row=1,
        col=col,
    )
    figure.update_xaxes(
        title_text="mean tie ratio",
        tickformat=".0%",
        nticks=4,
        range=[0, max(0.05, board["tie_ratio"].max()) * 1.25],
        col=col,
    )


def ridges(
    figure: go.Figure,
    board: pd.DataFrame,
    edges: FloatArray,
    counts: Sequence[IntArray],
    palette: Palette,
    col: int,
) -> None:
    """Gaps of the lists that have one: orange above zero, grey below, the mean of all lists as a mark.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        board: index reranker; gap (mean), lists_with_gap (share).
        edges: (n + 1,) of the gaps, as far below zero as above.
        counts: for each reranker, (n,) lists with a gap between them.
        palette: colours of the theme.
        col: of the subplot.
    """
    reach, centre = edges[-1], (edges[1:] + edges[:-1]) / 2
    heights = [np.convolve(one, _KERNEL / _KERNEL.sum(), "same") for one in counts]
    highest = max((height.max() for height in heights), default=0) or 1
    traces: list[go.Scatter] = []
    edge = {"x": 1, "xref": f"x{col} domain", "xanchor": "left", "xshift": 6, "yref": f"y{col}"}
    head = {
        "x": 1,
        "xref": "paper",
        "xanchor": "right",
        "xshift": 104,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
    }
    notes = [note_of("mean · lists with a gap", palette, **head)]
    for row, (name, height) in enumerate(zip(board.index, heights, strict=True)):
        base = row + 0.3
        quiet = {"hoverinfo": "skip", "showlegend": False}
        ground = {"color": palette.grid, "width": 1}
        traces.append(go.Scatter(x=[-reach, reach], y=[base, base], mode="lines", line=ground, **quiet))
        for below, colour in ((True, palette.other), (False, palette.traditional)):
            side = centre[(centre < 0) == below]
            x = np.r_[side, 0.0] if below else np.r_[0.0, side]
            y = base - _HIGHEST * np.interp(x, centre, height) / highest
            outline = {"x": np.r_[x, x[::-1]], "y": np.r_[y, np.full(len(x), base)]}
            look = {"fill": "toself", "mode": "none", "fillcolor": colour, "opacity": 0.75}
            traces.append(go.Scatter(**outline, **look, **quiet))
        gap, share = board.loc[name, "gap"], board.loc[name, "lists_with_gap"]
        mark = {"symbol": "diamond", "size": 9, "color": palette.text}
        diamond = go.Scatter(
            x=[gap],
            y=[base],
            mode="markers",
            showlegend=False,
            marker=mark | {"line": {"color": palette.ground, "width": 1}},
            hovertemplate=f"<b>{safe(str(name))}</b><br>mean gap %{{x:+.4f}}<extra></extra>",
        )
        traces.append(diamond)
        notes.append(note_of(f"<b>{signed(gap)}</b> · {percent(share)}", palette, y=base - 0.12, **edge))
    figure.add_traces(traces, rows=1, cols=col)
    figure.update_layout(annotations=[*figure.layout.annotations, *notes])
