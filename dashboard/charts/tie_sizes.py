"""How large ties are, how many orders lists have, and what a tie costs by each method."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import dotted_line
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, set_xaxes, set_yaxes, style
from metrics.support.arrays import FloatArray

BINS = 30
"""Bars of the histogram at most."""
HIGHEST = 15
"""Power of ten at which the axis of costs ends."""
_METHODS = {
    "enumeration": "every ordering",
    "patterns": "every pattern",
    "sampling": "draws",
    "closed_form": "closed form",
}
_TICKS = {0: "1", 3: "thousand", 6: "million", 9: "billion", 12: "trillion", 15: "10<sup>15</sup>"}


def ordering_costs(log10_orderings: FloatArray, costs: pd.DataFrame, palette: Palette, limit: int) -> Figure:
    """Draw lists by their number of orderings, and what a tie costs by size and method, in powers of ten.

    Args:
        log10_orderings: (n_lists,) of the number of orderings of each list.
        costs: size, rising, and log10 of the documents looked at: enumeration, patterns, sampling, closed_form.
        palette: colours of the theme.
        limit: orderings up to which a list is enumerated.
    """
    figure = Figure.of_panels(1, 2, column_widths=(0.48, 0.52), horizontal_spacing=0.09)
    _add_histogram(figure, log10_orderings, palette, np.log10(limit))
    looks = dict(zip(_METHODS, (palette.traditional, palette.other, palette.text, palette.tied), strict=True))
    for method, label in _METHODS.items():
        figure.draw_scatter(
            x=np.log10(costs["size"]),
            y=costs[method],
            mode="lines+markers",
            line={"color": looks[method], "width": 2.5 if method == "closed_form" else 2},
            marker={"size": 6},
            name=label,
            customdata=np.column_stack([costs["size"], costs[method]]),
            hovertemplate=f"{label}<br>a tie of %{{customdata[0]:,.0f}}: 10<sup>%{{customdata[1]:.1f}}</sup> "
            "documents<extra></extra>",
            row=1,
            col=2,
        )
    style(figure, palette, 360, t=48, l=60, r=28)
    figure.set_layout(bargap=0.08, legend={"x": 1, "xanchor": "right"})
    sizes = [size for size in (2, 5, 10, 20, 50, 100, 1000, 10**4, 10**5, 10**6) if size <= costs["size"].max()]
    set_xaxes(
        figure,
        title_text="documents in the tie",
        tickvals=np.log10(sizes),
        ticktext=[f"{size:,}" for size in sizes],
        showgrid=False,
        col=2,
    )
    return set_yaxes(
        figure,
        title_text="documents looked at",
        range=[-0.2, HIGHEST],
        tickvals=list(_TICKS),
        ticktext=list(_TICKS.values()),
        col=2,
    )


def tie_size_bars(counts: pd.DataFrame, palette: Palette) -> Figure:
    """Draw how many ties have how many documents.

    Args:
        counts: first, last, ties, documents; as `tie_size_counts` returns them.
        palette: colours of the theme.
    """
    is_single = counts["first"] == counts["last"]
    spans = counts["first"].map("{:,}".format) + " to " + counts["last"].map("{:,}".format)
    figure = Figure().draw_bars(
        x=counts["last"].map("{:,}".format).where(is_single, spans),
        y=counts["ties"],
        marker={"color": palette.tied},
        text=counts["ties"].map("{:,}".format),
        textposition="outside",
        textfont={"color": palette.muted},
        cliponaxis=False,
        customdata=counts["documents"],
        hovertemplate="%{y:,} ties of %{x} documents: %{customdata:,} documents in all<extra></extra>",
    )
    style(figure, palette, 300, t=24, l=54)
    set_yaxes(figure, title_text="ties", nticks=5, tickformat="~s")
    return set_xaxes(figure, title_text="documents in the tie", type="category", showgrid=False)


def _add_histogram(figure: Figure, logs: FloatArray, palette: Palette, limit: float) -> None:
    """Add lists by the power of ten of their orderings, those that can be enumerated in blue."""
    step = max(1.0, float(np.ceil(logs.max(initial=0) / BINS)))
    edges = np.arange(0, max(logs.max(initial=0), limit) + 2 * step, step)
    counts, _ = np.histogram(logs, bins=edges)
    figure.draw_bars(
        x=edges[:-1] + step / 2,
        y=counts,
        width=0.92 * step,
        marker={"color": np.where(edges[:-1] < limit, palette.tied, palette.other)},
        customdata=np.column_stack([edges[:-1], edges[1:]]),
        hovertemplate="%{y:,} lists with 10<sup>%{customdata[0]:.0f}</sup> to "
        "10<sup>%{customdata[1]:.0f}</sup> orderings<extra></extra>",
        showlegend=False,
        row=1,
        col=1,
    )
    figure.draw_shape(
        type="line", x0=limit, x1=limit, y0=0, y1=1, yref="y domain", line=dotted_line(palette), row=1, col=1
    )
    place = {"x": limit, "xanchor": "left", "xshift": 6, "y": 1, "yref": "y domain", "yanchor": "top"}
    note(figure, "more than 10,000: too many to list", palette, **place)
    n_ticks = 6
    ticks = np.arange(0, edges[-1] + 1, max(1, round(edges[-1] / n_ticks)))
    set_xaxes(
        figure,
        title_text="orders of a list",
        tickvals=ticks,
        ticktext=[f"10<sup>{tick:.0f}</sup>" for tick in ticks],
        showgrid=False,
        row=1,
        col=1,
    )
    set_yaxes(figure, title_text="lists", nticks=5, row=1, col=1)
