"""Distinct recall against diversity, and against recall."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import ROW, add_segments, label_rows, named_rows, tied_dot
from dashboard.charts.name_places import MOST_BARS, SMALL, TALL, PlotArea, add_names
from dashboard.charts.palette import Palette
from dashboard.charts.style import (
    BELOW,
    BELOW_TICKS,
    note_of,
    padded_range,
    set_xaxes,
    set_yaxes,
    style,
)
from metrics.studies.prose import signed


def diversity_scatter(covered: pd.DataFrame, palette: Palette, k: int, width: int = SMALL) -> Figure:
    """Draw DR@k against Div@k, a named dot a reranker; of few, each with a bar from its worst to best order.

    Args:
        covered: index reranker; recall, distinct and targets, the last two with _worst and _best.
        palette: colours of the theme.
        k: cut-off.
        width: pixels between the axes, at least.
    """
    figure = Figure()
    x_ends, y_ends = (covered[[f"{name}_worst", f"{name}_best"]] for name in ("targets", "distinct"))
    x, y = covered["targets"], covered["distinct"]
    x_bars, y_bars = (ends if len(covered) <= MOST_BARS else ends.iloc[:0] for ends in (x_ends, y_ends))
    left, right = padded_range(np.append(x_bars.to_numpy(), x))
    bottom, top = padded_range(np.append(y_bars.to_numpy(), y))
    plot = PlotArea(left, right, bottom, top, width)
    add_segments(figure, x_bars, y, palette.bounds, 9)
    add_segments(figure, x, y_bars, palette.bounds, 9)
    lines = [plot.box(tuple(ends), (y[name], y[name])) for name, *ends in x_bars.itertuples()]
    lines += [plot.box((x[name], x[name]), tuple(ends)) for name, *ends in y_bars.itertuples()]
    figure.draw_scatter(
        x=x,
        y=y,
        mode="markers",
        marker=tied_dot(palette) | {"line": {"color": palette.ground, "width": 1}},
        customdata=named_rows(covered.index, y_ends.join([x_ends, covered["recall"]]).to_numpy()),
        hovertemplate=f"<b>%{{customdata[0]}}</b><br>DR@{k} %{{y:.4f}}, worst to best %{{customdata[1]:.4f}} – "
        f"%{{customdata[2]:.4f}}<br>Div@{k} %{{x:.4f}}, worst to best %{{customdata[3]:.4f}} – "
        f"%{{customdata[4]:.4f}}<br>Recall@{k} %{{customdata[5]:.4f}}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    style(figure, palette, TALL + 118, t=46, r=8, l=49, b=BELOW - 4)
    set_yaxes(figure, title_text=f"DR@{k}", nticks=6, range=[bottom, top])
    title = f"Div@{k}, distinct targets per query"
    set_xaxes(figure, title_text=title, nticks=5, range=[left, right])
    spots, is_bold = np.column_stack([x, y, y]), np.zeros(len(covered), bool)
    return add_names(figure, list(covered.index), is_bold, spots, plot, lines, palette)


def recall_dumbbell(covered: pd.DataFrame, palette: Palette, k: int) -> Figure:
    """Draw the way from Recall@k, a ring, to DR@k, a dot, a row a reranker with its loss beside it.

    Args:
        covered: index reranker; recall, distinct, lost, repeated; in the order drawn.
        palette: colours of the theme.
        k: cut-off.
    """
    rows = pd.Series(np.arange(len(covered)), covered.index)
    figure = Figure()
    add_segments(figure, covered[["recall", "distinct"]], rows, palette.faint, 6)
    ring = {"size": 10, "color": palette.ground, "line": {"color": palette.muted, "width": 2}}
    for column, marker in (("recall", ring), ("distinct", tied_dot(palette))):
        figure.draw_scatter(
            x=covered[column],
            y=rows,
            mode="markers",
            marker=marker,
            customdata=named_rows(covered.index, covered[["recall", "distinct", "repeated"]].to_numpy()),
            hovertemplate=f"<b>%{{customdata[0]}}</b><br>Recall@{k} %{{customdata[1]:.4f}}<br>"
            f"DR@{k} %{{customdata[2]:.4f}}<br>%{{customdata[3]:.1%}} of what it finds repeats a target"
            "<extra></extra>",
            cliponaxis=False,
        )
    beside = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 8, "yref": "y"}
    figure.write_notes(
        note_of(signed(-lost), palette, **beside, y=row) for row, lost in enumerate(covered["lost"])
    )
    style(figure, palette, 60 + ROW * len(covered), r=60, t=8, b=BELOW_TICKS - 4)
    label_rows(figure, covered.index, palette)
    figure.set_layout(showlegend=False)
    ends = padded_range(covered[["recall", "distinct"]].to_numpy())
    return set_xaxes(figure, nticks=5, range=ends)
