"""Chart figures: traces and layout as dictionaries with the app's look, which plotly validates once.

plotly's own figure validates every property at each step, which takes longer than drawing the chart.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.palette import LIGHT, Palette
from metrics.support.arrays import FloatArray

FONT = '"Source Sans", "Source Sans 3", sans-serif'
BELOW, BELOW_TICKS = 48, 29
"""Pixels below panels for the ticks of an axis, with and without its title.

plotly draws the whole figure again where a margin is too small for its axes.
"""
_TALLEST_LEGEND = 300
"""Pixels above which a legend scrolls; plotly's default hides entries on a phone."""
_AXES = ("xaxis", "yaxis")
_CLICKABLE = {"clickmode": "event+select", "dragmode": "pan"}
"""Streamlit adds these after drawing when a layout has neither, which would draw the chart again."""


class Figure:
    """Traces and layout of a chart.

    Attributes:
        palette: colours of the theme.
        traces: properties of each trace in drawing order, its type among them.
        settings: properties of the layout.
    """

    def __init__(self, palette: Palette = LIGHT, **settings: Any) -> None:
        self.palette = palette
        self.traces: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = settings
        self._plotly: dict[bool, go.Figure] = {}
        self._n_columns = 1

    @classmethod
    def of_panels(cls, rows: int, columns: int, palette: Palette = LIGHT, **grid: Any) -> Self:
        """Return an empty grid of panels; `grid` takes the options of plotly's `make_subplots`."""
        figure = cls(palette, **copy.deepcopy(_panel_layout(rows, columns, **grid)))
        figure._n_columns = columns
        return figure

    def draw(self, trace: Mapping[str, Any]) -> Self:
        """Add a trace, to the panel at `row` and `col` if it names one.

        A trace without a hover template has no hover box, one without a name no legend entry. Marks and
        words may cross the axes; lines may not.
        """
        trace, axes = self._split_panel(trace, "axis")
        look: dict[str, Any] = {} if "name" in trace else {"showlegend": False}
        if "hovertemplate" not in trace:
            look["hoverinfo"] = "skip"
        elif "<extra>" not in trace["hovertemplate"]:
            trace["hovertemplate"] += "<extra></extra>"
        has_words_or_marks = trace.get("mode") in ("markers", "text", "markers+text")
        if trace["type"] == "bar" or (has_words_or_marks and trace["type"] == "scatter"):
            look["cliponaxis"] = False
        self.traces.append(look | trace | axes)
        return self

    def draw_scatter(self, **trace: Any) -> Self:
        """Add a scatter trace."""
        return self.draw({"type": "scatter"} | trace)

    def draw_marks(self, **trace: Any) -> Self:
        """Add a scatter trace of marks."""
        return self.draw_scatter(mode="markers", **trace)

    def draw_line(self, **trace: Any) -> Self:
        """Add a scatter trace of a line."""
        return self.draw_scatter(mode="lines", **trace)

    def draw_bars(self, **trace: Any) -> Self:
        """Add a bar trace; `text` is muted and outside the bars unless the trace says otherwise."""
        outside = {"textposition": "outside", "textfont": {"color": self.palette.muted}}
        return self.draw({"type": "bar"} | (outside if "text" in trace else {}) | trace)

    def draw_words(self, x: Any, y: Any, words: Sequence[str], **trace: Any) -> Self:  # noqa: ANN401
        """Add a text at each point, of `size` pixels and in `color`, which may be one per text."""
        font = {"size": trace.pop("size", 12), "color": trace.pop("color", self.palette.text)}
        return self.draw_scatter(x=x, y=y, mode="text", text=words, textfont=font, **trace)

    def draw_shape(self, **shape: Any) -> Self:
        """Add a shape, to the panel at `row` and `col` if it names one."""
        return self._append("shapes", shape)

    def draw_upright(self, x: float, **shape: Any) -> Self:
        """Add an upright line, dotted and through the whole plot unless `line`, `y0` and `y1` differ."""
        line = {"color": self.palette.text, "width": 1.4, "dash": "dot"} | shape.pop("line", {})
        ends = {"y0": 0, "y1": 1} | ({} if "y0" in shape else {"yref": "y domain"})
        return self.draw_shape(type="line", x0=x, x1=x, line=line, **ends | shape)

    def write(self, text: str, **place: Any) -> Self:
        """Write a short muted text; `place` overrides annotation properties."""
        font = {"size": 12, "color": self.palette.muted}
        return self._append("annotations", {"text": text, "showarrow": False, "font": font} | place)

    def style(self, height: int, **margin: int) -> Self:
        """Give the figure the app's look; `margin` overrides the usual l, r, t and b in pixels."""
        margins = {"l": 8, "r": 12, "t": 42, "b": BELOW} | margin
        self.settings |= {"template": _look(self.palette), "height": height, "margin": margins}
        return self

    def set_layout(self, **settings: Any) -> Self:
        """Merge settings into the layout."""
        self.settings = _merge(self.settings, settings)
        return self

    def set_traces(self, selector: Mapping[str, object], **properties: Any) -> Self:
        """Merge properties into all traces that match a selector."""
        for index, trace in enumerate(self.traces):
            if selector.items() <= trace.items():
                self.traces[index] = _merge(trace, properties)
        return self

    def set_xaxes(self, **properties: Any) -> Self:
        """Set properties of the x axes of all panels, or of those at `row` and `col`.

        Nested properties are replaced; `title_text` keeps the other properties of the title.
        """
        return self._set_axes("x", properties)

    def set_yaxes(self, **properties: Any) -> Self:
        """Set properties of the y axes, as `set_xaxes` does."""
        return self._set_axes("y", properties)

    def _set_axes(self, letter: str, properties: dict[str, Any]) -> Self:
        names = self.axis_names(letter, properties.pop("row", None), properties.pop("col", None))
        title = {name[6:]: value for name, value in properties.items() if name.startswith("title_")}
        replaced = {name: value for name, value in properties.items() if not name.startswith("title_")}
        for name in names:
            own = self.settings.get(name, {})
            own_title = {"title": own.get("title", {}) | title} if title else {}
            self.settings[name] = own | own_title | replaced
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
        return tuple(go.Figure(self.traces).data)

    @property
    def layout(self) -> Any:  # noqa: ANN401 plotly is untyped
        """Layout, validated by plotly, with the app's template."""
        return go.Figure(layout=self.settings).layout

    def to_plotly(self, *, is_clickable: bool = False) -> go.Figure:
        """Return a plotly figure that Streamlit draws only once, made once and to be read only.

        Streamlit hands each new figure to plotly twice. plotly skips the second drawing if `datarevision` is
        equal, arrays are lists, and the layout has no template.

        Raises:
            ValueError: plotly rejects a property or its value.
        """
        if is_clickable not in self._plotly:
            spec = self.spec()
            added = {"datarevision": 0} | (_CLICKABLE if is_clickable else {})
            self._plotly[is_clickable] = figure = go.Figure(spec["data"], spec["layout"] | added)
            figure.layout.template = None  # Streamlit gives one of its own to all figures that say none
        return self._plotly[is_clickable]

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

    def _append(self, name: str, part: Mapping[str, Any]) -> Self:
        placed, axes = self._split_panel(part, "ref")
        for ref, axis in axes.items():  # `domain` alone means the domain of the panel
            in_domain = str(placed.get(ref, "")).endswith("domain")
            placed[ref] = f"{axis} domain" if in_domain else axis
        self.settings.setdefault(name, []).append(placed)
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
def _panel_layout(rows: int, columns: int, **grid: Any) -> dict[str, Any]:
    """Cache the result of plotly's slow `make_subplots`."""
    layout: dict[str, Any] = make_subplots(rows, columns, **grid).layout.to_plotly_json()
    layout.pop("template", None)  # Streamlit's
    return layout


@cache
def _look(palette: Palette) -> dict[str, Any]:
    """Return the plotly template of a theme."""
    clear, font = "rgba(0,0,0,0)", {"family": FONT, "size": 13, "color": palette.text}
    muted = {"size": 13, "color": palette.muted}
    axis = {
        "showgrid": True,
        "gridcolor": palette.grid,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "exponentformat": "none",
        "tickfont": muted | {"size": 12},
        "title": {"font": muted, "standoff": 10},
        "fixedrange": True,
        "automargin": True,
    }
    box = {"bgcolor": palette.ground, "bordercolor": palette.grid, "font": font, "align": "left"}
    legend = {
        "orientation": "h",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "xanchor": "left",
        "font": muted,
        "maxheight": _TALLEST_LEGEND,
        "itemclick": False,
        "itemdoubleclick": False,
    }
    return {
        "layout": {
            "xaxis": axis,
            "yaxis": axis,
            "paper_bgcolor": clear,
            "plot_bgcolor": clear,
            "font": font,
            "separators": ".,",
            "hoverlabel": box,
            "legend": legend,
            "modebar": {"bgcolor": palette.ground, "color": palette.muted, "activecolor": palette.tied},
            "hovermode": "closest",
            "dragmode": False,
        }
    }


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


def _plain(value: Any) -> Any:  # noqa: ANN401 any part of a figure
    """Convert arrays and tables to lists, and non-finite numbers to None, which JSON can express."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, pd.Series | pd.Index | pd.DataFrame):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or np.isfinite(value).all():
            return value.tolist()
        nullable = value.astype(object)
        nullable[~np.isfinite(value)] = None
        return nullable.tolist()
    return value


def tie_ratio_axis(domain: tuple[float, float], ends: tuple[float, float]) -> dict[str, Any]:
    """Return a second y axis for tie ratios, which shares its x axis with the panel below."""
    ticks = {"tickformat": ".0%", "tickvals": [0, 0.5, 1]}
    return {"domain": domain, "anchor": "x", "title": {"text": "tie ratio"}, "range": ends} | ticks


def signed_ticks(low: float, high: float, n_steps: int) -> dict[str, Any]:
    """Return at most `n_steps` ticks for an axis of differences, signed except for 0.

    plotly can sign ticks itself, but needs `labelalias` for 0, which makes it draw all axes again.
    """
    if not high > low:
        return {"tickvals": [0], "ticktext": ["0"]}
    least_step = (high - low) / n_steps
    power = int(np.floor(np.log10(least_step)))
    step = 10.0**power * next((factor for factor in (1, 2, 5) if factor * 10.0**power >= least_step), 10)
    ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    texts = [np.format_float_positional(tick, max(0, -power), trim="-", sign=True) for tick in ticks]
    return {
        "tickvals": ticks,
        "ticktext": [text.replace("-", "−") if tick else "0" for tick, text in zip(ticks, texts, strict=True)],
    }


_ROUGH, _COUNTS = 0.06, 5
"""Spans of an axis between which ticks have two decimals."""


def padded_range(values: FloatArray) -> tuple[float, float]:
    """Return axis ends around the values, with too little padding for a tick below 0 or above 1."""
    low, high = float(values.min()), float(values.max())
    room = max(0.1 * (high - low), 0.02 * max(high, 1))
    bottom, top = low - room, high + room
    if low >= 0:
        bottom = max(bottom, -room / 5)
    if high <= 1:
        top = min(top, 1 + room / 5)
    return bottom, top


def value_axis(values: FloatArray) -> dict[str, Any]:
    """Return the ends of an axis around the values, and a format that writes 0.60 beside 0.55."""
    low, high = padded_range(values)
    return {"range": (low, high), "tickformat": ".2f" if _ROUGH < high - low < _COUNTS else ""}


def named_ticks(labels: Iterable[str]) -> dict[str, Any]:
    """Return one tick per label, counted from 0, without grid lines."""
    labels = list(labels)
    return {"tickvals": np.arange(len(labels)), "ticktext": labels, "showgrid": False}
