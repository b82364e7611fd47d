"""One list: its ties as brackets, where each document can land, and where the first relevant one does."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style
from metrics.ties import place_chances

DRAWN = 60
"""Documents of a list that are drawn; more cannot be read."""
HEATED = 24
"""Documents whose chances are drawn."""
LABELLED = 16
"""Marks that have room for their figures."""


def tie_ladder(ladder: pd.DataFrame, palette: Palette, k: int | None) -> go.Figure:
    """The list from the top, a box a document, a bracket behind boxes that share a score.

    Args:
        ladder: place, doc_id, score, grade, relevant, group, first, last; top first.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    shown = ladder.head(DRAWN)
    figure = go.Figure()
    groups = shown[shown["last"] > shown["first"]].drop_duplicates("group")
    end = len(shown) + 0.5
    for group in groups.itertuples():
        right = min(group.last + 0.46, end)
        figure.add_shape(
            type="rect",
            x0=group.first - 0.46,
            x1=right,
            y0=-0.1,
            y1=1.1,
            layer="below",
            fillcolor=palette.bounds,
            line={"width": 0},
        )
        if right - group.first > len(shown) / 24:
            middle = (group.first + right - 0.46) / 2
            text = f"score {group.score:.4g}" if right - group.first > len(shown) / 9 else f"{group.score:.4g}"
            note(figure, text, palette, x=middle, y=-0.14, yanchor="top", yref="y")
    relevant = shown["relevant"].to_numpy()
    hover = [
        f"<b>{safe(str(row.doc_id))}</b><br>score {row.score:.6g}<br>grade {row.grade:g}<br>"
        + (f"places {row.first} to {row.last}" if row.last > row.first else f"place {row.place}")
        for row in shown.itertuples()
    ]
    figure.add_bar(
        x=shown["place"],
        y=np.full(len(shown), 0.8),
        base=0.1,
        width=0.72,
        marker={
            "color": np.where(relevant, palette.tied, palette.ground),
            "line": {"color": np.where(relevant, palette.tied, palette.other), "width": 1.2},
        },
        text=[f"{grade:g}" if hit else "" for grade, hit in zip(shown["grade"], relevant, strict=True)],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": palette.ground, "size": 12},
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    if k is not None and k < len(shown):
        figure.add_shape(
            type="line",
            x0=k + 0.5,
            x1=k + 0.5,
            y0=-0.12,
            y1=1.28,
            line={"color": palette.text, "width": 1.4, "dash": "dot"},
        )
        note(figure, f"k = {k}", palette, x=k + 0.5, y=1.3, yanchor="bottom", yref="y")
    style(figure, palette, 176, t=24, b=24)
    figure.update_yaxes(visible=False, range=[-0.45, 1.5])
    return figure.update_xaxes(
        range=[0.4, max(end, 10.5)],
        showgrid=False,
        title_text="place by score",
        tickformat="d",
        nticks=12,
    )


def landing(ladder: pd.DataFrame, palette: Palette, k: int | None) -> go.Figure:
    """Chance of each document at each rank: even over the places its tie group covers.

    Args:
        ladder: as for `tie_ladder`.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    shown = ladder.head(HEATED)
    n = len(shown)
    ranks = np.arange(1, n + 1)
    chance = place_chances(shown["first"], shown["last"], n)
    names = [
        f"{safe(str(row.doc_id), 18)} · <b>{row.grade:g}</b>" if row.relevant else safe(str(row.doc_id), 18)
        for row in shown.itertuples()
    ]
    figure = go.Figure(
        go.Heatmap(
            z=np.where(chance > 0, chance, np.nan),
            x=ranks,
            y=ranks,
            customdata=np.broadcast_to(np.array(names, dtype=object)[:, None], chance.shape),
            colorscale=[[at / (len(palette.heat) - 1), colour] for at, colour in enumerate(palette.heat)],
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=2,
            ygap=2,
            text=np.where(chance > 0, np.char.mod("%.0f%%", 100 * chance), "") if n <= LABELLED else None,
            texttemplate="%{text}" if n <= LABELLED else None,
            hovertemplate="%{customdata}<br>rank %{x}: %{z:.4f}<extra></extra>",
            hoverongaps=False,
        )
    )
    if k is not None and k < n:
        line = {"color": palette.text, "width": 1.4, "dash": "dot"}
        figure.add_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=0.4, y1=n + 0.6, line=line)
        note(figure, f"k = {k}", palette, x=k + 0.5, y=0.35, yanchor="bottom", yref="y")
    style(figure, palette, 88 + 24 * n, t=20)
    figure.update_yaxes(tickvals=ranks, ticktext=names, range=[n + 0.5, 0.5], showgrid=False, automargin=True)
    return figure.update_xaxes(
        title_text="rank", showgrid=False, tickformat="d", nticks=13, range=[0.5, n + 0.5]
    )


def first_hit_bars(chances: pd.DataFrame, palette: Palette, listed: int | None) -> go.Figure:
    """Chance of each rank of the first relevant document; the traditional one as a diamond below.

    Args:
        chances: rank, chance.
        palette: colours of the theme.
        listed: rank the traditional order gives, None where nothing relevant is listed.
    """
    shown = chances.head(DRAWN)
    figure = go.Figure(
        go.Bar(
            x=shown["rank"],
            y=shown["chance"],
            marker={"color": palette.tied, "line": {"width": 0}},
            width=0.72,
            text=[f"{value:.0%}" for value in shown["chance"]] if len(shown) <= LABELLED else None,
            textposition="outside",
            textfont={"color": palette.muted},
            cliponaxis=False,
            hovertemplate="first relevant at rank %{x}: %{y:.4f}<extra></extra>",
            name="tied",
            showlegend=False,
        )
    )
    top = float(shown["chance"].max())
    if listed is not None:
        figure.add_scatter(
            x=[listed],
            y=[-0.09 * top],
            mode="markers",
            marker={
                "symbol": "diamond-open",
                "size": 14,
                "color": palette.traditional,
                "line": {"width": 2},
            },
            hovertemplate=f"traditional order: rank {listed}<extra></extra>",
            cliponaxis=False,
            showlegend=False,
        )
    style(figure, palette, 264, t=16)
    figure.update_yaxes(tickformat=".0%", range=[-0.16 * top, top * 1.15], nticks=5, title_text="chance")
    low, high = int(shown["rank"].min()), int(shown["rank"].max())
    return figure.update_xaxes(
        title_text="rank of the first relevant document",
        showgrid=False,
        tickformat="d",
        nticks=12,
        range=[max(low - 2.5, 0.3), max(high, low + 5) + 0.7],
    )
