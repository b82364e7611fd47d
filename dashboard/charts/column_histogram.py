"""The shape of a column: how many values fall where."""

import numpy as np
import pyarrow as pa

from dashboard.charts.figure import Figure
from dashboard.charts.palette import Palette
from dashboard.charts.style import set_xaxes, set_yaxes, style
from metrics.support.arrays import histogram

BARS = 60


def column_histogram(values: pa.ChunkedArray, palette: Palette, *, is_score: bool) -> Figure:
    """Draw the histogram of a file's scores or grades without axes; few distinct values stand as spikes.

    Infinite scores are not drawn.

    Args:
        values: float64.
        palette: colours of the theme.
        is_score: blue for scores, grey for grades.
    """
    counts, middles = histogram(values.to_numpy(), BARS)
    figure = Figure().draw_bars(
        x=np.arange(BARS),  # the browser can place neither neighbours in float64 nor the ends of its range
        y=counts,
        customdata=middles,
        marker={"color": palette.tied if is_score else palette.other},
        hovertemplate="about %{customdata:.4g}: %{y:,} rows<extra></extra>",
    )
    style(figure, palette, 72, t=2, b=2, l=0, r=0)
    figure.set_layout(bargap=0.08)
    set_yaxes(figure, visible=False)
    return set_xaxes(figure, visible=False)
