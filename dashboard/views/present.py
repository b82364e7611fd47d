"""Present: slides of one sentence and one chart each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dashboard import controls, pages, visitor
from dashboard.boards import board_name
from dashboard.cache import cached, pair_verdicts
from dashboard.charts.compare import difference_forest
from dashboard.charts.figure import Figure
from dashboard.charts.labels import sentence_names, short_names
from dashboard.charts.leaderboard import LEAST_WIDTH, drawable_rerankers, leaderboard_figure, score_bounds
from dashboard.charts.permutations import permutations_figure
from dashboard.charts.rerankers import gap_multiples
from dashboard.choices import Selection, View, shown_measure
from dashboard.escaping import escape_markdown
from dashboard.library.boards import queries_text
from dashboard.widgets.components import chart, elide_prose
from dashboard.widgets.one_list import load_list, possible_values_of
from metrics import parse
from metrics.evaluation import EQUAL
from metrics.measures import question
from metrics.studies import swapped_orders as study
from metrics.studies.gaps import gaps, tie_prediction
from metrics.studies.leaderboard import leaderboard, leaderboard_finding, mean_intervals
from metrics.studies.one_list import gap_of_list, lists_by_gap, query_finding
from metrics.studies.pair_findings import significance_finding
from metrics.studies.pairs import rank_intervals, with_rank_intervals
from metrics.studies.prose import Prose, Strong, headline
from metrics.studies.verdict_sentence import query_sets
from metrics.support.wording import count_of, query_before

_ASSETS = Path(__file__).parents[1] / "assets"


def turn(label: str, shortcut: str, number: int, last: int) -> None:
    """Draw a button that shows another slide."""
    st.button(
        label,
        shortcut=shortcut,
        disabled=not 1 <= number <= last,
        on_click=controls.set_values,
        args=({"slide": str(number)},),
        key=f"turn-{shortcut.lower()}",
        type="tertiary",
    )


def show(selection: Selection) -> None:
    """Draw one slide."""
    st.html(_ASSETS / "present.css")
    orange = visitor.theme().traditional
    st.html(f"<style>h2 .stMarkdownColoredText {{ color: {orange} !important; }}</style>")
    measure = str(question(parse(shown_measure())))
    view = selection.score(measure)
    slides = list_slides(view, measure)
    sentence, figure, foot = (st.container(key=f"slide-{part}") for part in ("sentence", "chart", "foot"))
    with foot, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note = st.container()
        numbers = [str(number) for number in range(1, len(slides) + 1)]
        number = int(
            controls.segmented("Slide", numbers, "slide", label_visibility="collapsed", width="content")
        )
        turn("Back", "Left", number - 1, len(slides))
        turn("Next", "Right", number + 1, len(slides))
        if st.button("Leave", shortcut="Esc", key="leave", type="tertiary"):
            st.switch_page(pages.SHARE.file)
    slide = slides[number - 1]()
    sentence.header(title(slide.finding, view.rerankers), anchor=False)
    note.caption(escape_markdown(provenance(view, measure, slide)))
    is_narrow = visitor.is_narrow()
    shown_figure = slide.figure if is_narrow else slide.large_figure
    if shown_figure is not None:
        wide = slide.wide if is_narrow else round(FACTOR * slide.wide)
        with figure:
            chart(shown_figure, f"slide-{number}", slide.alt, wide=wide)


FACTOR = 1.36
"""Factor by which marks, lines and texts are larger."""
_SIZES = {"size", "standoff", "thickness", "xshift", "yshift", "l", "r", "t", "b"}
"""Properties in pixels; `width` is one only in a line."""


def enlarged(figure: Figure, height: int) -> Figure:
    """Return a figure of this height with larger marks, lines and texts."""
    large = Figure(figure.palette, **_scale(figure.settings) | {"height": height})
    for trace in figure.traces:
        large.draw(_scale(trace))
    return large


def _scale(part: Any, name: str = "", parent: str = "") -> Any:  # noqa: ANN401 any part of a figure
    """Return a part of a figure with all pixels scaled; `name` and `parent` are the keys that lead to it."""
    if isinstance(part, dict):
        return {key: _scale(value, key, name) for key, value in part.items()}
    if name in _SIZES or (name == "width" and parent == "line"):
        if isinstance(part, int | float):
            return float(part) * FACTOR
        if isinstance(part, list | tuple | np.ndarray):
            return np.asarray(part, dtype=float) * FACTOR
    if isinstance(part, list | tuple) and any(isinstance(item, dict) for item in part):
        return [_scale(item, name) for item in part]
    return part


MOST_ROWS = 12
"""Rerankers on a slide at most: more cannot be read in a room."""
_MOST_PANELS = 3
_PANELS, _PHONE = 600, 350
"""Pixels that a figure of panels needs, and that a phone has."""
_HEIGHT = 470
"""Maximum height of a chart in pixels, to fit a window of 720 pixels."""


@dataclass(frozen=True)
class Slide:
    """A text whose first sentence is shown, a chart with its description and width, and their sources."""

    finding: Prose
    figure: Figure | None
    alt: str
    note: str = ""
    wide: int = _PHONE

    @cached_property
    def large_figure(self) -> Figure | None:
        """The chart with larger marks, for a room."""
        figure = self.figure
        return figure and enlarged(figure, min(_HEIGHT, 2 * figure.height))


def list_slides(view: View, measure: str) -> list[Callable[[], Slide]]:
    """Return the functions that make the slides, in order."""
    lists = view.evaluation.lists
    has_pairs = len(view.rerankers) > 1
    has_queries = lists.index.get_level_values("query_id").nunique() > 1
    has_ties = bool(lists["n_tie_groups"].any())
    says_something = {_list: has_ties, _order: True, _ties: has_ties, _tests: has_pairs and has_queries}
    settings = (measure, view.traditional, view.baseline, view.palette, visitor.is_narrow())
    return [
        partial(_make_slide, view, slide.__name__, slide, *settings)
        for slide, is_shown in says_something.items()
        if is_shown
    ]


@cached(max_entries=16)
def _make_slide(
    view: View, name: str, _draw: Callable[[View, str], Slide], measure: str, *settings: object
) -> Slide:
    """Return a slide, cached by its name and the settings."""
    return _draw(view, measure)


def _order(view: View, measure: str) -> Slide:
    name = parse(measure).traditional
    table = leaderboard(view.evaluation, measure, view.traditional)
    labels = parse(measure).tied, name
    pairs = pair_verdicts(view, measure, view.traditional)
    intervals = rank_intervals(view.evaluation, measure, pairs=pairs.tied)
    table = with_rank_intervals(table, intervals).join(mean_intervals(view.evaluation, measure))
    rows = drawable_rerankers(table)
    swaps = study.swapped_orders(view.evaluation, measure, view.traditional, pairs=pairs.tied)
    finding = leaderboard_finding(table, name, view.traditional)
    if len(swaps):
        finding = study.swaps_finding(swaps, len(rows), name)
    figure, is_narrow, values = None, visitor.is_narrow(), "ranks"
    if len(rows) and is_narrow:
        values = "scores"
        figure = score_bounds(rows.head(MOST_ROWS), view.palette, name)
    elif len(rows):
        figure = leaderboard_figure(rows, view.palette, labels, list(rows.index[:MOST_ROWS]))
    return Slide(
        (*query_sets(view.evaluation, measure), *finding),
        figure,
        f"Rank of each reranker by traditional and tied {name}, with its worst and best score.",
        f"{values.capitalize()} by {view.treatment.order} (orange) against {values} with ties averaged (blue). "
        f"{_first_of(len(rows))} {f'p: {pairs.method}.' if len(swaps) else ''}",
        wide=_PHONE if is_narrow else LEAST_WIDTH,
    )


def _ties(view: View, measure: str) -> Slide:
    lists = gaps(view.evaluation, {"first": measure}, view.traditional)
    mean_gap = lists["first_gap"].abs().groupby(lists["reranker"]).mean()
    largest = [str(name) for name in mean_gap.nlargest(_MOST_PANELS).index]
    selection = _first_of(len(mean_gap), _MOST_PANELS)
    if selection and mean_gap.max() > EQUAL:
        selection = f"The {_MOST_PANELS} rerankers with the largest gaps."
    colours, is_narrow = view.colours(largest), visitor.is_narrow()
    figure = gap_multiples(lists, view.palette, colours, measure, is_narrow=is_narrow)
    mean = "; line: mean |gap|" if any(trace.get("mode") == "lines" for trace in figure.traces) else ""
    return Slide(
        tie_prediction(lists, measure),
        figure,
        f"|{measure} gap| against the tie ratio, one panel per reranker.",
        f"Tie ratio against |{measure} gap|. Dot: one list; grey: lists of all rerankers{mean}. {selection}",
        wide=_PHONE if is_narrow else _PANELS,
    )


def _tests(view: View, measure: str) -> Slide:
    name = parse(measure).traditional
    rows = pair_verdicts(view, measure, view.traditional).against(view.baseline)
    n_drawn, is_narrow = MOST_ROWS - 4, visitor.is_narrow()
    changed = "Changed verdicts come first. " if rows.changed.any() else ""
    return Slide(
        significance_finding(replace(rows, method=""), name),
        difference_forest(rows.changed_first(n_drawn, n_drawn), view.palette, name, is_narrow=is_narrow),
        f"{name} difference of each reranker from {view.baseline}, by tied and by traditional values.",
        f"Each reranker against {_short(view, view.baseline)}, {rows.method}: by "
        f"{view.treatment.order} (orange) and with ties averaged (blue). "
        f"{changed if len(rows.tied) > n_drawn else ''}{_first_of(len(rows.tied), n_drawn)}",
    )


def _list(view: View, measure: str) -> Slide:
    first = lists_by_gap(view.evaluation, measure, view.traditional).iloc[0]
    reranker, query = str(first["reranker"]), str(first["query_id"])
    current = load_list(view, reranker, query, measure)
    list_values = (current.value, measure, view.traditional, current.written)
    reason, finding, figure = "the largest gap", gap_of_list(*list_values), None
    if not abs(first["gap"]) > EQUAL:  # 0 or undefined
        reason = "most tied documents"
        finding = query_finding(current.rows, current.chances, *list_values)
    if len(current.rows):
        possible = possible_values_of(view, reranker, query, measure, view.traditional)
        figure = permutations_figure(possible, current.rows, view.palette, is_narrow=visitor.is_narrow())
    return Slide(
        finding,
        figure,
        f"Each value of {measure} with an example order and its chance; tied and traditional value.",
        f"The list with {reason}: {query_before(query)}{query} of {_short(view, reranker)}, "
        f"{view.treatment.order} (diamond) compared with all orders of its ties (line: mean). "
        "Row: a value, one order that gives it, and its chance.",
        wide=_PHONE if visitor.is_narrow() else _PANELS,
    )


def _short(view: View, reranker: str) -> str:
    return short_names(view.rerankers)[reranker]


def _first_of(n: int, limit: int = MOST_ROWS) -> str:
    return f"The first {limit} of {count_of(n, 'reranker')}." if n > limit else ""


def title(prose: Prose, names: Sequence[str]) -> str:
    """Return Markdown of the first sentence, its main point in orange and long names shortened.

    Lines do not break within a p value.
    """
    sentence, _ = elide_prose(headline(prose), sentence_names(names))
    point = next((part for part in sentence if isinstance(part, Strong)), None)
    plain = (part.text if isinstance(part, Strong) else part for part in sentence)
    texts = (escape_markdown(re.sub(r"\bp ([<=>]) ", "p\u00a0\\1\u00a0", text)) for text in plain)
    return "".join(
        f":orange[{text.strip()}]" + " " * text.endswith(" ") if part is point else text
        for part, text in zip(sentence, texts, strict=True)
    )


def provenance(view: View, measure: str, slide: Slide) -> str:
    """Return the measure, queries and board of a slide, and its note."""
    board = view.record.name if view.record else board_name(view.board.label)
    queries = queries_text(view.evaluation.scores.index.get_level_values("query_id").nunique())
    subject = board if queries in board else f"{queries} of {board}"
    return " ".join(filter(None, [f"{parse(measure).traditional}, {subject}.", slide.note.strip()]))
