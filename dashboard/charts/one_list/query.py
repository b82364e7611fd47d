"""Where the documents of one list can land, and where its first relevant one does."""

from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.one_list.ladder import MAX_DOCUMENTS
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import place_chances

HEATMAP_ROWS = 24
"""Documents whose chances are drawn."""
MAX_LABELS = 16
"""Marks that have room for their figures."""
DEEP = 0.45
"""Chance from which on a cell is as deep in colour as the ground is not."""
ALL = 0.999
"""Chance of the ranks that are drawn, where they are many."""


def rank_heatmap(ladder: pd.DataFrame, palette: Palette, k: int | None) -> go.Figure:
    """Chance of each document at each rank: even over the places its tie group covers.

    Args:
        ladder: as for `tie_ladder`.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    shown = ladder.head(HEATMAP_ROWS)
    n = len(shown)
    ranks = np.arange(1, n + 1)
    chance = place_chances(shown["first"], shown["last"], n)
    names = [
        f"{safe(str(row.doc_id), 18)} · <b>{row.grade:g}</b>" if row.relevant else safe(str(row.doc_id), 18)
        for row in shown.itertuples()
    ]
    said = [[f"{name}<br>rank {rank}" for rank in ranks] for name in names]
    figure = _cells(chance, ranks, said, palette, labelled=n <= MAX_LABELS)
    if k is not None and k < n:
        line = {"color": palette.text, "width": 1.4, "dash": "dot"}
        figure.add_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=0.4, y1=n + 0.6, line=line)
        note(figure, f"k = {k}", palette, x=k + 0.5, y=0.35, yanchor="bottom", yref="y")
    style(figure, palette, 88 + n * min(max(600 // n, 24), 40), t=20)
    figure.update_yaxes(tickvals=ranks, ticktext=names, range=[n + 0.5, 0.5], showgrid=False, automargin=True)
    return figure.update_xaxes(
        title_text="rank", showgrid=False, tickformat="d", nticks=13, range=[0.5, n + 0.5]
    )


def tie_group_heatmap(groups: pd.DataFrame, palette: Palette) -> go.Figure:
    """Chance of a document of each tie to stand in each stretch of places: `landing` for large ties.

    Args:
        groups: first, last, documents, relevant; as `tie_groups` returns them.
        palette: colours of the theme.
    """
    shown = groups.head(HEATMAP_ROWS)
    places = int(shown["last"].iloc[-1])
    ends = np.unique(np.linspace(0, places, max(MAX_LABELS, len(shown)) + 1).round())
    low, high = shown[["first"]].to_numpy() - 1, shown[["last"]].to_numpy()
    inside = np.clip(np.minimum(high, ends[1:]) - np.maximum(low, ends[:-1]), 0, None)
    names = [f"{row.documents:,} tied · <b>{row.relevant:,}</b>" for row in shown.itertuples()]
    said = [[f"{name}<br>places {at + 1:,.0f} to {to:,.0f}" for at, to in pairwise(ends)] for name in names]
    x = np.arange(1, len(ends))
    figure = _cells(inside / (high - low), x, said, palette, labelled=len(x) <= MAX_LABELS)
    n = len(shown)
    style(figure, palette, 96 + 24 * n, t=20)
    rows = np.arange(1, n + 1)
    figure.update_yaxes(tickvals=rows, ticktext=names, range=[n + 0.5, 0.5], showgrid=False, automargin=True)
    words = [f"{end:,.0f}" for end in ends[1:]]
    return figure.update_xaxes(
        title_text="places up to",
        showgrid=False,
        tickvals=x[1::2],
        ticktext=words[1::2],
        range=[0.5, len(ends) - 0.5],
    )


def _cells(
    chance: FloatArray, x: IntArray, said: list[list[str]], palette: Palette, *, labelled: bool
) -> go.Figure:
    """Cells by chance: those that cannot be are palest, the others deeper the likelier."""
    steps = np.linspace(0, 1, len(palette.heat) - 1)
    scale = [[0, palette.heat[0]], *zip(np.maximum(steps, 1e-9), palette.heat[1:], strict=True)]
    figure = go.Figure(
        go.Heatmap(
            z=chance,
            x=x,
            y=np.arange(1, len(chance) + 1),
            customdata=np.array(said, dtype=object),
            colorscale=scale,
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{customdata}: %{z:.4~f}<extra></extra>",
        )
    )
    if labelled:
        row, column = np.nonzero(chance)
        value = chance[row, column]
        figure.add_scatter(
            x=x[column],
            y=row + 1,
            mode="text",
            text=[f"{one:.0%}" for one in value],
            textfont={"size": 11, "color": np.where(value < DEEP, palette.text, palette.ground)},
            hoverinfo="skip",
            showlegend=False,
        )
    return figure


def first_hit_bars(chances: pd.DataFrame, palette: Palette, listed: int | None) -> go.Figure:
    """Chance of each rank of the first relevant document; the traditional one as a diamond below.

    Args:
        chances: rank, chance; many ranks are drawn a stretch a bar, without their last thousandth.
        palette: colours of the theme.
        listed: rank the traditional order gives, None where nothing relevant is listed.
    """
    reach = len(chances)
    if reach > MAX_DOCUMENTS:
        reach = max(MAX_DOCUMENTS, int(np.searchsorted(chances["chance"].cumsum(), ALL)) + 1)
    wide = -(-min(reach, len(chances)) // MAX_DOCUMENTS)
    likely = chances.head(reach)
    shown = likely.groupby(np.arange(len(likely)) // wide).agg(
        first=("rank", "min"), last=("rank", "max"), chance=("chance", "sum")
    )
    where = [
        f"rank {row.first:,}" if row.first == row.last else f"ranks {row.first:,} to {row.last:,}"
        for row in shown.itertuples()
    ]
    figure = go.Figure(
        go.Bar(
            x=(shown["first"] + shown["last"]) / 2,
            y=shown["chance"],
            marker={"color": palette.tied, "line": {"width": 0}},
            width=0.72 * wide if wide == 1 else 0.9 * wide,
            text=[f"{value:.0%}" for value in shown["chance"]] if len(shown) <= MAX_LABELS else None,
            textposition="outside",
            textfont={"color": palette.muted},
            cliponaxis=False,
            customdata=where,
            hovertemplate="first relevant at %{customdata}: %{y:.4f}<extra></extra>",
            showlegend=False,
        )
    )
    top = float(shown["chance"].max())
    if listed is not None:
        said = f"traditional order: rank {listed:,}"
        diamond(figure, palette, listed, -0.09 * top, said)
    style(figure, palette, 264, t=16)
    figure.update_yaxes(tickformat=".0%", range=[-0.16 * top, top * 1.15], nticks=5, title_text="chance")
    low, high = int(shown["first"].min()), int(shown["last"].max())
    if reach < len(chances):
        words = f"the last {1 - ALL:.1%}: up to rank {chances['rank'].iloc[-1]:,}"
        note(figure, words, palette, x=1, xref="paper", xanchor="right", y=1, yref="paper", yanchor="top")
    return figure.update_xaxes(
        title_text="rank of the first relevant document",
        showgrid=False,
        tickformat="d" if high < 10_000 else "~s",  # noqa: PLR2004 five digits crowd the axis
        nticks=12,
        range=[max(low - 2.5, 0.3), max(high, low + 5) + 0.7],
    )


def diamond(figure: go.Figure, palette: Palette, x: float, y: float, said: str) -> None:
    """The traditional value: hollow and orange."""
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker={"symbol": "diamond-open", "size": 15, "color": palette.traditional, "line": {"width": 2}},
        hovertemplate=f"{said}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
