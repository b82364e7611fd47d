"""Who ties, and what it does to the value, as scores that stand near each other come to tie."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.name_places import line_names
from dashboard.charts.palette import Palette
from dashboard.charts.style import (
    padded_range,
    safe,
    set_xaxes,
    set_yaxes,
    signed_ticks,
    style,
    tie_ratio_axis,
)

_PLOT, _SHARE = 380, 0.56
"""Pixels of both panels, and the part of them that the lower one has."""


def near_tie_panels(
    tie_ratios: pd.DataFrame,
    values: pd.DataFrame,
    palette: Palette,
    colours: Mapping[str, str],
    measure: str,
) -> Figure:
    """Draw the tie ratio above and the change of the tied value below, over the distance on a log axis.

    Args:
        tie_ratios: index `distance`, 0 first; columns rerankers.
        values: the same of tied means.
        palette: colours of the theme.
        colours: reranker → its colour.
        measure: how the tied mean is called.
    """
    figure = Figure()
    changes = (values - values.iloc[0]).iloc[1:]
    places = np.log10(changes.index.to_numpy(dtype=float))
    for axis, table, figures in (("y2", tie_ratios.iloc[1:], ".0%"), ("y", changes, "+.4f")):
        for name, column in table.items():
            figure.draw_scatter(
                x=places,
                y=column,
                yaxis=axis,
                mode="lines",
                line={"color": colours[str(name)], "width": 2},
                customdata=table.index,
                hovertemplate=f"<b>{hover_text(str(name))}</b><br>ε %{{customdata:.2g}}: "
                f"%{{y:{figures}}}<extra></extra>",
                showlegend=False,
            )
    style(figure, palette, _PLOT + 70, t=14, r=150, l=72)
    _set_axes(figure, places, changes, measure, palette)
    figure.write_notes(
        line_names(changes.iloc[-1], colours, palette, figure.settings["yaxis"]["range"], _SHARE * _PLOT)
    )
    return figure


def _set_axes(
    figure: Figure, places: np.ndarray, changes: pd.DataFrame, measure: str, palette: Palette
) -> None:
    """Set the axes: distances by powers of ten, changes below, tie ratios above."""
    decades = np.arange(np.ceil(places[0] - 1e-9), np.floor(places[-1] + 1e-9) + 1)
    set_xaxes(
        figure,
        title_text="distance ε, in standard deviations of a reranker's own scores (log scale)",
        tickvals=decades,
        ticktext=[np.format_float_positional(10.0**decade, trim="-") for decade in decades],
        range=[places[0], places[-1]],
        anchor="y",
    )
    low, high = padded_range(np.append(changes.to_numpy().ravel(), 0.0))
    title = f"change of {safe(measure)}"
    set_yaxes(figure, title_text=title, range=[low, high], domain=[0, _SHARE], **signed_ticks(low, high, 6))
    figure.set_layout(yaxis2=tie_ratio_axis(palette, (_SHARE + 0.1, 1), (-0.04, 1.06)))
