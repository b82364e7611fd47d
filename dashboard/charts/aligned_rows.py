"""Rerankers in aligned rows: score, ties and the distribution of gaps."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.gap_ridges import add_ridges
from dashboard.charts.marks import VALUES, add_bounds_rows, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import padded_range, set_xaxes, signed_ticks, style
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import percent

_ROW, _LOW_ROW = 48, 44
"""Height of a reranker's row in pixels, with and without its scores."""
_MIN_REACH = 0.05
"""Gap that an axis reaches at least."""
_BINS = 61
"""Bins of a distribution of gaps."""


def aligned_rows(
    summary: pd.DataFrame, lists: pd.DataFrame, palette: Palette, measure: str, *, is_signed: bool = False
) -> Figure:
    """Draw scores, mean tie ratio and the distribution of gaps, a row a reranker.

    Args:
        summary: index reranker; first_traditional, first_tied, first_worst, first_best, tie_ratio,
            first_gap, first_gap_mean, first_lists_with_gap.
        lists: reranker, first_gap of each list.
        palette: colours of the theme.
        measure: what the scores and the gaps are of.
        is_signed: whether gaps keep their sign, instead of their absolute values.
    """
    rerankers = summary.rename(columns=lambda name: name.removeprefix("first_"))
    if not is_signed:
        rerankers["gap"] = rerankers["gap_mean"]
        lists = lists.assign(first_gap=lists["first_gap"].abs())
    figure = Figure.of_panels(1, 3, column_widths=(0.44, 0.2, 0.36), horizontal_spacing=0.05, shared_yaxes=True)
    add_bounds_rows(figure, rerankers, palette, row=1, col=1)
    set_xaxes(figure, title_text=measure, nticks=7, range=padded_range(rerankers[VALUES].to_numpy()), col=1)
    reach = max(float(lists["first_gap"].abs().max()), _MIN_REACH)
    edges = np.linspace(-reach if is_signed else 0, reach, _BINS + 1)
    with_gap = lists[lists["first_gap"] != 0]
    counts = [
        np.histogram(with_gap.loc[with_gap["reranker"] == name, "first_gap"], bins=edges)[0]
        for name in rerankers.index
    ]
    return _add_ties_and_gaps(figure, rerankers, edges, counts, palette, measure, _ROW, 3)


def gap_rows(
    rerankers: pd.DataFrame, edges: FloatArray, counts: Sequence[IntArray], palette: Palette, measure: str
) -> Figure:
    """Draw the mean tie ratio and the distribution of gaps, a row a reranker.

    Args:
        rerankers: index reranker; tie_ratio, gap, lists_with_gap.
        edges: (n + 1,) of the gaps, as far below zero as above.
        counts: for each reranker, (n,) lists with a gap between them.
        palette: colours of the theme.
        measure: what the gap is of.
    """
    figure = Figure.of_panels(1, 2, column_widths=(0.36, 0.64), horizontal_spacing=0.05, shared_yaxes=True)
    return _add_ties_and_gaps(figure, rerankers, edges, counts, palette, measure, _LOW_ROW, 2)


def _add_ties_and_gaps(
    figure: Figure,
    rerankers: pd.DataFrame,
    edges: FloatArray,
    counts: Sequence[IntArray],
    palette: Palette,
    measure: str,
    row_height: int,
    col: int,
) -> Figure:
    """Fill the panels col - 1 and col, and name the rows."""
    _add_tie_bars(figure, rerankers, palette, col - 1)
    add_ridges(figure, rerankers, edges, counts, palette, col)
    style(figure, palette, 110 + row_height * len(rerankers), r=128, t=52)
    label_rows(figure, rerankers.index, palette)
    end = max(float(edges[-1]), _MIN_REACH) * 1.04
    if edges[0] == 0:
        title = f"|{measure} gap| of single lists"
        return set_xaxes(figure, title_text=title, range=[-0.02 * end, end], nticks=6, col=col)
    title = f"{measure} gap of single lists"
    return set_xaxes(figure, title_text=title, range=[-end, end], col=col, **signed_ticks(-end, end, 6))


def _add_tie_bars(figure: Figure, rerankers: pd.DataFrame, palette: Palette, col: int) -> None:
    """Add the mean tie ratio of each reranker."""
    figure.draw_bars(
        x=rerankers["tie_ratio"],
        y=np.arange(len(rerankers)),
        orientation="h",
        width=0.42,
        marker={"color": palette.other},
        text=[percent(ratio) for ratio in rerankers["tie_ratio"]],
        textposition="outside",
        textfont={"color": palette.muted},
        cliponaxis=False,
        showlegend=False,
        hovertemplate="%{x:.4f} of the documents are tied<extra></extra>",
        row=1,
        col=col,
    )
    end = max(0.05, rerankers["tie_ratio"].max()) * 1.25
    set_xaxes(figure, title_text="mean tie ratio", tickformat="~p", nticks=4, range=[0, end], col=col)
