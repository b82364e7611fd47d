"""What the browser is sent of a figure, so that it draws the figure once.

Streamlit's chart hands each new figure to plotly twice. The second time, plotly draws all of it again, unless
it is said to hold the same data (`datarevision`), in lists instead of encoded arrays, and has no template nor
another free object in its layout, which are new to it every time.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

_AXES = ("xaxis", "yaxis")
_CLICKABLE = {"clickmode": "event+select", "dragmode": "pan"}
"""What Streamlit makes of a layout that says neither, after it was drawn; axes are fixed, so nothing pans."""


def browser_spec(figure: go.Figure, *, is_clickable: bool = False) -> dict[str, Any]:
    """Return data and layout of a figure with the template written out, none of it encoded.

    Args:
        figure: of x and y axes, with a template of layout alone, as `style` gives it; it is not changed.
        is_clickable: whether Streamlit is told of clicks on its points.
    """
    traces = [_plain(trace.to_plotly_json()) for trace in figure.data]
    layout = _plain(figure.layout.to_plotly_json())
    look = layout.pop("template", {}).get("layout", {})
    axis_names = [name for name in layout if name.startswith(_AXES)]
    axis_names += [_axis_name(trace, axis) for trace in traces for axis in _AXES]
    axes = {name: _merge(look.get(name[:5], {}), layout.get(name, {})) for name in axis_names}
    rest = {name: value for name, value in look.items() if name not in _AXES}
    revision = {"datarevision": 0} | (_CLICKABLE if is_clickable else {})
    return {"data": traces, "layout": _merge(rest, layout) | axes | revision}


def _axis_name(trace: Mapping[str, Any], axis: str) -> str:
    """Return the axis of the layout that a trace is drawn on: yaxis3 where it says y3."""
    return axis + str(trace.get(axis, axis[0]))[1:]


def _merge(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a figure says itself, at any depth, and the defaults for all else."""
    deep = {
        name: _merge(defaults[name], value)
        for name, value in own.items()
        if isinstance(value, dict) and isinstance(defaults.get(name), dict)
    }
    return {**defaults, **own, **deep}


def _plain(value: Any) -> Any:  # noqa: ANN401 any part of a figure
    """Return a part with null for what is no number, which JSON lacks; Streamlit writes arrays as lists."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        nullable = value.astype(object)
        nullable[~np.isfinite(value)] = None
        return nullable.tolist()
    return value
