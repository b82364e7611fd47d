"""What every page shows: the data, which of it, how it is scored, and what counts as traditional."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from dashboard import cache, controls
from dashboard.boards import choose_board, owner
from dashboard.charts.palette import Palette
from dashboard.choices import (
    CRITERIA,
    RELEVANT_FROM,
    TIE_BREAKS,
    UNJUDGED,
    choose_scoring,
    other_measures,
    policy_phrases,
)
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, queries_text
from dashboard.library.storage.records import Record
from dashboard.visitor import theme
from metrics import Evaluation
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions
from metrics.studies.targets.baseline import usual_baseline
from metrics.support.wording import part_of
from metrics.ties import Treatment, treatment

_VIEW = "_view"
_SHOWN = "_shown_data"
_MAX_RERANKERS = 200
"""Rerankers that pages show at most: they compare each with each."""
_TEXTS = ("measure", "order", "precision", "missing", "empty", UNJUDGED, "baseline")
_LISTS = ("rerankers", "segments", CRITERIA, TIE_BREAKS)
ORDER_HELP = "How ties fell before: " + " ".join(
    f"**{order.label}**. {order.summary} Used by {order.used_by}."
    for order in map(treatment, cache.TRADITIONAL)
).replace("_", r"\_")


@dataclass(frozen=True)
class Choices:
    """What the visitor chose beside the page, and the link says.

    Attributes:
        rerankers: those shown, in order.
        segments: the query groups shown, none where all are.
        traditional: the treatment taken as the traditional one.
        scoring: how lists are scored.
        baseline: what the others are compared with.
    """

    rerankers: list[str]
    segments: tuple[str, ...]
    traditional: str
    scoring: ScoringOptions
    baseline: str


@dataclass(frozen=True)
class View(cache.ShownBoard):
    """What a page shows: a board, the choices, and the values they make.

    Attributes:
        traditional: the treatment taken as the traditional one.
        baseline: what the others are compared with: as chosen on some page, else BM25, else the first.
        palette: colours of the theme.
        record: what the library says of the board, where it is kept.
    """

    traditional: str
    baseline: str
    palette: Palette
    record: Record | None

    @property
    def treatment(self) -> Treatment:
        """The treatment taken as the traditional one, with its words."""
        return treatment(self.traditional)

    def colour(self, reranker: str) -> str:
        """Return the colour of a reranker, the same on every page whatever else is chosen."""
        return self.palette.reranker(self.board.runs.rerankers.index(reranker))


def offered_rerankers(board: Board) -> list[str]:
    """Return the rerankers that pages can show: all, unless they are so many that no page could draw them."""
    return board.runs.rerankers[:_MAX_RERANKERS]


def choose_baseline(names: Sequence[str], **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw whom the others are compared with, BM25 or the first unless another is chosen; return the name."""
    default = usual_baseline(names)
    controls.follow_defaults({"baseline": default})
    return controls.select_name("Baseline", names, "baseline", default, **more_options)


def choose_view() -> View | None:
    """Draw the board and the choices all pages share; return what they show, None without a board."""
    choice = choose_board()
    if choice is None:
        return None
    board, record = choice
    _turn_to(board, record)
    choices = _draw_choices(board)
    view = _score(board, record, choices)
    n_rerankers = len(board.runs.tables)
    _say_policies(view, part_of(len(view.rerankers), n_rerankers, "reranker"))
    if n_rerankers > _MAX_RERANKERS:
        st.caption(f"The first {_MAX_RERANKERS} rerankers are shown; on Data, leave some out to see others.")
    st.session_state[_VIEW] = view
    return view


def _draw_choices(board: Board) -> Choices:
    """Draw what all pages share: tie order, filter, and how lists are scored."""
    traditional = _choose_order(board)
    with st.popover("Settings", icon=":material/tune:", width="stretch"):
        names = offered_rerankers(board)
        rerankers = controls.multiselect("Rerankers", names, "rerankers")
        offered_segments = sorted(set(cache.segments(board)))
        segments = (
            controls.multiselect("Query groups", offered_segments, "segments") if offered_segments else []
        )
        scoring = choose_scoring(board.runs)
    baseline = controls.get_value("baseline") if controls.is_chosen("baseline") else ""
    return Choices(
        rerankers,
        () if segments == offered_segments else tuple(segments),
        traditional,
        scoring,
        baseline if baseline in rerankers else usual_baseline(rerankers),
    )


def _score(board: Board, record: Record | None, choices: Choices) -> View:
    """Return the values of what was chosen; where that leaves no list, those of all lists, and say so."""
    measures = (*cache.MEASURES, *other_measures())
    values, scoring = _evaluate(board, choices.scoring, measures)
    segments, of_query = choices.segments, cache.segments(board)
    queries = set(of_query.index[of_query.isin(segments)]) if segments else None
    values = values.only(choices.rerankers, queries)
    scored = set(values.scores.index.unique("reranker"))
    rerankers = [name for name in choices.rerankers if name in scored]
    if not rerankers:
        st.warning("No list is left by these choices; all lists are shown.")
        scoring, segments, rerankers = AS_READ, (), choices.rerankers
        values = cache.evaluation(board, scoring, measures).only(rerankers)
    elif len(rerankers) < len(choices.rerankers):
        absent = ", ".join(name for name in choices.rerankers if name not in scored)
        st.caption(f"Without a list: {escape_markdown(absent)}.")
        values = values.only(rerankers)
    baseline = choices.baseline if choices.baseline in rerankers else usual_baseline(rerankers)
    return View(board, rerankers, scoring, values, segments, choices.traditional, baseline, theme(), record)


def _evaluate(
    board: Board, scoring: ScoringOptions, measures: tuple[str, ...]
) -> tuple[Evaluation, ScoringOptions]:
    """Return the values of a board, and how it was scored: by the score where lists are too long for fronts."""
    try:
        return cache.evaluation(board, scoring, measures), scoring
    except UsageError as error:
        if not scoring.criteria:
            raise
        st.warning(f"{error} Until then, documents are ranked by the score.")
        by_score = replace(scoring, criteria=())
        return cache.evaluation(board, by_score, measures), by_score


def _choose_order(board: Board) -> str:
    """Draw the choice of the tie order, and say in a line why it is that."""
    order = select_order(cache.TRADITIONAL, "order")
    reason = _first_order_reason(board) if order == board.runs.tie_order else treatment(order).summary
    st.caption(escape_markdown(reason))
    return order


def select_order(orders: Sequence[str], key: str) -> str:
    """Draw the choice of the tie order, each by the tool that sorts so; return its name."""
    return controls.select(
        "Tie order", orders, key, format_func=lambda name: treatment(name).label, help=ORDER_HELP
    )


def _first_order_reason(board: Board) -> str:
    """Say in a line why a board starts with its order of ties."""
    order = treatment(board.runs.tie_order).order
    if board.runs.tie_order != "input":
        return f"{'TREC runs' if len(board.runs.tie_orders) > 1 else 'A TREC run'}: {order}; change it here."
    is_mixed = len(set(board.runs.tie_orders)) > 1
    return f"{'Not TREC runs alone' if is_mixed else 'No TREC run'}: {order}; change it here."


def _turn_to(board: Board, record: Record | None) -> None:
    """Show all of a board, with the settings it was saved with where nobody chose others."""
    before, now = st.session_state.get(_SHOWN), (record.id if record else board.label, board.key)
    st.session_state[_SHOWN] = now
    if before is not None and before != now:
        controls.reset("rerankers")
        st.session_state.pop("_open_list", None)
    controls.open_with(_saved(board.first_view if record is None else record.view))


def _saved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a board that have the right type; controls see to it that they fit the data."""

    def has_right_type(key: str, value: object) -> bool:
        if key in _TEXTS:
            return isinstance(value, str)
        if key in _LISTS:
            return isinstance(value, list) and all(isinstance(name, str) for name in value)
        return key == RELEVANT_FROM and isinstance(value, int | float)

    saved = {key: value for key, value in settings.items() if has_right_type(key, value)}
    return saved | ({RELEVANT_FROM: float(saved[RELEVANT_FROM])} if RELEVANT_FROM in saved else {})


def board_settings() -> dict[str, Any]:
    """Return what a board is to be opened with: all that is chosen now."""
    now = view()
    settings: dict[str, Any] = {key: text for key in _TEXTS if (text := controls.get_value(key))}
    settings[RELEVANT_FROM] = float(now.scoring.relevant_from)
    if now.segments:
        settings["segments"] = list(now.segments)
    further = {CRITERIA: now.scoring.criteria, TIE_BREAKS: now.scoring.tiebreak_by}
    settings |= {key: list(texts) for key, texts in further.items() if texts}
    if now.rerankers != offered_rerankers(now.board):
        settings["rerankers"] = now.rerankers
    return settings


def _say_policies(view: View, subject: str) -> None:
    """Write what is counted and how, always in sight."""
    phrases = policy_phrases(view.evaluation.policies.max(), view.scoring)
    queries = len(view.evaluation.scores.index.unique("query_id"))
    privacy = "" if owner() else " Runs stay on this machine."
    st.caption(", ".join([subject, queries_text(queries), *phrases]) + f".{privacy}")


def view() -> View:
    """Return what the sidebar says is shown."""
    return cast("View", st.session_state[_VIEW])


def board_key() -> str:
    """Return the key of the board that is shown, empty before any was: what is drawn is forgotten with it."""
    return view().board.key if _VIEW in st.session_state else ""
