"""What all figures share: one quiet grid, one font, transparent ground, names that cannot run."""

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
"""Pixels below panels that the ticks of an axis take with its title, and without.

Axes take the room they need; but where a margin is too small for that, plotly draws the whole figure again.
"""
_TALLEST_LEGEND = 300
"""Pixels from which on a legend is scrolled; plotly's half of a plot hides entries on a phone."""


def safe(text: str, longest: int = TEXT_COLUMNS) -> str:
    """Return a user's text for a chart: escaped, without control characters, shortened in the middle.

    Names that stand side by side are shortened together, by `chart_names`.
    """
    return escaped(clipped(text, longest))


def style(figure: Figure, palette: Palette, height: int, **margin: int) -> Figure:
    """Give a figure the look of the app.

    Args:
        figure: changed in place and returned.
        palette: colours of the theme.
        height: in pixels.
        margin: l, r, t, b in pixels where they differ from the usual.
    """
    margins = {"l": 8, "r": 12, "t": 42, "b": BELOW} | margin
    figure.settings |= {"template": _look(palette), "height": height, "margin": margins}
    return figure


@cache
def _look(palette: Palette) -> dict[str, Any]:
    """Return what all figures of a theme share, as plotly's template."""
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
    """Set properties of x axes and return the figure.

    A dictionary takes the place of one set before, but for the title, of which `title_text` sets one property.

    Args:
        figure: changed in place.
        row: of its panels; all where omitted.
        col: likewise.
        **properties: of each axis.
    """
    return _set_axes(figure, figure.axis_names("x", row, col), properties)


def set_yaxes(
    figure: Figure, *, row: int | None = None, col: int | None = None, **properties: object
) -> Figure:
    """Set properties of y axes, as `set_xaxes` does."""
    return _set_axes(figure, figure.axis_names("y", row, col), properties)


def _set_axes(figure: Figure, axis_names: Iterable[str], properties: Mapping[str, object]) -> Figure:
    of_title = {name: value for name, value in properties.items() if name.startswith("title_")}
    title = {name.removeprefix("title_"): value for name, value in of_title.items()}
    rest = {name: value for name, value in properties.items() if name not in of_title}
    for name in axis_names:
        own = figure.settings.get(name, {})
        own_title = {"title": own.get("title", {}) | title} if title else {}
        figure.settings[name] = own | own_title | rest
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
    """Return the ticks of an axis of differences, a sign before each but 0.

    Plotly could sign them itself, but not without `labelalias` for 0, which has it draw all axes again.

    Args:
        low: end of the axis.
        high: the other; where it is no higher, 0 is the one tick.
        n_steps: from tick to tick at most.
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
    """Write a few quiet words in a figure.

    Args:
        figure: changed in place.
        text: ours, or passed through `safe`.
        palette: colours of the theme.
        place: where it stands, the row and col of its panel among it, and what differs from the usual.
    """
    figure.write_notes([note_of(text, palette, **place)])


def note_of(text: str, palette: Palette, **place: object) -> dict[str, object]:
    """Return the annotation of `note`, to be added with others."""
    return {"text": text, "showarrow": False, "font": {"size": 12, "color": palette.muted}} | place


def padded_range(values: FloatArray) -> tuple[float, float]:
    """Return the ends of an axis that holds these values and air, but too little for a tick past 0 or 1."""
    low, high = float(values.min()), float(values.max())
    room = max(0.1 * (high - low), 0.02 * max(high, 1))
    bottom, top = low - room, high + room
    if low >= 0:
        bottom = max(bottom, -room / 5)
    if high <= 1:
        top = min(top, 1 + room / 5)
    return bottom, top


def add_key(figure: Figure, palette: Palette, entries: Sequence[tuple[str, str, str]]) -> None:
    """Write above a figure what its lines stand for."""
    text = " &nbsp; ".join(f"<b style='color:{colour}'>{word}</b> {value}" for word, colour, value in entries)
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
    note(figure, text, palette, font={"size": 13, "color": palette.muted}, **place)
