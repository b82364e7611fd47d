"""Places by the traditional and by the tied value."""

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.leaderboard.score_bounds import drawable_rerankers
from dashboard.charts.marks import ROW
from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style


def rank_slope(leaderboard: pd.DataFrame, palette: Palette) -> go.Figure:
    """Draw the place by the traditional value on the left, by the tied one on the right; changes stand out.

    Args:
        leaderboard: index reranker; traditional, tied, worst, best, traditional_rank, tied_rank.
        palette: colours of the theme.
    """
    figure, leaderboard = go.Figure(), drawable_rerankers(leaderboard)
    heights = leaderboard[["traditional", "tied"]].rank(method="first", ascending=False)
    figure.add_traces(
        [_line(str(name), row, list(heights.loc[name]), palette) for name, row in leaderboard.iterrows()]
    )
    style(figure, palette, 96 + ROW * len(leaderboard), r=8)
    figure.update_yaxes(visible=False, range=[len(leaderboard) + 0.6, 0.4])
    return figure.update_xaxes(
        range=[-0.2, 2.1], tickvals=[0, 1], ticktext=["traditional", "tied"], showgrid=False, side="top"
    )


def _line(name: str, row: pd.Series, heights: list[float], palette: Palette) -> go.Scatter:
    """Return the line of one reranker, from its diamond to its dot."""
    ranks = [int(row["traditional_rank"]), int(row["tied_rank"])]
    has_changed = ranks[0] != ranks[1]
    label = safe(name, 20)
    return go.Scatter(
        x=[0, 1],
        y=heights,
        mode="lines+markers+text",
        line={
            "color": palette.traditional if has_changed else palette.other,
            "width": 2.5 if has_changed else 1.5,
        },
        marker={
            "symbol": ["diamond-open", "circle"],
            "size": [13, 9],
            "color": [palette.traditional, palette.tied],
            "line": {"width": [2, 0]},
            "opacity": 1,
        },
        text=[f"{ranks[0]}", f"{ranks[1]}  {label}"],
        textposition=["middle left", "middle right"],
        textfont={"color": palette.text if has_changed else palette.muted, "size": 12.5},
        customdata=ranks,
        hovertemplate=f"<b>{label}</b><br>place %{{customdata}}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
    )
