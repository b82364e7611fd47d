"""Gaps by segment of queries."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import ROW, cells, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, set_yaxes, style
from metrics.studies.prose import signed

MOST_SEGMENTS = 8
"""Segments drawn, the largest."""


def segment_heatmap(table: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the mean gap of rerankers, in rows, by segment, in columns: orange too high, blue too low.

    Args:
        table: reranker, segment, traditional, tied, gap, n; in the order drawn.
        palette: colours of the theme.
        measure: what the gaps are of.
    """
    rerankers, segments = table["reranker"].unique(), table["segment"].unique()[:MOST_SEGMENTS]
    wide = table.pivot_table(index="reranker", columns="segment", sort=False).reindex(rerankers)
    gap, traditional, tied, n = (wide[column][segments] for column in ("gap", "traditional", "tied", "n"))
    reach = max(float(np.nanmax(gap.abs().to_numpy(), initial=0)), 0.02)
    names = np.meshgrid([hover_text(name) for name in segments], [hover_text(name) for name in rerankers])
    figure = Figure().draw(
        cells(
            gap.to_numpy(),
            (*palette.heat[2:0:-1], palette.grid, *palette.warm[:3:2]),
            np.vectorize(_gap_text, otypes=[object])(gap),
            x=np.arange(len(segments)),
            y=np.arange(len(rerankers)),
            customdata=np.dstack([*np.array(names[::-1], dtype=object), traditional, tied, n]),
            textfont={"size": 12, "color": palette.text},
            zmin=-reach,
            zmax=reach,
            hovertemplate="<b>%{customdata[0]}</b> · %{customdata[1]}<br>"
            f"{measure} traditional %{{customdata[2]:.4f}}, tied %{{customdata[3]:.4f}}<br>"
            "gap %{z:+.4f} over %{customdata[4]:,} queries<extra></extra>",
        )
    )
    style(figure, palette, 56 + ROW * len(rerankers), t=44, b=8)
    label_rows(figure, rerankers, palette)
    set_yaxes(figure, range=[len(rerankers) - 0.5, -0.5], ticklabelstandoff=6)
    labels = chart_names(segments, 12)
    sizes = [f"{labels[name]}<br>n = {size:,.0f}" for name, size in n.max().items()]
    return set_xaxes(
        figure, side="top", showgrid=False, tickangle=0, tickvals=np.arange(len(segments)), ticktext=sizes
    )


def _gap_text(gap: float) -> str:
    """Return what is written in a cell."""
    return "" if np.isnan(gap) else signed(gap) if gap else "0"
