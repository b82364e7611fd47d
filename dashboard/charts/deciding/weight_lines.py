"""Values over all weights of two criteria, and a strip that names the leader at each."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import dotted_line
from dashboard.charts.name_places import line_names
from dashboard.charts.palette import Palette, ink
from dashboard.charts.style import note_of, padded_range, safe, set_xaxes, set_yaxes, style
from metrics.studies.robustness.weightings import weighting_leaders
from metrics.support.wording import part_of

_PLOT, _STRIP, _GAP = 330, 46, 26
"""Pixels of the plot of values, of the strip below it, and between the two."""


def weight_lines(
    values: pd.DataFrame,
    stretches: pd.DataFrame,
    palette: Palette,
    colours: Mapping[str, str],
    words: tuple[str, str, str],
) -> Figure:
    """Draw the value of each reranker over the weight of the second criterion, and a strip of who leads.

    Args:
        values: of `values_by_weighting`, of two criteria.
        stretches: of `leading_stretches`.
        palette: colours of the theme.
        colours: reranker → its colour.
        words: what the measure and both criteria are called.
    """
    _, first, second = words
    figure, figures = Figure(), f"weight of {safe(second, 40)} %{{x:.2f}}: %{{y:.4f}}<extra></extra>"
    weights, leaders = values.index.get_level_values(1).to_numpy(dtype=float), weighting_leaders(values)
    for name, column in values.items():
        colour, hover = colours[str(name)], f"<b>{hover_text(str(name))}</b><br>"
        look = {"mode": "lines", "showlegend": False, "hovertemplate": hover + figures}
        figure.draw_scatter(x=weights, y=column, line={"color": colour, "width": 1.3}, **look)
    for stretch in stretches.to_dict("records"):
        name, own = stretch["reranker"], (weights >= stretch["start"]) & (weights <= stretch["end"])
        led = np.where(leaders[own] == name, values[name].to_numpy()[own], np.nan)
        line = {"color": colours[name], "width": 4}
        figure.draw_scatter(x=weights[own], y=led, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    names = chart_names(map(str, values.columns), 22)
    _add_strip(figure, stretches, palette, colours, names)
    style(figure, palette, _PLOT + _GAP + _STRIP + 84, t=14, r=150, b=64, l=72)
    _set_axes(figure, values, words)
    heights = figure.settings["yaxis"]["range"], _PLOT
    figure.write_notes(line_names(values.iloc[-1], colours, palette, *heights))
    corners = ((0, "left", first), (1, "right", second))
    place = {"y": 0, "yref": "paper", "yanchor": "top", "yshift": -20, "font": {"size": 12}}
    figure.write_notes(
        [note_of(f"{safe(text, 24)} alone", palette, x=x, xanchor=side, **place) for x, side, text in corners],
    )
    return figure


def _add_strip(
    figure: Figure,
    stretches: pd.DataFrame,
    palette: Palette,
    colours: Mapping[str, str],
    names: Mapping[str, str],
) -> None:
    """Add a bar for each stretch, named where there is room, and a dotted line up from where it ends."""
    for stretch in stretches.to_dict("records"):
        name, start, end = stretch["reranker"], stretch["start"], stretch["end"]
        ends = f"{stretch['lowest']:.3f}–{stretch['highest']:.3f}"
        times = part_of(stretch["n_led"], stretch["n_weightings"], "weighting")
        hover = f"leads at {times} from {start:.2f} to {end:.2f}<br>{ends}<extra></extra>"
        bar = {"base": start, "x": [end - start], "y": [0], "orientation": "h", "width": 1, "yaxis": "y2"}
        marker = {"color": colours[name], "line": {"width": 1, "color": palette.ground}}
        font = {"size": 12, "color": ink(colours[name])}
        text = {"text": [f"{names[name]}<br>{ends}"], "textposition": "inside", "insidetextfont": font}
        place = {"insidetextanchor": "middle", "textangle": 0, "showlegend": False}
        figure.draw_bars(
            **bar, **text, **place, marker=marker, hovertemplate=f"<b>{hover_text(name)}</b> {hover}"
        )
        if end < 1:
            line = dotted_line(palette) | {"color": palette.muted, "width": 1}
            figure.draw_shape(type="line", x0=end, x1=end, y0=0, y1=1, yref="y domain", line=line)
    figure.set_layout(uniformtext={"minsize": 11, "mode": "hide"})


def _set_axes(figure: Figure, values: pd.DataFrame, words: tuple[str, str, str]) -> None:
    """Set the axes: weights below the strip, values above it."""
    total = _PLOT + _GAP + _STRIP
    set_xaxes(
        figure,
        title_text=f"weight of {safe(words[2], 40)}",
        title_standoff=26,
        tickvals=np.linspace(0, 1, 5),
        range=[0, 1],
        anchor="y2",
    )
    low, high = padded_range(values.to_numpy())
    domain = [(_GAP + _STRIP) / total, 1]
    set_yaxes(figure, title_text=safe(words[0]), range=[low, high], domain=domain, nticks=7)
    strip = {"domain": [0, _STRIP / total], "range": [-0.5, 0.5], "visible": False, "fixedrange": True}
    figure.set_layout(yaxis2=strip, barmode="overlay")
