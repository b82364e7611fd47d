"""A list and, on the same axis, the ranks of its first relevant document."""

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_diamond
from dashboard.charts.one_list.first_hit_bars import MAX_LABELS
from dashboard.charts.one_list.tie_ladder import tie_ladder
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW, set_xaxes
from metrics.support.wording import percent

_MIN_PLACES = 5
"""Places that a short list is given."""


def ladder_with_ranks(
    ladder: pd.DataFrame, chances: pd.DataFrame, palette: Palette, k: int | None, traditional: int | None
) -> Figure:
    """Draw a list from the top and, below it on the same axis, the chance of each first relevant rank.

    Args:
        ladder: as for `tie_ladder`.
        chances: rank, chance; no rows where nothing is relevant.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
        traditional: rank of the first relevant document as listed, None where there is none.
    """
    figure = tie_ladder(ladder, palette, k)
    top = float(chances["chance"].max()) if len(chances) else 1.0
    figure.draw_bars(
        x=chances["rank"],
        y=chances["chance"],
        yaxis="y2",
        width=0.72,
        marker={"color": palette.tied},
        text=[percent(chance) for chance in chances["chance"]] if len(chances) <= MAX_LABELS else None,
        textposition="outside",
        textfont={"color": palette.muted},
        textangle=0,
        cliponaxis=False,
        hovertemplate="first relevant at rank %{x}: %{y:.4f}<extra></extra>",
    )
    if traditional is not None:
        add_diamond(figure, palette, traditional, -0.14 * top, f"as listed: rank {traditional}")
        figure.traces[-1]["yaxis"] = "y2"
    figure.set_layout(
        height=400,
        showlegend=False,
        yaxis={"domain": [0.64, 1]},
        yaxis2={"domain": [0, 0.54], "range": [-0.26 * top, 1.2 * top], "anchor": "x", "visible": False},
        xaxis={"anchor": "y2", "dtick": 1 if len(ladder) <= MAX_LABELS else None},
        margin={"b": BELOW - 4},
    )
    return set_xaxes(
        figure,
        title_text="chance of the first relevant rank; diamond: as listed",
        range=[0.4, max(len(ladder), _MIN_PLACES) + 0.6],
    )
