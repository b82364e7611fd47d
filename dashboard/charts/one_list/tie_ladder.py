"""Lists by score: a box a document, a bracket a tie; one list, or two side by side."""

import textwrap
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import add_cutoff
from dashboard.charts.palette import Palette
from dashboard.charts.style import BELOW, note, safe, set_xaxes, set_yaxes, style
from metrics.studies.one_list.query import rank_column

MAX_DOCUMENTS = 60
"""Documents of a list that are drawn; more cannot be read."""
_LOW, _HIGH = 0.5, 0.8
"""Heights of a document that is not relevant and of one that is."""
_MAX_TEXT, _MAX_LINE = 280, 64
"""Letters of a document's text in its hover, and in one line of it."""
_LETTERS, _FEWEST = 52, 10
"""Letters in a row along a list on a phone; and places an axis has at least."""
_INSETS, _MAX_INSETS = (0.03, 0.05), 3
"""How far a bracket stands within the frame round it, along the list and across, and how often."""
_OUTLINE, _STRONG = 1.2, 2.6
"""Pixels of the outline of a document, and of the one to judge first."""
_SECOND_LIST = 2.6
"""Height at which the upper one of two lists stands."""


def tie_ladder(
    ladder: pd.DataFrame, palette: Palette, k: int | None, first_to_judge: str | None = None
) -> Figure:
    """Draw the list from the top, a box a document, hatched where nobody judged it, a bracket behind a tie.

    Where further scores split ties, a dotted frame surrounds what is level in the scores before.

    Args:
        ladder: place, doc_id, score or front, grade, judged, relevant, group, first, last; top first; perhaps
            text, and level_1, further_1 ... as `metrics.studies.one_list.query.ladder` returns them.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
        first_to_judge: document with a strong outline, None for none.
    """
    figure = Figure()
    end = min(len(ladder), MAX_DOCUMENTS) + 0.5
    _add_list(figure, ladder, palette, 0, first_to_judge)
    if k is not None and k + 0.5 < end:
        add_cutoff(figure, palette, k, (-0.12, 1.28), 1.3)
    if len(ladder) > MAX_DOCUMENTS:
        n_hidden = f"{len(ladder) - MAX_DOCUMENTS:,} more ⟶"
        note(figure, n_hidden, palette, x=end, y=1.3, xanchor="right", yanchor="bottom", yref="y")
    style(figure, palette, 176, t=24, b=BELOW - 4)
    set_yaxes(figure, visible=False, range=[-0.45, 1.5])
    return _set_places(figure, end, rank_column(ladder))


def ladder_pair(
    upper: pd.DataFrame,
    lower: pd.DataFrame,
    names: tuple[str, str],
    palette: Palette,
    k: int | None,
    first_to_judge: str | None = None,
) -> Figure:
    """Draw two lists of one query, one above the other; lines follow documents in both.

    They follow the relevant ones and, darker, the one to judge first.

    Args:
        upper: as for `tie_ladder`.
        lower: the same of another reranker.
        names: what the two are called.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
        first_to_judge: document with a strong outline, None for none.
    """
    figure, base = Figure(), _SECOND_LIST
    _join(figure, upper[upper["relevant"]], lower, palette.tied)
    _join(figure, upper[upper["doc_id"] == first_to_judge], lower, palette.text)
    _add_list(figure, upper, palette, base, first_to_judge, is_upper=True)
    _add_list(figure, lower, palette, 0, first_to_judge)
    end = min(max(len(upper), len(lower)), MAX_DOCUMENTS) + 0.5
    if k is not None and k + 0.5 < end:
        add_cutoff(figure, palette, k, (-0.12, base + 1.5), base + 1.52)
    style(figure, palette, 300, t=24, b=24)
    set_yaxes(
        figure,
        tickvals=[base + 0.5, 0.5],
        ticktext=[f"<b>{chart_names(names, 22)[name]}</b>" for name in names],
        tickfont={"color": palette.text},
        showgrid=False,
        range=[-0.45, base + 1.7],
    )
    return _set_places(figure, end, rank_column(upper))


def _join(figure: Figure, documents: pd.DataFrame, lower: pd.DataFrame, colour: str) -> None:
    """Add a line from each of some documents of the upper list to its place in the lower one."""
    middle = (_SECOND_LIST + 1) / 2
    shared = documents.merge(lower[["doc_id", "place"]], on="doc_id", suffixes=("", "_below"))
    for start, end in shared[["place", "place_below"]].to_numpy():
        if max(start, end) <= MAX_DOCUMENTS:
            path = f"M {start},{_SECOND_LIST + 0.1} C {start},{middle} {end},{middle} {end},0.9"
            figure.draw_shape(type="path", path=path, line={"color": colour, "width": 1.6}, layer="below")


def _add_list(
    figure: Figure,
    ladder: pd.DataFrame,
    palette: Palette,
    base: float,
    first_to_judge: str | None = None,
    *,
    is_upper: bool = False,
) -> None:
    """Add one list on a base line of its own; the upper one of two has its scores above it."""
    documents = ladder.head(MAX_DOCUMENTS)
    _add_brackets(figure, ladder, palette, base, is_upper=is_upper)
    for is_judged, boxes in documents.groupby(documents["judged"].to_numpy(dtype=bool)):
        height = np.where(boxes["relevant"], _HIGH, _LOW)
        figure.draw_bars(
            x=boxes["place"],
            y=height,
            base=base + (1 - height) / 2,
            width=0.72,
            marker=_box_marker(boxes, palette, first_to_judge, is_judged=bool(is_judged)),
            text=[f"{grade:g}" if hit else "" for grade, hit in boxes[["grade", "relevant"]].to_numpy()],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": palette.ground, "size": 12},
            hovertext=[_hover(document, rank_column(ladder)) for document in boxes.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )


def _box_marker(
    boxes: pd.DataFrame, palette: Palette, first_to_judge: str | None, *, is_judged: bool
) -> dict[str, Any]:
    """Return how boxes look: filled or empty, or hatched where nobody judged; one with a strong outline."""
    is_relevant = boxes["relevant"].to_numpy(dtype=bool)
    if is_judged:
        fill, border = (
            np.where(is_relevant, palette.tied, colour) for colour in (palette.ground, palette.other)
        )
        return {"color": fill, "line": {"color": border, "width": _OUTLINE}}
    is_first = (boxes["doc_id"] == first_to_judge).to_numpy(dtype=bool)
    line = {
        "color": np.where(is_first, palette.text, palette.muted),
        "width": np.where(is_first, _STRONG, _OUTLINE),
    }
    # without a ground of its own, a hatching shows the bracket behind; of several colours plotly takes neither
    hatching = {"shape": "/", "fgcolor": palette.muted, "bgcolor": palette.ground, "size": 5, "solidity": 0.25}
    return {"color": palette.ground, "line": line, "pattern": hatching}


def _add_brackets(
    figure: Figure, ladder: pd.DataFrame, palette: Palette, base: float, *, is_upper: bool
) -> None:
    """Add a bracket behind each tie, frames round what further scores split, and scores where there is room."""
    n = min(len(ladder), MAX_DOCUMENTS)
    levels, ranked_by = [*ladder.filter(regex=r"^level_\d+$"), "first"], rank_column(ladder)
    side = {"y": base + 1.14, "yanchor": "bottom"} if is_upper else {"y": base - 0.14, "yanchor": "top"}
    frame = {"line": {"width": 1, "dash": "dot", "color": palette.muted}}
    bracket = {"fillcolor": palette.bounds, "line": {"width": 0}}
    for depth, level in enumerate(levels):
        along, across = (min(depth, _MAX_INSETS) * inset for inset in _INSETS)
        ties = ladder.groupby(level, as_index=False).agg(last=("place", "max"), key=(ranked_by, "first"))
        for first, last, key in ties[(ties["last"] > ties[level]) & (ties[level] <= n)].to_numpy():
            left, right = first - 0.46 + along, min(last + 0.46 - along, n + 0.5)
            ends = {"x0": left, "x1": right, "y0": base - 0.1 + across, "y1": base + 1.1 - across}
            figure.draw_shape(type="rect", layer="below", **ends, **(bracket if level == "first" else frame))
            text = "" if depth else _key_text(ranked_by, key, _LETTERS * (right - left) / max(n, _FEWEST))
            if text:
                note(figure, text, palette, x=(left + right) / 2, yref="y", **side)


def _key_text(ranked_by: str, key: float, room: float) -> str:
    """Return the score or front of a tie in as many letters as there is room for, empty where there is none."""
    number = f"{key + 0.0:.4g}".replace("-", "−")
    return next((text for text in (f"{ranked_by} {number}", number) if len(text) < room), "")


def _hover(document: dict[Hashable, Any], ranked_by: str) -> str:
    """Return what is told of a document: its score or front, grade and places, and its text."""
    first, last = document["first"], document["last"]
    places = f"places {first:,} to {last:,}" if last > first else f"place {document['place']}"
    head = f"<b>{hover_text(str(document['doc_id']))}</b><br>{ranked_by} {document[ranked_by]:.6g}"
    head += "".join(f", then {value:.6g}" for key, value in document.items() if str(key).startswith("further_"))
    judgment = f"grade {document['grade']:g}" if document["judged"] else "not judged"
    head += f"<br>{judgment}<br>{places}"
    text = textwrap.shorten(str(document.get("text", "")), _MAX_TEXT, placeholder=" …")
    lines = "<br>".join(safe(line, _MAX_LINE) for line in textwrap.wrap(text, _MAX_LINE))
    return f"{head}<br><br>{lines}" if lines else head


def _set_places(figure: Figure, end: float, ranked_by: str) -> Figure:
    """Set the axis of places, wide enough that few documents are no walls."""
    figure.set_layout(barmode="overlay")
    return set_xaxes(
        figure,
        range=[0.4, max(end, 10.5)],
        showgrid=False,
        title_text=f"rank by {ranked_by}",
        tickformat="d",
        nticks=12,
    )
