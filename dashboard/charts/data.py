"""Chart of the Data page: values of a column."""

import numpy as np
import pyarrow as pa

from dashboard.charts.figure import Figure
from dashboard.charts.palette import Palette
from metrics.support.arrays import histogram

BARS = 60


def column_histogram(values: pa.ChunkedArray, palette: Palette, *, is_score: bool) -> Figure:
    """Draw a small histogram of scores (blue) or grades (grey); infinite values are skipped."""
    counts, middles = histogram(values.to_numpy(), BARS)
    figure = Figure(palette).style(72, t=2, b=2, l=0, r=0).set_layout(bargap=0.08)
    figure.draw_bars(
        x=np.arange(BARS),  # the browser can place neither neighbours in float64 nor the ends of its range
        y=counts,
        customdata=middles,
        marker={"color": palette.tied if is_score else palette.other},
        hovertemplate="%{y:,} rows near %{customdata:.4g}",
    )
    return figure.set_yaxes(visible=False).set_xaxes(visible=False)
