"""How far off the lists of each reranker are, as a ridge a row."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.palette import Palette
from dashboard.charts.style import note_of
from metrics.studies.prose import signed
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import percent

_KERNEL = np.exp(-0.5 * (np.arange(-4, 5) / 1.6) ** 2)
_HIGHEST = 0.82
"""Part of a row that the highest ridge fills."""
_BASE = 0.3
"""Part of a row from its middle down to its ridge."""


def add_ridges(
    figure: Figure,
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
        edges: (n + 1,) of the gaps, as far below zero as above; from zero on where they are absolute.
        counts: for each reranker, (n,) lists with a gap between them.
        palette: colours of the theme.
        col: of the subplot.
    """
    heights = [np.convolve(row, _KERNEL / _KERNEL.sum(), "same") for row in counts]
    highest = max((height.max() for height in heights), default=0) or 1
    bases = np.arange(len(heights), dtype=np.float64) + _BASE
    title = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": 104, "y": 1, "yref": "paper"}
    beside = {"x": 1, "xref": f"x{col} domain", "xanchor": "left", "xshift": 6, "yref": f"y{col}"}
    notes = [note_of("mean · lists with a gap", palette, **title, yanchor="bottom")]
    is_signed = edges[0] < 0
    notes += [
        note_of(f"<b>{signed(gap, plus=is_signed)}</b> · {percent(share)}", palette, y=base - 0.12, **beside)
        for gap, share, base in zip(rerankers["gap"], rerankers["lists_with_gap"], bases, strict=True)
    ]
    for ridge in _ridges(edges, [height / highest for height in heights], bases, palette):
        figure.draw_scatter(**ridge, row=1, col=col)
    figure.draw_scatter(**_means(rerankers["gap"], bases, palette), row=1, col=col)
    figure.write_notes(notes)


def _ridges(
    edges: FloatArray, heights: Sequence[FloatArray], bases: FloatArray, palette: Palette
) -> Iterator[dict[str, Any]]:
    """Yield the ground lines of the rows, and the two sides of their ridges; heights are at most 1."""
    look = {"hoverinfo": "skip", "showlegend": False}
    line = {"color": palette.grid, "width": 1}
    ends = np.tile([edges[0], edges[-1], np.nan], len(bases))
    yield {"x": ends, "y": np.repeat(bases, 3), "mode": "lines", "line": line, **look}
    centre = (edges[1:] + edges[:-1]) / 2
    below = np.r_[centre[centre < 0], 0.0]
    above = np.r_[0.0, centre[centre >= 0]]
    for x, colour in ((below, palette.other), (above, palette.traditional))[int(edges[0] == 0) :]:
        y = [
            np.r_[base - _HIGHEST * np.interp(x, centre, height), np.full(len(x) + 1, base)]
            for base, height in zip(bases, heights, strict=True)
        ]
        sides = {"x": np.tile(np.r_[x, x[::-1], np.nan], len(bases)), "y": np.ravel(y)}
        fill = {"fill": "toself", "fillcolor": colour, "opacity": 0.75}
        yield {**sides, "mode": "none", **fill, **look}


def _means(gaps: "pd.Series[float]", bases: FloatArray, palette: Palette) -> dict[str, Any]:
    """Return the marks of the mean gaps of rerankers."""
    border = {"color": palette.ground, "width": 1}
    return {
        "x": gaps,
        "y": bases,
        "mode": "markers",
        "showlegend": False,
        "marker": {"symbol": "diamond", "size": 9, "color": palette.text, "line": border},
        "customdata": [hover_text(str(name)) for name in gaps.index],
        "hovertemplate": "<b>%{customdata}</b><br>mean %{x:.4f}<extra></extra>",
    }
