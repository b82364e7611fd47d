"""A long list at one glance: the chance of relevance, a step a tie group."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_cutoff
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, set_yaxes, style
from metrics.studies.one_list.query import rank_column

MAX_STEPS = 400
"""Tie groups of a whole list that are drawn one by one."""


def relevance_steps(groups: pd.DataFrame, palette: Palette, k: int | None) -> Figure:
    """Draw the chance that the document at a place is relevant, a step a tie group, a bracket below a tie.

    Args:
        groups: first, last, documents, relevant, score or front; as `tie_groups` returns them.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    is_long = len(groups) > MAX_STEPS
    steps = _merge_neighbours(groups) if is_long else groups
    ranked_by = rank_column(groups)
    share = steps["relevant"] / steps["documents"]
    figure = Figure().draw_bars(
        x=(steps["first"] + steps["last"]) / 2,
        y=share,
        width=steps["documents"],
        marker={"color": palette.tied, "line": {"width": 0.5, "color": palette.ground}},
        customdata=steps[["first", "last", "relevant", "documents", ranked_by]].to_numpy(),
        hovertemplate=(
            "places %{customdata[0]:,} to %{customdata[1]:,}<br>%{customdata[2]:,} of %{customdata[3]:,} "
            "relevant<br>chance at each place %{y:.4f}<br>"
            + ranked_by
            + " from %{customdata[4]:.6g}<extra></extra>"
        ),
    )
    top = max(float(share.max()), 1e-9)
    if not is_long:
        _add_brackets(figure, groups[groups["documents"] > 1], palette, top)
    length = int(groups["last"].max())
    ceiling = 1.05 * top
    if k is not None and k < length:
        ceiling = 1.3 * top
        add_cutoff(figure, palette, k, (-0.13 * top, 1.2 * top), 1.12 * top, xanchor="left")
    style(figure, palette, 190, t=8)
    figure.set_layout(barmode="overlay", showlegend=False)
    set_yaxes(figure, title_text="relevant", tickformat="~p", nticks=4, range=[-0.15 * top, ceiling])
    return set_xaxes(
        figure,
        title_text=f"rank by {ranked_by}",
        showgrid=False,
        tickformat="~s",
        nticks=10,
        range=[0, length + 1],
    )


def _add_brackets(figure: Figure, ties: pd.DataFrame, palette: Palette, top: float) -> None:
    figure.draw_bars(
        x=(ties["first"] + ties["last"]) / 2,
        y=np.full(len(ties), -0.1 * top),
        base=-0.04 * top,
        width=ties["documents"],
        marker={"color": palette.bounds, "line": {"width": 1, "color": palette.ground}},
        hoverinfo="skip",
    )


def _merge_neighbours(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the tie groups with neighbours put together, so that `MAX_STEPS` are left."""
    step = np.arange(len(groups)) * MAX_STEPS // len(groups)
    return groups.groupby(step).agg(
        {"first": "first", "last": "last", "documents": "sum", "relevant": "sum", rank_column(groups): "last"}
    )
