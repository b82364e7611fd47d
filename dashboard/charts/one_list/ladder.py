"""Lists by score: a box a document, a bracket a tie; one list, two side by side, or a long one as a whole."""

import textwrap
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style

MAX_DOCUMENTS = 60
"""Documents of a list that are drawn; more cannot be read."""
MAX_STEPS = 400
"""Tie groups of a whole list that are drawn one by one."""
_LOW, _TALL = 0.5, 0.8
"""Heights of a document that is not relevant and of one that is."""
_SHOWN_TEXT, _LINE = 280, 64
"""Letters of a document's text in its hover, and in one line of it."""


def tie_ladder(ladder: pd.DataFrame, palette: Palette, k: int | None) -> go.Figure:
    """The list from the top, a box a document, a bracket behind boxes that share a score.

    Args:
        ladder: place, doc_id, score, grade, relevant, group, first, last; top first; perhaps text.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    figure = go.Figure()
    end = min(len(ladder), MAX_DOCUMENTS) + 0.5
    _row(figure, ladder, palette, 0)
    _cut(figure, palette, k, end, -0.12, 1.28)
    if len(ladder) > MAX_DOCUMENTS:
        more = f"{len(ladder) - MAX_DOCUMENTS:,} more ⟶"
        note(figure, more, palette, x=end, y=1.3, xanchor="right", yanchor="bottom", yref="y")
    style(figure, palette, 176, t=24, b=24)
    figure.update_yaxes(visible=False, range=[-0.45, 1.5])
    return _places(figure, end)


def ladder_pair(
    upper: pd.DataFrame, lower: pd.DataFrame, names: tuple[str, str], palette: Palette, k: int | None
) -> go.Figure:
    """Two lists of one query, one above the other; lines follow the relevant documents in both.

    Args:
        upper: as for `tie_ladder`.
        lower: the same of another reranker.
        names: what the two are called.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    figure = go.Figure()
    gap = 2.6
    both = upper[upper["relevant"]].merge(lower[["doc_id", "place"]], on="doc_id", suffixes=("", "_below"))
    drawn = both[both[["place", "place_below"]].max(axis=1) <= MAX_DOCUMENTS]
    for at, to in zip(drawn["place"], drawn["place_below"], strict=True):
        middle = (gap + 1) / 2
        path = f"M {at},{gap + 0.1} C {at},{middle} {to},{middle} {to},0.9"
        figure.add_shape(type="path", path=path, line={"color": palette.tied, "width": 1.6}, layer="below")
    _row(figure, upper, palette, gap, scores_above=True)
    _row(figure, lower, palette, 0)
    longer = max(len(upper), len(lower))
    end = min(longer, MAX_DOCUMENTS) + 0.5
    _cut(figure, palette, k, end, -0.12, gap + 1.5)
    style(figure, palette, 300, t=24, b=24)
    labels = [f"<b>{safe(name, 22)}</b>" for name in names]
    figure.update_yaxes(
        tickvals=[gap + 0.5, 0.5],
        ticktext=labels,
        tickfont={"color": palette.text},
        showgrid=False,
        range=[-0.45, gap + 1.7],
    )
    return _places(figure, end)


def relevance_steps(groups: pd.DataFrame, palette: Palette, k: int | None) -> go.Figure:
    """A long list at one glance: chance that the document at a place is relevant, a step a tie group.

    Args:
        groups: first, last, documents, relevant, score; as `tie_groups` returns them.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
    """
    shown = _merged(groups) if len(groups) > MAX_STEPS else groups
    share = shown["relevant"] / shown["documents"]
    figure = go.Figure(
        go.Bar(
            x=(shown["first"] + shown["last"]) / 2,
            y=share,
            width=shown["documents"],
            marker={"color": palette.tied, "line": {"width": 0.5, "color": palette.ground}},
            customdata=np.column_stack([shown[["first", "last", "relevant", "documents", "score"]]]),
            hovertemplate=(
                "places %{customdata[0]:,} to %{customdata[1]:,}<br>%{customdata[2]:,} of %{customdata[3]:,} "
                "relevant<br>chance at each place %{y:.4f}<br>score from %{customdata[4]:.6g}<extra></extra>"
            ),
        )
    )
    top = max(float(share.max()), 1e-9)
    ties = groups[groups["documents"] > 1]
    if len(groups) <= MAX_STEPS:
        figure.add_bar(
            x=(ties["first"] + ties["last"]) / 2,
            y=np.full(len(ties), -0.1 * top),
            base=-0.04 * top,
            width=ties["documents"],
            marker={"color": palette.bounds, "line": {"width": 1, "color": palette.ground}},
            hoverinfo="skip",
        )
    length, ceiling = int(groups["last"].max()), 1.05 * top
    if k is not None and k < length:
        ceiling = 1.3 * top
        note(figure, f"k = {k}", palette, x=k + 0.5, y=1.12 * top, xanchor="left", yanchor="bottom", yref="y")
        line = {"color": palette.text, "width": 1.4, "dash": "dot"}
        figure.add_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=-0.13 * top, y1=1.2 * top, line=line)
    style(figure, palette, 190, t=8)
    figure.update_layout(barmode="overlay", showlegend=False)
    figure.update_yaxes(
        title_text="relevant",
        tickformat=".2~%",
        nticks=4,
        range=[-0.15 * top, ceiling],
    )
    return figure.update_xaxes(
        title_text="place by score", showgrid=False, tickformat="~s", nticks=10, range=[0, length + 1]
    )


def _merged(groups: pd.DataFrame) -> pd.DataFrame:
    """Neighbouring tie groups together, so that at most `STEPS` are left."""
    part = np.arange(len(groups)) * MAX_STEPS // len(groups)
    return groups.groupby(part).agg(
        {"first": "first", "last": "last", "documents": "sum", "relevant": "sum", "score": "last"}
    )


def _row(
    figure: go.Figure, ladder: pd.DataFrame, palette: Palette, base: float, *, scores_above: bool = False
) -> None:
    """One list on a base line of its own."""
    shown = ladder.head(MAX_DOCUMENTS)
    end = len(shown) + 0.5
    for group in shown[shown["last"] > shown["first"]].drop_duplicates("group").itertuples():
        right = min(group.last + 0.46, end)
        figure.add_shape(
            type="rect",
            x0=group.first - 0.46,
            x1=right,
            y0=base - 0.1,
            y1=base + 1.1,
            layer="below",
            fillcolor=palette.bounds,
            line={"width": 0},
        )
        if right - group.first > len(shown) / 24:
            text = f"score {group.score:.4g}" if right - group.first > len(shown) / 9 else f"{group.score:.4g}"
            side = (
                {"y": base + 1.14, "yanchor": "bottom"}
                if scores_above
                else {"y": base - 0.14, "yanchor": "top"}
            )
            note(figure, text, palette, x=(group.first + right - 0.46) / 2, yref="y", **side)
    relevant = shown["relevant"].to_numpy(dtype=bool)
    height = np.where(relevant, _TALL, _LOW)
    figure.add_bar(
        x=shown["place"],
        y=height,
        base=base + (1 - height) / 2,
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
        hovertext=[_hover(row) for row in shown.to_dict("records")],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )


def _hover(row: dict[Hashable, Any]) -> str:
    where = (
        f"places {row['first']:,} to {row['last']:,}" if row["last"] > row["first"] else f"place {row['place']}"
    )
    head = f"<b>{safe(str(row['doc_id']))}</b><br>score {row['score']:.6g}<br>grade {row['grade']:g}<br>{where}"
    text = textwrap.shorten(str(row.get("text", "")), _SHOWN_TEXT, placeholder=" …")
    lines = "<br>".join(safe(line, _LINE) for line in textwrap.wrap(text, _LINE))
    return f"{head}<br><br>{lines}" if lines else head


def _cut(figure: go.Figure, palette: Palette, k: int | None, end: float, low: float, high: float) -> None:
    if k is None or k + 0.5 >= end:
        return
    line = {"color": palette.text, "width": 1.4, "dash": "dot"}
    figure.add_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=low, y1=high, line=line)
    note(figure, f"k = {k}", palette, x=k + 0.5, y=high + 0.02, yanchor="bottom", yref="y")


def _places(figure: go.Figure, end: float) -> go.Figure:
    """The axis of places, wide enough that few documents are no walls."""
    figure.update_layout(barmode="overlay")
    return figure.update_xaxes(
        range=[0.4, max(end, 10.5)], showgrid=False, title_text="place by score", tickformat="d", nticks=12
    )
