"""The shape of a column: how many values fall where."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dashboard.charts.figure import Figure
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, set_yaxes, style

BARS = 60


def column_histogram(values: pa.ChunkedArray, palette: Palette, *, is_score: bool) -> Figure:
    """Draw the histogram of a file's scores or grades without axes; few distinct values stand as spikes.

    Args:
        values: float64.
        palette: colours of the theme.
        is_score: blue for scores, grey for grades.
    """
    finite = values.filter(pc.is_finite(values)).to_numpy()
    counts, edges = np.histogram(finite, bins=BARS) if len(finite) else (np.zeros(1), np.arange(2))
    figure = Figure().draw_bars(
        x=(edges[1:] + edges[:-1]) / 2,
        y=counts,
        marker={"color": palette.tied if is_score else palette.other},
        hovertemplate="about %{x:.4g}: %{y:,} rows<extra></extra>",
    )
    style(figure, palette, 72, t=2, b=2, l=0, r=0)
    figure.set_layout(bargap=0.08)
    set_yaxes(figure, visible=False)
    return set_xaxes(figure, visible=False)
