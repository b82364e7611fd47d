"""Bars of what ties and unjudged documents together allow, under those of ties alone."""

from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_bounds, named_rows
from dashboard.charts.palette import Palette, blend
from dashboard.charts.style import note_of
from metrics.support.wording import percent, with_signs

MANY_UNJUDGED = 0.15
"""Share of unjudged documents from which on it stands out."""
LEAST_WIDTH = 720
"""Pixels across in which the legend of bars and marks has room beside places and names."""
ENDS = ["lowest", "highest"]
"""Columns of the ends of a bar."""
_HOVER = (
    "<b>%{customdata[0]}</b><br>ties and judgments: %{customdata[1]:.4f} to %{customdata[2]:.4f}"
    "<br>unjudged %{customdata[3]:.0%}<extra></extra>"
)


def add_hole_bars(figure: Figure, leaderboard: pd.DataFrame, palette: Palette, **subplot: Any) -> None:  # noqa: ANN401
    """Add a hatched bar for each reranker, of which the bar of ties, added later, leaves the overhang.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        leaderboard: index reranker; lowest, highest, unjudged, perhaps expectation.
        palette: colours of the theme.
        subplot: its axes.
    """
    pale = blend(palette.bounds, palette.tied, 0.4)
    hatching = {"shape": "/", "fgcolor": pale, "bgcolor": palette.ground, "size": 6, "solidity": 0.2}
    add_bounds(
        figure,
        leaderboard[ENDS].set_axis(["worst", "best"], axis=1),
        palette,
        name="with unjudged",
        marker={"color": palette.ground, "pattern": hatching, "line": {"color": pale, "width": 1}},
        customdata=named_rows(leaderboard.index, leaderboard[[*ENDS, "unjudged"]].to_numpy()),
        hovertemplate=_HOVER,
        **subplot,
    )
    figure.set_layout(barmode="overlay")
    if "expectation" in leaderboard and leaderboard["expectation"].notna().any():
        _add_expectations(figure, leaderboard, palette, **subplot)


def _add_expectations(figure: Figure, leaderboard: pd.DataFrame, palette: Palette, **subplot: Any) -> None:  # noqa: ANN401
    """Add a tick where the mean is expected at the rate of judged documents, higher than the bar."""
    figure.draw_scatter(
        x=leaderboard["expectation"],
        y=np.arange(len(leaderboard)),
        mode="markers",
        marker={"symbol": "line-ns", "size": 18, "line": {"color": palette.text, "width": 2.5}},
        name="at the judged rate",
        legendrank=1001,
        customdata=named_rows(leaderboard.index, leaderboard[["expectation"]].to_numpy()),
        hovertemplate="<b>%{customdata[0]}</b><br>at the judged rate %{customdata[1]:.4f}<extra></extra>",
        **subplot,
    )


def unjudged_notes(leaderboard: pd.DataFrame, palette: Palette) -> list[dict[str, object]]:
    """Return the share `unjudged` for the end of each row, orange where it is large, and its name below."""
    place = {"x": 1, "xref": "paper", "xanchor": "right"}
    shares = leaderboard["unjudged"].to_numpy()
    return [
        note_of("unjudged", palette, **place, y=0, yref="paper", yanchor="top", yshift=1),
        *(
            note_of(
                with_signs(percent(share)),
                palette,
                **place,
                y=int(row),
                font={"size": 12, "color": palette.traditional if share >= MANY_UNJUDGED else palette.muted},
            )
            for row, share in zip(np.arange(len(shares)), shares, strict=True)
            if not np.isnan(share)
        ),
    ]
