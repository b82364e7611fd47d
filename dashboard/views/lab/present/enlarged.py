"""A chart as it is shown to a room: the same figure, its marks and texts larger."""

from typing import Any

import numpy as np

from dashboard.charts.figure import Figure

FACTOR = 1.5
"""How much larger marks, lines and texts are."""
_SIZES = {"size", "standoff", "thickness", "xshift", "yshift", "l", "r", "t", "b"}
"""Properties in pixels; a width is one in a line only."""


def enlarged(figure: Figure, height: int) -> Figure:
    """Return a figure of this height with the marks, lines and texts of another made larger."""
    large = Figure(**_scale(figure.settings, "") | {"height": height})
    for trace in figure.traces:
        large.draw(_scale(trace, ""))
    return large


def _scale(part: Any, name: str) -> Any:  # noqa: ANN401 any part of a figure
    """Return a part of a figure with all that is measured in pixels made larger."""
    if isinstance(part, dict):
        return {key: _scale_entry(name, key, value) for key, value in part.items()}
    if isinstance(part, list | tuple) and any(isinstance(item, dict) for item in part):
        return [_scale(item, name) for item in part]
    return part


def _scale_entry(parent: str, key: str, value: Any) -> Any:  # noqa: ANN401
    if key in _SIZES or (key == "width" and parent == "line"):
        if isinstance(value, int | float):
            return float(value) * FACTOR
        if isinstance(value, list | tuple | np.ndarray):
            return np.asarray(value, dtype=float) * FACTOR
    return _scale(value, key)
