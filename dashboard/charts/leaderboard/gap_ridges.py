"""How far off the lists of each reranker are, as a ridge a row."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.labels import hover_text
from dashboard.charts.palette import Palette
from dashboard.charts.style import add_notes, note_of
from metrics.studies.prose import signed
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import percent

_KERNEL = np.exp(-0.5 * (np.arange(-4, 5) / 1.6) ** 2)
_HIGHEST = 0.82
"""Part of a row that the highest ridge fills."""


def add_ridges(
    figure: go.Figure,
    rerankers: pd.DataFrame,
    edges: FloatArray,
    counts: Sequence[IntArray],
    palette: Palette,
    col: int,
) -> None:
    """Add the gaps of the lists that have one, orange above zero and grey below, and the mean of all lists.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        rerankers: index reranker; gap (mean), lists_with_gap (share).
        edges: (n + 1,) of the gaps, as far below zero as above.
        counts: for each reranker, (n,) lists with a gap between them.
        palette: colours of the theme.
        col: of the subplot.
    """
    heights = [np.convolve(row, _KERNEL / _KERNEL.sum(), "same") for row in counts]
    highest = max((height.max() for height in heights), default=0) or 1
    traces: list[go.Scatter] = []
    title = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": 104, "y": 1, "yref": "paper"}
    notes = [note_of("mean · lists with a gap", palette, **title, yanchor="bottom")]
    beside = {"x": 1, "xref": f"x{col} domain", "xanchor": "left", "xshift": 6, "yref": f"y{col}"}
    for row, (name, height) in enumerate(zip(rerankers.index, heights, strict=True)):
        base = row + 0.3
        gap, share = rerankers.loc[name, "gap"], rerankers.loc[name, "lists_with_gap"]
        traces += _ridge(edges, height / highest, base, palette)
        traces.append(_mean(str(name), gap, base, palette))
        notes.append(note_of(f"<b>{signed(gap)}</b> · {percent(share)}", palette, y=base - 0.12, **beside))
    figure.add_traces(traces, rows=1, cols=col)
    add_notes(figure, notes)


def _ridge(edges: FloatArray, height: FloatArray, base: float, palette: Palette) -> Iterator[go.Scatter]:
    """Yield the ground line of a row and the two sides of its ridge; `height` is at most 1."""
    look = {"hoverinfo": "skip", "showlegend": False}
    line = {"color": palette.grid, "width": 1}
    yield go.Scatter(x=[-edges[-1], edges[-1]], y=[base, base], mode="lines", line=line, **look)
    centre = (edges[1:] + edges[:-1]) / 2
    below = np.r_[centre[centre < 0], 0.0]
    above = np.r_[0.0, centre[centre >= 0]]
    for x, colour in ((below, palette.other), (above, palette.traditional)):
        y = base - _HIGHEST * np.interp(x, centre, height)
        outline = {"x": np.r_[x, x[::-1]], "y": np.r_[y, np.full(len(x), base)]}
        yield go.Scatter(**outline, fill="toself", mode="none", fillcolor=colour, opacity=0.75, **look)


def _mean(name: str, gap: float, base: float, palette: Palette) -> go.Scatter:
    """Return the mark of the mean gap of a reranker."""
    border = {"color": palette.ground, "width": 1}
    return go.Scatter(
        x=[gap],
        y=[base],
        mode="markers",
        showlegend=False,
        marker={"symbol": "diamond", "size": 9, "color": palette.text, "line": border},
        hovertemplate=f"<b>{hover_text(name)}</b><br>mean gap %{{x:+.4f}}<extra></extra>",
    )
