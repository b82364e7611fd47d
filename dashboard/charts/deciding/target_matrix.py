"""Every target of every reranker, by what the pass rests on."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import tied_dot, traditional_diamond
from dashboard.charts.palette import Palette
from dashboard.charts.style import LONGEST, style

MAX_COLUMNS = 30
"""Rerankers whose targets are drawn side by side."""
_LEVEL_NAMES = 2
"""Names that fit side by side."""
_ROW = 28
"""Height of a target in pixels."""


def target_matrix(rows: pd.DataFrame, palette: Palette, emphasized: str) -> go.Figure:
    """Draw every target of every reranker, by what the pass rests on.

    Args:
        rows: target, reranker, tied, verdict, as `reached` returns them; rerankers stand in their order,
            the first `MAX_COLUMNS` of them.
        palette: colours of the theme.
        emphasized: reranker whose column stands out.

    Returns:
        A row a target, a column a reranker.
    """
    targets, names = pd.Index(rows["target"].unique()), pd.Index(rows["reranker"].unique()[:MAX_COLUMNS])
    rows = rows[rows["reranker"].isin(names)]
    figure = go.Figure()
    if emphasized in names:
        column = names.get_loc(emphasized)
        look = {"fillcolor": palette.faint, "opacity": 0.6, "line_width": 0, "layer": "below"}
        figure.add_vrect(column - 0.5, column + 0.5, **look)
    for verdict, (label, marker) in _verdict_marks(palette).items():
        cells = rows[rows["verdict"] == verdict]
        figure.add_scatter(
            x=list(names.get_indexer(cells["reranker"])) or [None],  # an empty trace has no legend entry
            y=list(targets.get_indexer(cells["target"])) or [None],
            mode="markers",
            marker=marker | {"opacity": 1},
            name=label,
            customdata=[
                [hover_text(row.reranker), hover_text(row.target), row.tied] for row in cells.itertuples()
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}: tied %{customdata[2]:.4f}<br>"
            f"{label}<extra></extra>",
            cliponaxis=False,
        )
    is_level = len(names) <= _LEVEL_NAMES
    style(figure, palette, 160 + _ROW * len(targets), b=60, r=12 if is_level else 64)
    figure.update_layout(showlegend=True, legend={"y": 0, "yanchor": "top", "font": {"size": 12}})
    figure.update_yaxes(
        tickvals=list(range(len(targets))),
        ticktext=list(chart_names(targets, LONGEST).values()),
        range=[len(targets) - 0.4, -0.6],
    )
    return figure.update_xaxes(
        side="top",
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=list(chart_names(names, 20).values()),
        tickangle=0 if is_level else -40,
        range=[-0.6, len(names) - 0.4],
    )


def _verdict_marks(palette: Palette) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the name and the marker of each verdict."""
    dot = tied_dot(palette, 12)
    ring = {"color": palette.bounds, "line": {"color": palette.tied, "width": 2}}
    missed = {"symbol": "circle-open", "size": 8, "color": palette.muted, "line": {"width": 1.5}}
    return {
        "met": ("every order", dot),
        "met on average": ("on average", dot | ring),
        "sort order only": ("sort order only", traditional_diamond(palette, 13)),
        "missed": ("missed", missed),
    }
