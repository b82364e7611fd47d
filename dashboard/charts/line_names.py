"""Names at the right end of lines, pushed apart where the lines end close to each other."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dashboard.charts.labels import SLOPE_COLUMNS, chart_names
from dashboard.charts.palette import Palette
from dashboard.charts.style import note_of

_LINE = 17
"""Pixels from one name to the next."""


def line_names(
    ends: pd.Series, colours: Mapping[str, str], palette: Palette, axis: tuple[float, float], height: float
) -> list[dict[str, object]]:
    """Return an annotation for each line, beside its end or as near as other names and the plot allow.

    Args:
        ends: name → value at the right end of its line.
        colours: name → colour of its line.
        palette: colours of the theme.
        axis: lowest and highest value of the axis.
        height: pixels between them.
    """
    (low, high), ordered = axis, ends.sort_values(ascending=False, kind="stable")
    heights = height * (high - ordered.to_numpy()) / (high - low)
    steps = _LINE * np.arange(len(heights))
    places = np.minimum(steps + np.maximum.accumulate(heights - steps), height - steps[::-1])
    labels = chart_names(map(str, ends.index), SLOPE_COLUMNS)
    beside = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6}
    return [
        note_of(
            labels[str(name)],
            palette,
            **beside,
            y=value,
            yshift=own - place,
            font={"size": 12, "color": colours[str(name)]},
        )
        for (name, value), own, place in zip(ordered.items(), heights, places, strict=True)
    ]
