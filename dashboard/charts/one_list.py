"""Charts of one list: its ties, the possible ranks of its documents, and its scores over all orders."""

import re
import textwrap
from collections.abc import Hashable
from html import unescape
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import BELOW, Figure
from dashboard.charts.labels import chart_names, hover_text, safe
from dashboard.charts.marks import add_chance_key, add_cutoff, cells
from dashboard.charts.palette import Palette
from metrics.studies.one_list import rank_column
from metrics.ties.permutations import place_chances

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
            constraintext="none",
            textfont={"color": palette.ground, "size": 11},
            hovertext=[document_hover(document, ranked_by) for document in boxes.to_dict("records")],
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
            text = score_text(ranked_by, key, _LETTERS * (right - left) / max(n, _FEWEST))
            if text and not depth:
                figure.write(text, x=(left + right) / 2, yref="y", **side)


def score_text(ranked_by: str, score: float, room: float) -> str:
    """Return the score of a tie with or without its name, empty if neither fits into `room` letters."""
    number = f"{score + 0.0:.4g}".replace("-", "−")
    return next((text for text in (f"{ranked_by} {number}", number) if len(text) < room), "")


def document_hover(document: dict[Hashable, Any], ranked_by: str) -> str:
    """Return the hover box of a document of a ladder: its ID, score, grade, possible ranks and text."""
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

HEATMAP_ROWS = 24
"""Maximum documents in a heatmap."""
_DEEP = 0.45
"""Share of the largest probability from which a cell needs light text."""
_ROOM, _LETTER, _AIR = 430, 6.5, 4
"""Pixels of all cells of a row, of a letter, and around a figure."""

_AXIS, _KEY = 56, 28
"""Pixels of the axis below the cells, and of the key below the axis."""


def rank_heatmap(ladder: pd.DataFrame, palette: Palette, k: int | None, *, is_narrow: bool = False) -> Figure:
    """Draw the probability of each rank per document: uniform over the ranks of its tie group.

    The shades, and the key of them, end at the largest probability.
    """
    documents = ladder.head(HEATMAP_ROWS)
    n = len(documents)
    chance = place_chances(documents["first"], documents["last"], n)
    labels = chart_names(documents["doc_id"].astype(str), 28 if is_narrow else 48)
    names = [
        labels[str(document.doc_id)] + (f" · <b>{document.grade:g}</b>" if document.relevant else "")
        for document in documents.itertuples()
    ]
    longest_name = max(len(unescape(re.sub("<[^>]*>", "", name))) for name in names)
    margins = {"t": 20, "b": _AXIS + _KEY, "l": round(_LETTER * longest_name) + 2 * _AIR}
    figure = Figure(palette).style(88 + _KEY + n * min(max(600 // n, 24), 40), **margins)
    ranks, top = np.arange(1, n + 1), float(chance.max())
    steps = np.maximum(np.linspace(0, 1, len(palette.heat) - 1), 1e-9)
    figure.draw(
        cells(
            chance,
            [[0, palette.heat[0]], *zip(steps, palette.heat[1:], strict=True)],
            x=ranks,
            y=ranks,
            customdata=np.array([[f"{name}<br>rank {rank}" for rank in ranks] for name in names], dtype=object),
            zmin=0,
            zmax=top,
            hovertemplate="%{customdata}: %{z:.4~f}",
        )
    )
    row, column = np.nonzero(chance)
    figures = [f"{value:.0%}" for value in chance[row, column]]
    if n <= min(MAX_LABELS, _ROOM / (_LETTER * max(map(len, figures)) + _AIR)):
        colour = np.where(chance[row, column] < _DEEP * top, palette.text, palette.ground)
        figure.draw_words(ranks[column], ranks[row], figures, size=11, color=colour)
    add_chance_key(figure, palette.heat[2:], -_AXIS, top)
    figure.set_yaxes(
        tickvals=ranks, ticktext=names, range=[n + 0.5, 0.5], showgrid=False, ticklabelstandoff=_AIR
    )
    if k is not None and k < n:
        add_cutoff(figure, k, (0.4, n + 0.6), 0.35)
    ticks = {"nticks": 13} if n > MAX_LABELS else {"dtick": 1}
    return figure.set_xaxes(title_text="rank", showgrid=False, tickformat="d", range=[0.5, n + 0.5], **ticks)
