"""Queries won, equal and lost against a baseline."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.marks import ROW, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, style

_HALF = 0.2
"""Distance of the two bars of a reranker from its middle."""
_STANDOFF = 8
"""Pixels between a name and its bars."""
_FEW_QUERIES = 8
"""Queries that have a tick each: between them there would be two of one label."""


def win_loss_bars(table: pd.DataFrame, palette: Palette) -> Figure:
    """Draw two bars a reranker of `win_loss`: by tied values above, by traditional ones, paler, below."""
    figure = Figure()
    colours = {"won": palette.tied, "equal": palette.faint, "lost": palette.traditional}
    names = [hover_text(str(name)) for name in table.index]
    for suffix, shift, opacity, kind in (("", -_HALF, 1.0, "tied"), ("_before", _HALF, 0.45, "traditional")):
        start = pd.Series(0, index=table.index)
        for outcome, colour in colours.items():
            count = table[outcome + suffix]
            is_pale = bool(suffix) or outcome == "equal"
            figure.draw_bars(
                x=count,
                base=start,
                y=np.arange(len(table)) + shift,
                orientation="h",
                width=2 * _HALF - 0.06,
                marker={"color": colour, "opacity": opacity},
                name=outcome,
                showlegend=not suffix,
                legendgroup=outcome,
                text=[str(number) if number else "" for number in count],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"size": 12, "color": palette.text if is_pale else palette.ground},
                constraintext="none",
                customdata=names,
                hovertemplate=f"<b>%{{customdata}}</b><br>{outcome} %{{x}}, {kind} values<extra></extra>",
            )
            start = start + count
    style(figure, palette, 96 + int(1.6 * ROW) * len(table))
    label_rows(figure, table.index, palette)
    ticks = {"dtick": 1} if table[list(colours)].sum(axis=1).max() <= _FEW_QUERIES else {}
    return set_xaxes(figure, title_text="queries", tickformat="d", **ticks).set_layout(barmode="overlay")
