"""Chart figures: traces and layout as dictionaries, which plotly validates once.

plotly's own figure validates every property at each step, which takes longer than drawing the chart.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

_AXES = ("xaxis", "yaxis")
_CLICKABLE = {"clickmode": "event+select", "dragmode": "pan"}
"""Streamlit adds these after drawing when a layout has neither, which would draw the chart again."""


class Figure:
    """Traces and layout of a chart.

    Attributes:
        traces: properties of each trace in drawing order, its type among them.
        settings: properties of the layout.
        sent: plotly figures made from it, by whether their points are clickable.
    """

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 plotly's
        self.traces: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = settings
        self.sent: dict[bool, go.Figure] = {}
        self._n_columns = 1

    @classmethod
    def of_panels(cls, rows: int, columns: int, **grid: Any) -> Self:  # noqa: ANN401 passed on
        """Return an empty grid of panels; `grid` takes the options of plotly's `make_subplots`."""
        figure = cls(**copy.deepcopy(_panel_layout(rows, columns, **grid)))
        figure._n_columns = columns
        return figure

    def draw(self, trace: Mapping[str, Any]) -> Self:
        """Add a trace, to the panel at `row` and `col` if it names one."""
        trace, axes = self._split_panel(trace, "axis")
        self.traces.append(_of_numpy(trace) | axes)
        return self

    def draw_scatter(self, **trace: Any) -> Self:  # noqa: ANN401
        """Add a scatter trace."""
        return self.draw({"type": "scatter"} | trace)

    def draw_bars(self, **trace: Any) -> Self:  # noqa: ANN401
        """Add a bar trace."""
        return self.draw({"type": "bar"} | trace)

    def draw_shapes(self, shapes: Iterable[Mapping[str, Any]]) -> Self:
        """Add shapes, to the panel at `row` and `col` if they name one."""
        return self._append("shapes", shapes)

    def draw_shape(self, **shape: Any) -> Self:  # noqa: ANN401
        """Add one shape."""
        return self.draw_shapes([shape])

    def write_notes(self, notes: Iterable[Mapping[str, Any]]) -> Self:
        """Add annotations, to the panel at `row` and `col` if they name one."""
        return self._append("annotations", notes)

    def set_layout(self, **settings: Any) -> Self:  # noqa: ANN401
        """Merge settings into the layout."""
        self.settings = _merge(self.settings, settings)
        return self

    def set_traces(self, selector: Mapping[str, object], **properties: Any) -> Self:  # noqa: ANN401
        """Merge properties into all traces that match a selector."""
        for index, trace in enumerate(self.traces):
            if selector.items() <= trace.items():
                self.traces[index] = _merge(trace, properties)
        return self

    def axis_names(self, letter: str, row: int | None = None, col: int | None = None) -> list[str]:
        """Return the names of the x or y axes, such as `xaxis3`, of all panels or of one row or column."""
        names = {f"{letter}axis"} | {name for name in self.settings if name.startswith(f"{letter}axis")}
        return [
            name
            for name in sorted(names, key=_axis_index)
            if row is None or _axis_index(name) // self._n_columns == row - 1
            if col is None or _axis_index(name) % self._n_columns == col - 1
        ]

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.settings["height"])

    @property
    def data(self) -> tuple[Any, ...]:
        """Traces, validated by plotly."""
        return tuple(go.Figure([dict(trace) for trace in self.traces]).data)

    @property
    def layout(self) -> Any:  # noqa: ANN401 plotly is untyped
        """Layout, validated by plotly, with the app's template."""
        return go.Figure(layout=self.settings).layout

    def to_plotly(self, *, is_clickable: bool = False) -> go.Figure:
        """Return a plotly figure that Streamlit draws only once.

        Streamlit hands each new figure to plotly twice. plotly skips the second drawing if `datarevision` is
        equal, arrays are lists, and the layout has no template.

        Raises:
            ValueError: plotly rejects a property or its value.
        """
        spec = self.spec()
        added = {"datarevision": 0} | (_CLICKABLE if is_clickable else {})
        figure = go.Figure(spec["data"], spec["layout"] | added)
        figure.layout.template = None  # Streamlit gives one of its own to all figures that say none
        return figure

    def to_json(self) -> str:
        """Return traces and layout as JSON."""
        return str(self.to_plotly().to_json())

    def spec(self) -> dict[str, Any]:
        """Return traces and layout with the template applied and arrays as lists."""
        traces, layout = _plain(self.traces), _plain(self.settings)
        look = layout.pop("template", {}).get("layout", {})
        axis_names = [name for name in layout if name.startswith(_AXES)]
        axis_names += [axis + str(trace.get(axis, axis[0]))[1:] for trace in traces for axis in _AXES]
        axes = {name: _merge(look.get(name[:5], {}), layout.get(name, {})) for name in axis_names}
        shared = {name: value for name, value in look.items() if name not in _AXES}
        return {"data": traces, "layout": _merge(shared, layout) | axes}

    def _append(self, name: str, parts: Iterable[Mapping[str, Any]]) -> Self:
        placed_parts = list(self.settings.get(name, ()))
        for part in parts:
            placed, axes = self._split_panel(part, "ref")
            for ref, axis in axes.items():  # `domain` alone means the domain of the panel
                in_domain = str(placed.get(ref, "")).endswith("domain")
                placed[ref] = f"{axis} domain" if in_domain else axis
            placed_parts.append(placed)
        self.settings[name] = placed_parts
        return self

    def _split_panel(self, part: Mapping[str, Any], name: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return a part without row and col, and the axes of that panel: letter and name → axis."""
        part = dict(part)
        row, col = part.pop("row", None), part.pop("col", None)
        if row is None or col is None:
            return part, {}
        number = (row - 1) * self._n_columns + col
        return part, {f"{letter}{name}": letter + str(number) * (number > 1) for letter in "xy"}


@cache
def _panel_layout(rows: int, columns: int, **grid: Any) -> dict[str, Any]:  # noqa: ANN401
    """Cache the result of plotly's slow `make_subplots`."""
    layout: dict[str, Any] = make_subplots(rows, columns, **grid).layout.to_plotly_json()
    layout.pop("template", None)  # Streamlit's
    return layout


def _axis_index(name: str) -> int:
    return int(name[5:] or 1) - 1


def _merge(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge nested dictionaries; `own` wins."""
    deep = {
        name: _merge(defaults[name], value)
        for name, value in own.items()
        if isinstance(value, dict) and isinstance(defaults.get(name), dict)
    }
    return {**defaults, **own, **deep}


def _of_numpy(trace: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _of_numpy(value)
        if isinstance(value, dict)
        else value.to_numpy()
        if isinstance(value, pd.Series | pd.Index | pd.DataFrame)
        else value
        for name, value in trace.items()
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 any part of a figure
    """Convert arrays to lists and non-finite numbers to None, which JSON can express."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or np.isfinite(value).all():
            return value.tolist()
        nullable = value.astype(object)
        nullable[~np.isfinite(value)] = None
        return nullable.tolist()
    return value
