"""Brackets round rerankers that nothing tells apart."""

from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note, note_of

_END = 0.34
"""Rows from the middle of the last one of a tier to the end of its bracket."""
_SHORTEST = 0.03
"""Share of all places from which on a tier of the strip has room for its number."""


class TierRun(NamedTuple):
    """Neighbours of one tier.

    Attributes:
        tier: its number.
        first: row of the first, from 0.
        last: row of the last.
    """

    tier: int
    first: int
    last: int


def tier_runs(tiers: pd.Series) -> list[TierRun]:
    """Return the neighbours of one tier, from the top, of the tiers of each row."""
    rows = [list(group) for _, group in groupby(enumerate(tiers.astype(int)), key=lambda row: row[1])]
    return [TierRun(group[0][1], group[0][0], group[-1][0]) for group in rows]


def add_tier_brackets(figure: Figure, tiers: pd.Series, palette: Palette, start: float) -> None:
    """Add a bracket and a number for each tier, and a band behind every second one.

    Args:
        figure: changed in place; its y axis counts rows from the top, 0 first, and its axis x4, from 0 to 1, is
            the column of brackets.
        tiers: of each row.
        palette: colours of the theme.
        start: where bands begin, as a share of the width.
    """
    runs = tier_runs(tiers)
    x = [value for _ in runs for value in (0.2, 0.4, 0.4, 0.2, None)]
    y = [value for _, first, last in runs for value in (*[first - _END] * 2, *[last + _END] * 2, None)]
    line = {"color": palette.muted, "width": 1.5}
    look = {"xaxis": "x4", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False}
    figure.draw_scatter(x=x, y=y, mode="lines", line=line, **look)
    figure.draw_scatter(
        x=np.full(len(runs), 0.5),
        y=[(run.first + run.last) / 2 for run in runs],
        mode="text",
        text=[str(run.tier) for run in runs],
        textposition="middle right",
        textfont={"size": 12, "color": palette.muted},
        **look,
    )
    band = {"type": "rect", "xref": "paper", "x0": start, "x1": 1, "layer": "below", "line": {"width": 0}}
    ends = [{"y0": run.first - 0.5, "y1": run.last + 0.5} for run in runs[: len(runs) * (len(runs) > 1) : 2]]
    fill = {"fillcolor": faded(palette.other, 0.14)}
    figure.draw_shapes(band | fill | height for height in ends)
    foot = {"x": 0.3, "xref": "x4", "y": 0, "yref": "paper", "yanchor": "top", "yshift": 1}
    note(figure, "tier", palette, **foot)


def add_tier_lines(figure: Figure, tiers: pd.Series, palette: Palette) -> None:
    """Add a line with its number above each tier of the strip, whose x axis counts places from 1.

    Args:
        figure: changed in place.
        tiers: of each place.
        palette: colours of the theme.
    """
    runs, place = tier_runs(tiers), {"y": 1.04, "yref": "paper"}
    line = {
        "type": "line",
        "y0": 1.04,
        "y1": 1.04,
        "yref": "paper",
        "line": {"color": palette.muted, "width": 1.5},
    }
    lines = [line | {"x0": run.first + 0.65, "x1": run.last + 1.35} for run in runs]
    figure.draw_shapes(lines)
    wide = [run for run in runs if run.last - run.first + 1 >= _SHORTEST * len(tiers)]
    words = [f"{'tier ' * (run is runs[0])}{run.tier}" for run in wide]
    middles = [1 + (run.first + run.last) / 2 for run in wide]
    figure.write_notes(
        note_of(text, palette, x=x, yanchor="bottom", **place) for text, x in zip(words, middles, strict=True)
    )
