"""All places at a glance, with a frame around those that are drawn below."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.leaderboard.tier_brackets import add_tier_lines
from dashboard.charts.marks import VALUES, VALUES_HOVER, add_segments, named_rows, tied_dot, traditional_diamond
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import BELOW_TICKS, padded_range, set_xaxes, set_yaxes, style
from metrics.evaluation import EQUAL

_CLEARLY_OFF = 0.05
"""Share of what lies between the best and the worst tied value from which a gap has its diamond."""
_MANY = 60
"""Rerankers from which on dots are smaller, which would else run into a band."""

_TIERS = 20
"""Pixels that the lines of tiers take."""


def clear_gap(leaderboard: pd.DataFrame) -> float:
    """Return the gap from which on the strip shows the traditional value beside `tied`."""
    return float(_CLEARLY_OFF * np.ptp(leaderboard["tied"]))


def place_strip(leaderboard: pd.DataFrame, palette: Palette, measure: str, first: int, last: int) -> Figure:
    """Draw the tied value of every reranker by place, and a diamond where the traditional one is clearly off.

    Args:
        leaderboard: index reranker; tied, traditional, worst, best, gap, perhaps tier; best first.
        palette: colours of the theme.
        measure: title of the y axis.
        first: row that the frame begins with, counted from 0.
        last: row that it ends with.
    """
    places = np.arange(1, len(leaderboard) + 1)
    figure, spots = Figure(), leaderboard.set_axis(places)
    ends = {"x0": first + 0.5, "x1": last + 1.5, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    frame = {"line": {"color": palette.tied, "width": 1.5}, "fillcolor": faded(palette.tied, 0.06)}
    figure.draw_shape(type="rect", **ends, **frame)
    add_segments(figure, pd.Series(places, places), spots[["worst", "best"]], palette.bounds, 5)
    is_off = (spots["gap"].abs() >= max(clear_gap(leaderboard), EQUAL)).to_numpy()
    is_framed = (places > first) & (places <= last + 1)
    data = np.array(named_rows(leaderboard.index, leaderboard[VALUES].to_numpy()), dtype=object)
    size = 7 if len(places) <= _MANY else 4
    dot = tied_dot(palette, size) | {"color": np.where(is_framed, palette.tied, palette.muted)}
    for value, rows, marker in (
        ("traditional", is_off, traditional_diamond(palette, 11)),
        ("tied", np.ones(len(places), dtype=bool), dot),
    ):
        figure.draw_scatter(
            x=places[rows],
            y=spots[value][rows],
            mode="markers",
            marker=marker,
            customdata=data[rows],
            hovertemplate=VALUES_HOVER,
            showlegend=False,
            cliponaxis=False,
        )
    has_tiers = "tier" in leaderboard
    style(figure, palette, 170 + _TIERS * has_tiers, t=12 + _TIERS * has_tiers, b=BELOW_TICKS)
    if has_tiers:
        add_tier_lines(figure, leaderboard["tier"], palette)
    low, high = padded_range(leaderboard[VALUES].to_numpy())
    set_yaxes(figure, title_text=measure, nticks=4, range=[low, high])
    return set_xaxes(figure, range=[0.3, len(places) + 0.7], showgrid=False, tickformat="d", nticks=12)
