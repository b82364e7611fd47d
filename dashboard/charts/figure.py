"""A figure that is put together quickly, and checked once by plotly when it is done.

plotly's own figure checks all properties at each step, which takes longer than all else that a chart costs.
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
"""What Streamlit makes of a layout that says neither, after it was drawn; axes are fixed, so nothing pans."""


class Figure:
    """Traces and layout of a chart.

    Attributes:
        traces: properties of each, its type among them, in the order drawn; arrays are numpy's.
        settings: properties of the layout.
        sent: what pages sent of it, by whether its points can be clicked.
    """

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 plotly's
        self.traces: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = settings
        self.sent: dict[bool, go.Figure] = {}
        self._n_columns = 1

    @classmethod
    def of_panels(cls, rows: int, columns: int, **grid: Any) -> Self:  # noqa: ANN401 passed on
        """Return an empty figure of panels.

        Args:
            rows: panels one below the other.
            columns: panels side by side.
            **grid: spacing, widths (a tuple) and what is shared, as plotly's `make_subplots` has them.
        """
        figure = cls(**copy.deepcopy(_panel_layout(rows, columns, **grid)))
        figure._n_columns = columns
        return figure

    def draw(self, trace: Mapping[str, Any], **panel: int) -> Self:
        """Add a trace, to the panel of a row and a col where these are given."""
        self.traces.append(_of_numpy(trace) | self._axes_of(panel, "axis"))
        return self

    def draw_scatter(self, **trace: Any) -> Self:  # noqa: ANN401
        """Add marks, lines or both; row and col say in which panel."""
        panel = _pop_panel(trace)
        return self.draw({"type": "scatter"} | trace, **panel)

    def draw_bars(self, **trace: Any) -> Self:  # noqa: ANN401
        """Add bars; row and col say in which panel."""
        panel = _pop_panel(trace)
        return self.draw({"type": "bar"} | trace, **panel)

    def draw_shapes(self, shapes: Iterable[Mapping[str, Any]]) -> Self:
        """Add lines, boxes or paths; row and col say in which panel, where ends may be of its domain."""
        return self._append("shapes", shapes)

    def draw_shape(self, **shape: Any) -> Self:  # noqa: ANN401
        """Add one shape."""
        return self.draw_shapes([shape])

    def write_notes(self, notes: Iterable[Mapping[str, Any]]) -> Self:
        """Add texts, plotly's annotations, placed as shapes are."""
        return self._append("annotations", notes)

    def set_layout(self, **settings: Any) -> Self:  # noqa: ANN401
        """Set properties of the layout, at any depth; the others stay."""
        self.settings = _merge(self.settings, settings)
        return self

    def set_traces(self, selector: Mapping[str, object], **properties: Any) -> Self:  # noqa: ANN401
        """Set properties, at any depth, of the traces that have those of a selector."""
        for index, trace in enumerate(self.traces):
            if selector.items() <= trace.items():
                self.traces[index] = _merge(trace, properties)
        return self

    def axis_names(self, letter: str, row: int | None = None, col: int | None = None) -> list[str]:
        """Return the names of axes, such as `xaxis3`.

        Args:
            letter: x or y.
            row: of the panels; all where omitted.
            col: likewise.
        """
        names = {f"{letter}axis"} | {name for name in self.settings if name.startswith(f"{letter}axis")}
        return [
            name
            for name in sorted(names, key=_axis_index)
            if row is None or _axis_index(name) // self._n_columns == row - 1
            if col is None or _axis_index(name) % self._n_columns == col - 1
        ]

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self.settings["height"])

    @property
    def data(self) -> tuple[Any, ...]:
        """The traces as plotly has them, arrays among them."""
        return tuple(go.Figure([dict(trace) for trace in self.traces]).data)

    @property
    def layout(self) -> Any:  # noqa: ANN401 plotly is untyped
        """The layout as plotly has it, with the look of the app as its template."""
        return go.Figure(layout=self.settings).layout

    def to_plotly(self, *, is_clickable: bool = False) -> go.Figure:
        """Return plotly's own figure, checked; so that Streamlit draws it once.

        Streamlit's chart hands each new figure to plotly twice. The second time, plotly draws all of it again,
        unless it is said to hold the same data (`datarevision`), in lists instead of encoded arrays, and has no
        template nor another free object in its layout, which are new to it every time.

        Args:
            is_clickable: whether Streamlit is told of clicks on its points.

        Raises:
            ValueError: plotly knows no such property, or takes no such value for it.
        """
        spec = self.spec()
        added = {"datarevision": 0} | (_CLICKABLE if is_clickable else {})
        figure = go.Figure(spec["data"], spec["layout"] | added)
        figure.layout.template = None  # Streamlit gives one of its own to all figures that say none
        return figure

    def to_json(self) -> str:
        """Return data and layout as JSON."""
        return str(self.to_plotly().to_json())

    def spec(self) -> dict[str, Any]:
        """Return data and layout, what the template says written out, numbers in lists."""
        traces, layout = _plain(self.traces), _plain(self.settings)
        look = layout.pop("template", {}).get("layout", {})
        axis_names = [name for name in layout if name.startswith(_AXES)]
        axis_names += [axis + str(trace.get(axis, axis[0]))[1:] for trace in traces for axis in _AXES]
        axes = {name: _merge(look.get(name[:5], {}), layout.get(name, {})) for name in axis_names}
        rest = {name: value for name, value in look.items() if name not in _AXES}
        return {"data": traces, "layout": _merge(rest, layout) | axes}

    def _append(self, name: str, parts: Iterable[Mapping[str, Any]]) -> Self:
        """Add parts to a list of the layout, those of a panel with its axes."""
        placed_parts = []
        for part in map(dict, parts):
            axes = self._axes_of(_pop_panel(part), "ref")
            placed_parts.append(part | _of_domains(axes, part))
        self.settings[name] = [*self.settings.get(name, ()), *placed_parts]
        return self

    def _axes_of(self, panel: Mapping[str, int], name: str) -> dict[str, str]:
        """Return the axes of a panel, each under its letter and a name; nothing without a panel."""
        if not panel:
            return {}
        number = (panel["row"] - 1) * self._n_columns + panel["col"]
        return {f"{letter}{name}": letter + str(number) * (number > 1) for letter in "xy"}


@cache
def _panel_layout(rows: int, columns: int, **grid: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the axes that plotly's slow `make_subplots` lays out."""
    layout: dict[str, Any] = make_subplots(rows, columns, **grid).layout.to_plotly_json()
    layout.pop("template", None)  # Streamlit's
    return layout


def _pop_panel(part: dict[str, Any]) -> dict[str, int]:
    """Take row and col out of the properties of a part; return those there are."""
    return {name: part.pop(name) for name in ("row", "col") if name in part}


def _of_domains(axes: Mapping[str, str], part: Mapping[str, Any]) -> dict[str, str]:
    """Return axes, or their domains where a shape or a text says that it is placed by the domain."""
    return {
        name: f"{axis} domain" if str(part.get(name, "")).endswith("domain") else axis
        for name, axis in axes.items()
    }


def _axis_index(name: str) -> int:
    """Return how many axes of its letter come before one: two for xaxis3."""
    return int(name[5:] or 1) - 1


def _merge(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a figure says itself, at any depth, and the defaults for all else."""
    deep = {
        name: _merge(defaults[name], value)
        for name, value in own.items()
        if isinstance(value, dict) and isinstance(defaults.get(name), dict)
    }
    return {**defaults, **own, **deep}


def _of_numpy(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties with numpy's arrays for those of pandas, at any depth."""
    return {
        name: _of_numpy(value)
        if isinstance(value, dict)
        else value.to_numpy()
        if isinstance(value, pd.Series | pd.Index | pd.DataFrame)
        else value
        for name, value in trace.items()
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 any part of a figure
    """Return a part with lists for arrays, and null for what is no number, which JSON lacks."""
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
