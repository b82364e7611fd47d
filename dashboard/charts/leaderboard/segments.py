"""Gaps by segment of queries."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.leaderboard.leaderboard import ROW, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style
from metrics.studies.prose import signed

MOST_SEGMENTS = 8
"""Segments drawn, the largest."""


def segment_heatmap(table: pd.DataFrame, palette: Palette, measure: str) -> go.Figure:
    """Mean gap of each reranker in each segment: orange too high, blue too low.

    Args:
        table: reranker, segment, traditional, tied, gap, n; in the order drawn.
        palette: colours of the theme.
        measure: what the gaps are of.
    """
    names, segments = (list(dict.fromkeys(table[column])) for column in ("reranker", "segment"))
    segments = segments[:MOST_SEGMENTS]
    wide = table.pivot_table(index="reranker", columns="segment", sort=False).reindex(names)
    cells = {column: wide[column][segments] for column in ("gap", "traditional", "tied", "n")}
    gap = cells["gap"].to_numpy()
    reach = max(float(np.nanmax(np.abs(gap), initial=0)), 0.02)
    colours = (*palette.heat[2:0:-1], palette.grid, *palette.warm[:3:2])
    labels = ([safe(name) for name in names], [safe(one) for one in segments])
    figure = go.Figure(
        go.Heatmap(
            z=gap,
            x=np.arange(len(segments)),
            y=np.arange(len(names)),
            customdata=np.dstack(
                [
                    np.broadcast_to(np.array(labels[0], dtype=object)[:, None], gap.shape),
                    np.broadcast_to(np.array(labels[1], dtype=object), gap.shape),
                    *(cells[column].to_numpy() for column in ("traditional", "tied", "n")),
                ]
            ),
            text=[["" if np.isnan(one) else signed(one) if one else "0" for one in row] for row in gap],
            texttemplate="%{text}",
            textfont={"size": 12, "color": palette.text},
            colorscale=[[at / (len(colours) - 1), colour] for at, colour in enumerate(colours)],
            zmin=-reach,
            zmax=reach,
            showscale=False,
            xgap=2,
            ygap=2,
            hoverongaps=False,
            hovertemplate="<b>%{customdata[0]}</b> · %{customdata[1]}<br>"
            f"{measure} traditional %{{customdata[2]:.4f}}, tied %{{customdata[3]:.4f}}<br>"
            "gap %{z:+.4f} over %{customdata[4]:,} queries<extra></extra>",
        )
    )
    style(figure, palette, 56 + ROW * len(names), t=44)
    label_rows(figure, cells["gap"])
    rows = {"range": [len(names) - 0.5, -0.5], "ticklabelstandoff": 6}
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13}, **rows)
    sizes = cells["n"].max()
    return figure.update_xaxes(
        side="top",
        showgrid=False,
        tickangle=0,
        tickvals=np.arange(len(segments)),
        ticktext=[f"{safe(one, 12)}<br>n = {sizes[one]:,.0f}" for one in segments],
    )
