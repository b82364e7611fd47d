"""Where the first relevant document of a list lands."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_diamond
from dashboard.charts.one_list.tie_ladder import MAX_DOCUMENTS
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, set_xaxes, set_yaxes, style

MAX_LABELS = 16
"""Marks that have room for their figures."""
_DRAWN_CHANCE = 0.999
"""Chance of the ranks that are drawn, where they are many."""


def first_hit_bars(chances: pd.DataFrame, palette: Palette, traditional: int | None) -> Figure:
    """Draw the chance of each rank of the first relevant document; the traditional one as a diamond below.

    Args:
        chances: rank, chance; of many ranks several share a bar, without their last thousandth.
        palette: colours of the theme.
        traditional: rank the traditional order gives, None where nothing relevant is listed.
    """
    likely = _likely(chances)
    width = -(-len(likely) // MAX_DOCUMENTS)
    bars = likely.groupby(np.arange(len(likely)) // width).agg(
        first=("rank", "min"), last=("rank", "max"), chance=("chance", "sum")
    )
    figure = Figure().draw_bars(
        x=(bars["first"] + bars["last"]) / 2,
        y=bars["chance"],
        marker={"color": palette.tied},
        width=0.72 if width == 1 else 0.9 * width,
        text=[f"{chance:.0%}" for chance in bars["chance"]] if len(bars) <= MAX_LABELS else None,
        textposition="outside",
        textfont={"color": palette.muted},
        cliponaxis=False,
        customdata=[
            f"rank {bar.first:,}" if bar.first == bar.last else f"ranks {bar.first:,} to {bar.last:,}"
            for bar in bars.itertuples()
        ],
        hovertemplate="first relevant at %{customdata}: %{y:.4f}<extra></extra>",
    )
    top = float(bars["chance"].max())
    if traditional is not None:
        add_diamond(figure, palette, traditional, -0.09 * top, f"traditional order: rank {traditional:,}")
    style(figure, palette, 264, t=16, l=54)
    figure.set_layout(showlegend=False)
    set_yaxes(figure, tickformat="~p", range=[-0.16 * top, top * 1.15], nticks=5, title_text="chance")
    if len(likely) < len(chances):
        text = f"the last {1 - _DRAWN_CHANCE:.1%}: up to rank {chances['rank'].iloc[-1]:,}"
        note(figure, text, palette, x=1, xref="paper", xanchor="right", y=1, yref="paper", yanchor="top")
    low, high = int(bars["first"].min()), int(bars["last"].max())
    return set_xaxes(
        figure,
        title_text="rank of the first relevant document",
        showgrid=False,
        tickformat="d" if high < 10_000 else "~s",  # noqa: PLR2004 five digits crowd the axis
        nticks=12,
        range=[max(low - 2.5, 0.3), max(high, low + 5) + 0.7],
    )


def _likely(chances: pd.DataFrame) -> pd.DataFrame:
    """Return the ranks that are drawn: all, or where they are many those before the last thousandth."""
    if len(chances) <= MAX_DOCUMENTS:
        return chances
    n_likely = int(np.searchsorted(chances["chance"].cumsum(), _DRAWN_CHANCE)) + 1
    return chances.head(max(MAX_DOCUMENTS, n_likely))
