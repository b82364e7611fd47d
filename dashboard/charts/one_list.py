"""Charts of one list: its ties, the possible ranks of its documents, and its scores over all orders."""

import re
import textwrap
from collections.abc import Hashable
from html import unescape
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import BELOW, Figure
from dashboard.charts.labels import chart_names, hover_text, safe
from dashboard.charts.marks import add_chance_key, add_cutoff, add_diamond, cells, tied_dot
from dashboard.charts.palette import Palette
from metrics.evaluation import EQUAL
from metrics.studies.one_list import rank_column
from metrics.support.arrays import FloatArray
from metrics.ties import place_chances

MAX_DOCUMENTS = 60
"""Maximum documents of a list that are drawn."""
_LOW, _HIGH = 0.5, 0.8
"""Heights of a non-relevant and of a relevant document."""
_MAX_TEXT, _MAX_LINE = 280, 64
"""Letters of a document's text in its hover box, and per line."""
_LETTERS, _FEWEST = 52, 10
"""Letters along a list on a phone, and the minimum ranks of an axis."""
_INSETS, _MAX_INSETS = (0.03, 0.05), 3
"""Inset of a bracket in the frame around it, along and across, and the maximum number of insets."""
_OUTLINE = 1.2
"""Pixels of a document's outline."""
_SECOND_LIST = 2.6
"""Height of the upper one of two lists."""


def tie_ladder(ladder: pd.DataFrame, palette: Palette, k: int | None) -> Figure:
    """Draw a list from the top: a box per document, hatched if unjudged, a bracket behind each tie.

    `ladder` has place, doc_id, score or front, grade, judged, relevant, group, first and last, and optionally
    text and the levels of further scores; see `metrics.studies.one_list.ladder`. Dotted frames surround
    documents that only further scores separate.
    """
    figure = Figure(palette).style(176, t=24, b=BELOW - 4)
    _add_list(figure, ladder, 0)
    end = _set_places(figure, ladder, len(ladder), k, 1.3)
    if len(ladder) > MAX_DOCUMENTS:
        n_hidden = f"{len(ladder) - MAX_DOCUMENTS:,} more ⟶"
        figure.write(n_hidden, x=end, y=1.3, xanchor="right", yanchor="bottom", yref="y")
    return figure.set_yaxes(visible=False, range=[-0.45, 1.5])


def ladder_pair(
    upper: pd.DataFrame, lower: pd.DataFrame, names: tuple[str, str], palette: Palette, k: int | None
) -> Figure:
    """Draw two lists of one query above each other, connecting shared relevant documents.

    `upper` and `lower` are ladders as for `tie_ladder`.
    """
    figure = Figure(palette).style(300, t=24, b=24)
    _join(figure, upper[upper["relevant"]], lower)
    _add_list(figure, upper, _SECOND_LIST)
    _add_list(figure, lower, 0)
    _set_places(figure, upper, max(len(upper), len(lower)), k, _SECOND_LIST + 1.52)
    return figure.set_yaxes(
        tickvals=[_SECOND_LIST + 0.5, 0.5],
        ticktext=[f"<b>{chart_names(names, 22)[name]}</b>" for name in names],
        tickfont={"color": palette.text},
        showgrid=False,
        range=[-0.45, _SECOND_LIST + 1.7],
    )


def _set_places(figure: Figure, ladder: pd.DataFrame, n_documents: int, k: int | None, top: float) -> float:
    """Set the axis of ranks, mark the cut-off up to `top`, and return the end of the list."""
    end = min(n_documents, MAX_DOCUMENTS) + 0.5
    if k is not None and k + 0.5 < end:
        add_cutoff(figure, k, (-0.12, top - 0.02), top)
    look = {"showgrid": False, "tickformat": "d", "nticks": 12, "range": [0.4, max(end, 10.5)]}
    figure.set_layout(barmode="overlay").set_xaxes(title_text=f"rank by {rank_column(ladder)}", **look)
    return end


def _join(figure: Figure, documents: pd.DataFrame, lower: pd.DataFrame) -> None:
    middle, line = (_SECOND_LIST + 1) / 2, {"color": figure.palette.tied, "width": 1.6}
    shared = documents.merge(lower[["doc_id", "place"]], on="doc_id", suffixes=("", "_below"))
    for start, end in shared[["place", "place_below"]].to_numpy():
        if max(start, end) <= MAX_DOCUMENTS:
            path = f"M {start},{_SECOND_LIST + 0.1} C {start},{middle} {end},{middle} {end},0.9"
            figure.draw_shape(type="path", path=path, line=line, layer="below")


def _add_list(figure: Figure, ladder: pd.DataFrame, base: float) -> None:
    """Add one list on its base line, and its brackets; the upper list has its scores above."""
    palette, ranked_by = figure.palette, rank_column(ladder)
    _add_brackets(figure, ladder, base)
    documents = ladder.head(MAX_DOCUMENTS)
    for is_judged, boxes in documents.groupby(documents["judged"].to_numpy(dtype=bool)):
        is_relevant = boxes["relevant"].to_numpy(dtype=bool)
        height = np.where(is_relevant, _HIGH, _LOW)
        marker: dict[str, Any] = {"color": np.where(is_relevant, palette.tied, palette.ground)}
        marker["line"] = {"color": np.where(is_relevant, palette.tied, palette.other), "width": _OUTLINE}
        if not is_judged:
            line = {"color": palette.muted, "width": _OUTLINE}
            # without a ground of its own, a hatching shows the bracket behind
            hatching = {"shape": "/", "fgcolor": palette.muted, "bgcolor": palette.ground}
            pattern = hatching | {"size": 5, "solidity": 0.25}
            marker = {"color": palette.ground, "line": line, "pattern": pattern}
        figure.draw_bars(
            x=boxes["place"],
            y=height,
            base=base + (1 - height) / 2,
            width=0.72,
            marker=marker,
            text=[f"{grade:g}" if hit else "" for grade, hit in boxes[["grade", "relevant"]].to_numpy()],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": palette.ground, "size": 12},
            hovertext=[_hover(document, ranked_by) for document in boxes.to_dict("records")],
            hovertemplate="%{hovertext}",
        )


def _add_brackets(figure: Figure, ladder: pd.DataFrame, base: float) -> None:
    """Add a bracket per tie, frames around ties that further scores split, and scores where they fit."""
    n = min(len(ladder), MAX_DOCUMENTS)
    levels, ranked_by = [*ladder.filter(regex=r"^level_\d+$"), "first"], rank_column(ladder)
    side = {"y": base + 1.14, "yanchor": "bottom"} if base else {"y": base - 0.14, "yanchor": "top"}
    frame = {"line": {"width": 1, "dash": "dot", "color": figure.palette.muted}}
    bracket = {"fillcolor": figure.palette.bounds, "line": {"width": 0}}
    for depth, level in enumerate(levels):
        along, across = (min(depth, _MAX_INSETS) * inset for inset in _INSETS)
        ties = ladder.groupby(level, as_index=False).agg(last=("place", "max"), key=(ranked_by, "first"))
        for first, last, key in ties[(ties["last"] > ties[level]) & (ties[level] <= n)].to_numpy():
            left, right = first - 0.46 + along, min(last + 0.46 - along, n + 0.5)
            ends = {"x0": left, "x1": right, "y0": base - 0.1 + across, "y1": base + 1.1 - across}
            figure.draw_shape(type="rect", layer="below", **ends, **(bracket if level == "first" else frame))
            room, number = _LETTERS * (right - left) / max(n, _FEWEST), f"{key + 0.0:.4g}".replace("-", "−")
            texts = [text for text in (f"{ranked_by} {number}", number) if len(text) < room]
            if texts and not depth:
                figure.write(texts[0], x=(left + right) / 2, yref="y", **side)


def _hover(document: dict[Hashable, Any], ranked_by: str) -> str:
    first, last = document["first"], document["last"]
    places = f"ranks {first:,} to {last:,}" if last > first else f"rank {document['place']}"
    head = f"<b>{hover_text(str(document['doc_id']))}</b><br>{ranked_by} {document[ranked_by]:.6g}"
    head += "".join(f", then {value:.6g}" for key, value in document.items() if str(key).startswith("further_"))
    judgment = f"grade {document['grade']:g}" if document["judged"] else "not judged"
    head += f"<br>{judgment}<br>{places}"
    text = textwrap.shorten(str(document.get("text", "")), _MAX_TEXT, placeholder=" …")
    lines = "<br>".join(safe(line, _MAX_LINE) for line in textwrap.wrap(text, _MAX_LINE))
    return f"{head}<br><br>{lines}" if lines else head


MAX_LABELS = 16
"""Maximum marks with figures."""
_DRAWN_CHANCE = 0.999
"""Probability covered by the ranks that are drawn, if they are many."""


def first_hit_bars(chances: pd.DataFrame, palette: Palette, traditional: int | None) -> Figure:
    """Draw the probability of each rank of the first relevant document, and the traditional rank.

    `chances` has rank and chance. Many ranks share bars.
    """
    n_likely = int(np.searchsorted(chances["chance"].cumsum(), _DRAWN_CHANCE)) + 1
    likely = chances.head(max(MAX_DOCUMENTS, n_likely))
    width = -(-len(likely) // MAX_DOCUMENTS)
    bars = likely.groupby(np.arange(len(likely)) // width).agg(
        first=("rank", "min"), last=("rank", "max"), chance=("chance", "sum")
    )
    figure = Figure(palette).style(264, t=16, l=54).set_layout(showlegend=False)
    figure.draw_bars(
        x=(bars["first"] + bars["last"]) / 2,
        y=bars["chance"],
        marker={"color": palette.tied},
        width=0.72 if width == 1 else 0.9 * width,
        text=[f"{chance:.0%}" for chance in bars["chance"]] if len(bars) <= MAX_LABELS else None,
        customdata=[
            f"rank {bar.first:,}" if bar.first == bar.last else f"ranks {bar.first:,} to {bar.last:,}"
            for bar in bars.itertuples()
        ],
        hovertemplate="first relevant document at %{customdata}<br>chance %{y:.4f}",
    )
    top = float(bars["chance"].max())
    if traditional is not None:
        add_diamond(figure, traditional, -0.09 * top, f"traditional order: rank {traditional:,}")
    figure.set_yaxes(tickformat="~p", range=[-0.16 * top, top * 1.15], nticks=5, title_text="chance")
    if len(likely) < len(chances):
        text = f"remaining {1 - _DRAWN_CHANCE:.1%}: up to rank {chances['rank'].iloc[-1]:,}"
        figure.write(text, x=1, xref="paper", xanchor="right", y=1, yref="paper", yanchor="top")
    low, high = int(bars["first"].min()), int(bars["last"].max())
    return figure.set_xaxes(
        title_text="rank of the first relevant document",
        showgrid=False,
        tickformat="d" if high < 10_000 else "~s",  # noqa: PLR2004 five digits crowd the axis
        nticks=12,
        range=[max(low - 2.5, 0.3), max(high, low + 5) + 0.7],
    )


HEATMAP_ROWS = 24
"""Maximum documents in a heatmap."""
_DEEP = 0.45
"""Probability from which a cell needs light text."""
_ROOM, _LETTER, _AIR = 430, 6.5, 4
"""Pixels of all cells of a row, of a letter, and around a figure."""

_AXIS, _KEY = 56, 28
"""Pixels of the axis below the cells, and of the key below the axis."""


def rank_heatmap(ladder: pd.DataFrame, palette: Palette, k: int | None) -> Figure:
    """Draw the probability of each rank per document: uniform over the ranks of its tie group."""
    documents = ladder.head(HEATMAP_ROWS)
    n = len(documents)
    chance = place_chances(documents["first"], documents["last"], n)
    labels = chart_names(documents["doc_id"].astype(str), 18)
    names = [
        labels[str(document.doc_id)] + (f" · <b>{document.grade:g}</b>" if document.relevant else "")
        for document in documents.itertuples()
    ]
    height = 88 + _KEY + n * min(max(600 // n, 24), 40)
    spans = [f"rank {rank}" for rank in range(1, n + 1)]
    figure = _chance_cells(chance, names, spans, palette, height)
    if k is not None and k < n:
        add_cutoff(figure, k, (0.4, n + 0.6), 0.35)
    ticks = {"nticks": 13} if n > MAX_LABELS else {"dtick": 1}
    return figure.set_xaxes(title_text="rank", showgrid=False, tickformat="d", range=[0.5, n + 0.5], **ticks)


def tie_group_heatmap(groups: pd.DataFrame, palette: Palette) -> Figure:
    """Draw the probability of ranges of ranks per tie group: `rank_heatmap` for large ties."""
    groups = groups.head(HEATMAP_ROWS)
    n_places = int(groups["last"].iloc[-1])
    ends = np.unique(np.linspace(0, n_places, max(MAX_LABELS, len(groups)) + 1).round())
    low, high = groups[["first"]].to_numpy() - 1, groups[["last"]].to_numpy()
    inside = np.clip(np.minimum(high, ends[1:]) - np.maximum(low, ends[:-1]), 0, None)
    names = [f"{group.documents:,} tied · <b>{group.relevant:,}</b>" for group in groups.itertuples()]
    spans = [f"ranks {first + 1:,.0f} to {last:,.0f}" for first, last in pairwise(ends)]
    figure = _chance_cells(inside / (high - low), names, spans, palette, 96 + _KEY + 24 * len(groups))
    places = np.arange(2, len(ends), 2)
    labels = [f"{end:,.0f}" for end in ends[2::2]]
    look = {"showgrid": False, "tickvals": places, "ticktext": labels, "range": [0.5, len(ends) - 0.5]}
    return figure.set_xaxes(title_text="ranks up to", **look)


def _chance_cells(
    chance: FloatArray, rows: list[str], columns: list[str], palette: Palette, height: int
) -> Figure:
    """Draw cells by probability, with figures where they fit, and a key of the shades."""
    longest_name = max(len(unescape(re.sub("<[^>]*>", "", name))) for name in rows)
    margins = {"t": 20, "b": _AXIS + _KEY, "l": round(_LETTER * longest_name) + 2 * _AIR}
    figure, (n, n_columns) = Figure(palette).style(height, **margins), chance.shape
    x, y = np.arange(1, n_columns + 1), np.arange(1, n + 1)
    steps = np.maximum(np.linspace(0, 1, len(palette.heat) - 1), 1e-9)
    figure.draw(
        cells(
            chance,
            [[0, palette.heat[0]], *zip(steps, palette.heat[1:], strict=True)],
            x=x,
            y=y,
            customdata=np.array([[f"{row}<br>{column}" for column in columns] for row in rows], dtype=object),
            zmin=0,
            zmax=1,
            hovertemplate="%{customdata}: %{z:.4~f}",
        )
    )
    row, column = np.nonzero(chance)
    figures = [f"{value:.0%}" for value in chance[row, column]]
    longest = max(map(len, figures), default=0)
    if n_columns <= min(MAX_LABELS, _ROOM / (_LETTER * longest + _AIR)):
        colour = np.where(chance[row, column] < _DEEP, palette.text, palette.ground)
        figure.draw_words(x[column], y[row], figures, size=11, color=colour)
    add_chance_key(figure, palette.heat[2:], -_AXIS)
    look = {"showgrid": False, "ticklabelstandoff": _AIR}
    return figure.set_yaxes(tickvals=y, ticktext=rows, range=[n + 0.5, 0.5], **look)


MAX_STEPS = 400
"""Maximum tie groups that are drawn separately."""


def relevance_steps(groups: pd.DataFrame, palette: Palette, k: int | None) -> Figure:
    """Draw the probability of relevance by rank, one step per tie group of `tie_groups`.

    Neighbours of more than `MAX_STEPS` groups are merged.
    """
    ranked_by, step = rank_column(groups), np.arange(len(groups)) * MAX_STEPS // len(groups)
    steps = groups.groupby(step).agg(
        {"first": "first", "last": "last", "documents": "sum", "relevant": "sum", ranked_by: "last"}
    )
    share = steps["relevant"] / steps["documents"]
    figure = Figure(palette).style(190, t=8).set_layout(barmode="overlay", showlegend=False)
    figure.draw_bars(
        x=(steps["first"] + steps["last"]) / 2,
        y=share,
        width=steps["documents"],
        marker={"color": palette.tied, "line": {"width": 0.5, "color": palette.ground}},
        customdata=steps[["first", "last", "relevant", "documents", ranked_by]],
        hovertemplate=(
            "ranks %{customdata[0]:,} to %{customdata[1]:,}<br>%{customdata[2]:,} of %{customdata[3]:,} "
            "relevant<br>chance of relevance at each rank %{y:.4f}<br>"
            f"{ranked_by} at the last rank %{{customdata[4]:.6g}}"
        ),
    )
    top = max(float(share.max()), 1e-9)
    if len(groups) <= MAX_STEPS:
        ties = groups[groups["documents"] > 1]
        look = {"color": palette.bounds, "line": {"width": 1, "color": palette.ground}}
        place = {"x": (ties["first"] + ties["last"]) / 2, "width": ties["documents"]}
        figure.draw_bars(**place, y=np.full(len(ties), -0.1 * top), base=-0.04 * top, marker=look)
    length = int(groups["last"].max())
    ceiling = 1.05
    if k is not None and k < length:
        ceiling = 1.3
        add_cutoff(figure, k, (-0.13 * top, 1.2 * top), 1.12 * top, xanchor="left")
    ends = [-0.15 * top, ceiling * top]
    figure.set_yaxes(title_text="relevant", tickformat="~p", nticks=4, range=ends)
    axis = {"showgrid": False, "tickformat": "~s", "nticks": 10}
    return figure.set_xaxes(title_text=f"rank by {ranked_by}", range=[0, length + 1], **axis)


STEPS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25)
"""Steps of an axis of shares."""
BINS = 24
"""Bars of a histogram."""
_SAME_VALUE = 5e-5
"""Difference below which two values print alike."""


def value_histogram(values: pd.DataFrame, marks: pd.Series, palette: Palette, measure: str) -> Figure:
    """Draw the distribution of a measure over all orders, with tied and traditional score."""
    low = min(float(values["value"].min()), marks["worst"])
    high = max(float(values["value"].max()), marks["best"])
    span = high - low if high - low > EQUAL else 0.0
    bars = _bars(values, low, span)
    top = float(bars["chance"].max())
    figure = Figure(palette).style(320, t=28, l=54).set_layout(bargap=0, showlegend=False)
    figure.draw_bars(
        x=bars["middle"],
        y=bars["chance"],
        width=bars["width"],
        marker={"color": palette.heat[2]},
        customdata=[
            f"{bar.first:.4f}" if bar.last - bar.first < _SAME_VALUE else f"{bar.first:.4f} to {bar.last:.4f}"
            for bar in bars.itertuples()
        ],
        hovertemplate=f"{measure} %{{customdata}}<br>%{{y:.2%}} of tie orders",
    )
    strip, line = -0.11 * top, {"color": palette.bounds, "width": 10}
    ends, hover = [marks["worst"], marks["best"]], "worst to best: %{x:.4f}"
    figure.draw_line(x=ends, y=[strip, strip], line=line, hovertemplate=hover)
    add_diamond(figure, marks["traditional"], strip, f"traditional {marks['traditional']:.4f}")
    dot = tied_dot(palette, 8)
    figure.draw_marks(x=[marks["tied"]], y=[strip], marker=dot, hovertemplate="tied %{x:.4f}")
    colours = {"tied": palette.tied, "traditional": palette.traditional}
    for name, colour in colours.items():
        line = {"color": colour, "width": 2, "dash": "solid"}
        figure.draw_upright(float(marks[name]), line=line, y0=strip, y1=1.12 * top)
    figure.write_key((name, colour, f"{marks[name]:.3f}") for name, colour in colours.items())
    if span:
        for name, side in (("worst", "left"), ("best", "right")):
            place = {"x": marks[name], "y": -0.25 * top, "xanchor": side, "yanchor": "middle", "yref": "y"}
            figure.write(f"{name} {marks[name]:.3f}", **place)
    step = next((step for step in STEPS if step * 4 >= top), STEPS[-1])
    ticks, ends = np.arange(0, top + step / 2, step), [-0.33 * top, 1.14 * top]
    figure.set_yaxes(title_text="share of tie orders", tickformat="~p", tickvals=ticks, range=ends)
    room = max(0.12 * span, 0.05 * max(abs(high), 0.1))
    ends = [low - room, high + room]
    return figure.set_xaxes(title_text=measure, showgrid=False, nticks=7, range=ends)


def _bars(values: pd.DataFrame, low: float, span: float) -> pd.DataFrame:
    """Return first, last, middle, width and chance of bars: one per value if few, else equal bins."""
    value = values["value"].to_numpy()
    if not span:
        bar = {"first": low, "last": low, "middle": low, "width": 0.02 * max(abs(low), 0.1)}
        return pd.DataFrame([bar | {"chance": values["chance"].sum()}])
    nearest = float(np.diff(value).min()) if len(value) > 1 else span
    if len(value) <= BINS and nearest >= span / (3 * BINS):
        width = min(0.9 * nearest, span / 14)
        return values.assign(first=value, last=value, middle=value, width=width)
    index = np.minimum(((value - low) / span * BINS).astype(int), BINS - 1)
    bars = values.groupby(index).agg(first=("value", "min"), last=("value", "max"), chance=("chance", "sum"))
    middle = low + (bars.index.to_numpy() + 0.5) * span / BINS
    return bars.assign(middle=middle, width=0.94 * span / BINS)
