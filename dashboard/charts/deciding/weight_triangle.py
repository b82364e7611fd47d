"""Who leads over all weightings of three criteria: a triangle, each corner one criterion alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.palette import Palette
from dashboard.charts.style import note_of, safe, set_xaxes, set_yaxes, style
from metrics.studies.robustness.weightings import weighting_leaders

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""Where each criterion has all the weight: left, right, top."""
_HEIGHT = 400
_LONGEST = 20
"""Columns of a corner's name: two of them stand side by side on a phone."""


def weight_triangle(
    values: pd.DataFrame,
    palette: Palette,
    colours: Mapping[str, str],
    words: Sequence[str],
) -> Figure:
    """Draw a hexagon for each weighting, in a triangle of three criteria, in the colour of who leads there.

    Args:
        values: of `values_by_weighting`, of three criteria.
        palette: colours of the theme.
        colours: reranker → its colour.
        words: what the measure and the three criteria are called.
    """
    weights = np.stack([values.index.get_level_values(place) for place in range(3)], axis=1)
    spots, owners = weights @ _CORNERS, weighting_leaders(values)
    steps = round((np.sqrt(8 * len(values) + 1) - 3) / 2)
    figure, names = Figure(), chart_names(map(str, values.columns), 22)
    for name in dict.fromkeys(owners):
        own = owners == name
        data = np.column_stack([weights[own], values.loc[own, name]])
        parts = [f"{safe(word, 30)} %{{customdata[{place}]:.2f}}" for place, word in enumerate(words[1:])]
        hover = f"<b>{hover_text(name)}</b> leads: %{{customdata[3]:.4f}}<br>" + "<br>".join(parts)
        size = 0.98 * (_HEIGHT - 70) / (steps + 1) / np.sqrt(3) * 2
        marker = {"symbol": "hexagon", "size": size, "color": colours[name], "line": {"width": 0}}
        x, y = spots[own].T
        trace = {"customdata": data, "hovertemplate": hover + "<extra></extra>", "name": names[name]}
        figure.draw_scatter(x=x, y=y, mode="markers", marker=marker, cliponaxis=False, showlegend=True, **trace)
    style(figure, palette, _HEIGHT + 60, t=64, b=8, l=8, r=8)
    reach, notes = 0.5 / steps, []
    sides = ((-reach, "left", "top", -22), (1 + reach, "right", "top", -22), (0.5, "center", "bottom", 22))
    for corner, word, (x, across, side, shift) in zip(_CORNERS, words[1:], sides, strict=True):
        place = {"x": x, "xanchor": across, "y": corner[1], "yref": "y", "yanchor": side, "yshift": shift}
        notes.append(note_of(f"{safe(word, _LONGEST)} alone", palette, **place))
    figure.write_notes(notes)
    axis: dict[str, Any] = {"visible": False, "fixedrange": True, "constrain": "domain"}
    set_xaxes(figure, range=[-reach, 1 + reach], **axis)
    return set_yaxes(figure, range=[-0.16, 0.98], scaleanchor="x", **axis)
