"""The look that all figures share: grid, font, background and safe texts."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from dashboard.charts.figure import Figure
from dashboard.charts.labels import TEXT_COLUMNS, clipped, escaped
from dashboard.charts.palette import Palette
from metrics.support.arrays import FloatArray

FONT = '"Source Sans", "Source Sans 3", sans-serif'

BELOW, BELOW_TICKS = 48, 29
"""Pixels below panels for the ticks of an axis, with and without its title.

plotly draws the whole figure again where a margin is too small for its axes.
"""
_TALLEST_LEGEND = 300
"""Pixels above which a legend scrolls; plotly's default hides entries on a phone."""


def safe(text: str, longest: int = TEXT_COLUMNS) -> str:
    """Return a user's text for a chart: escaped, without control characters, shortened in the middle.

    `chart_names` shortens names that appear side by side.
    """
    return escaped(clipped(text, longest))


def style(figure: Figure, palette: Palette, height: int, **margin: int) -> Figure:
    """Give a figure the app's look; `margin` overrides the usual l, r, t and b in pixels."""
    margins = {"l": 8, "r": 12, "t": 42, "b": BELOW} | margin
    figure.settings |= {"template": _look(palette), "height": height, "margin": margins}
    return figure


@cache
def _look(palette: Palette) -> dict[str, Any]:
    """Return the plotly template of a theme."""
    axis, font = _axis(palette), {"family": FONT, "size": 13, "color": palette.text}
    return {
        "layout": {
            "xaxis": axis,
            "yaxis": axis,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": font,
            "separators": ".,",
            "hoverlabel": {
                "bgcolor": palette.ground,
                "bordercolor": palette.grid,
                "font": font,
                "align": "left",
            },
            "legend": {
                "orientation": "h",
                "x": 0,
                "y": 1,
                "yanchor": "bottom",
                "xanchor": "left",
                "font": {"size": 13, "color": palette.muted},
                "maxheight": _TALLEST_LEGEND,
                "itemclick": False,
                "itemdoubleclick": False,
            },
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": palette.muted, "activecolor": palette.tied},
            "hovermode": "closest",
            "dragmode": False,
        }
    }


def _axis(palette: Palette) -> dict[str, Any]:
    return {
        "showgrid": True,
        "gridcolor": palette.grid,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "exponentformat": "none",
        "tickfont": {"size": 12, "color": palette.muted},
        "title": {"font": {"size": 13, "color": palette.muted}, "standoff": 10},
        "fixedrange": True,
        "automargin": True,
    }


def set_xaxes(
    figure: Figure, *, row: int | None = None, col: int | None = None, **properties: object
) -> Figure:
    """Set properties of the x axes of all panels, or of one row or column; return the figure.

    Nested properties are replaced; `title_text` keeps the other properties of the title.
    """
    return _set_axes(figure, figure.axis_names("x", row, col), properties)


def set_yaxes(
    figure: Figure, *, row: int | None = None, col: int | None = None, **properties: object
) -> Figure:
    """Set properties of the y axes, as `set_xaxes` does."""
    return _set_axes(figure, figure.axis_names("y", row, col), properties)


def _set_axes(figure: Figure, axis_names: Iterable[str], properties: Mapping[str, object]) -> Figure:
    of_title = {name: value for name, value in properties.items() if name.startswith("title_")}
    title = {name.removeprefix("title_"): value for name, value in of_title.items()}
    replaced = {name: value for name, value in properties.items() if name not in of_title}
    for name in axis_names:
        own = figure.settings.get(name, {})
        own_title = {"title": own.get("title", {}) | title} if title else {}
        figure.settings[name] = own | own_title | replaced
    return figure


def tie_ratio_axis(palette: Palette, domain: tuple[float, float], ends: tuple[float, float]) -> dict[str, Any]:
    """Return a second y axis for tie ratios, which shares its x axis with the panel below."""
    return {
        "domain": domain,
        "anchor": "x",
        "showgrid": True,
        "gridcolor": palette.grid,
        "zeroline": False,
        "fixedrange": True,
        "title": {"text": "tie ratio", "font": {"size": 13, "color": palette.muted}},
        "tickfont": {"size": 12, "color": palette.muted},
        "tickformat": ".0%",
        "range": ends,
        "tickvals": [0, 0.5, 1],
    }


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


def note(figure: Figure, text: str, palette: Palette, **place: object) -> None:
    """Write a short muted text in a figure; `place` overrides annotation properties."""
    figure.write_notes([note_of(text, palette, **place)])


def note_of(text: str, palette: Palette, **place: object) -> dict[str, object]:
    """Return the annotation that `note` writes."""
    return {"text": text, "showarrow": False, "font": {"size": 12, "color": palette.muted}} | place


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


def add_key(figure: Figure, palette: Palette, entries: Sequence[tuple[str, str, str]]) -> None:
    """Explain the lines of a figure above it: (word, colour, value) for each."""
    text = " &nbsp; ".join(f"<b style='color:{colour}'>{word}</b> {value}" for word, colour, value in entries)
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
    note(figure, text, palette, font={"size": 13, "color": palette.muted}, **place)
