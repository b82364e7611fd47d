"""What every page shows: the data, which of it, how it is scored, and what counts as traditional."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from dashboard import cache
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, queries_text
from dashboard.library.storage.records import Record
from dashboard.session import address
from dashboard.session.boards import DATA, choose_board, owner
from dashboard.session.controls import (
    follow_defaults,
    get_value,
    multiselect,
    select,
    select_name,
)
from dashboard.session.measures import other_measures
from dashboard.session.scoring import CRITERIA, TIE_BREAKS, UNJUDGED, choose_scoring, policy_phrases
from dashboard.session.visitor import theme
from metrics import Evaluation
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions
from metrics.studies.targets.baseline import usual_baseline
from metrics.support.wording import part_of
from metrics.ties import Treatment, treatment

_VIEW = "_view"
_LAST_BOARD = "_shown_data"
_FIRST_ORDER = "_first_order"
_IS_ORDER_CHOSEN = "_is_order_chosen"
_MAX_RERANKERS = 200
"""Rerankers that pages show at most: they compare each with each."""
_TEXTS = ("measure", "order", "precision", "missing", "empty", UNJUDGED, "baseline")
_CHOICES = ("rerankers", "segments", CRITERIA, TIE_BREAKS)
ORDER_HELP = "How ties fell before: " + " ".join(
    f"**{order.label}**. {order.summary} Used by {order.used_by}."
    for order in map(treatment, cache.TRADITIONAL)
).replace("_", r"\_")


@dataclass(frozen=True)
class View(cache.ShownBoard):
    """What every page shows: the data, which of it, how it is scored, and what counts as traditional.

    Attributes:
        traditional: the treatment taken as the traditional one.
        palette: colours of the theme.
        record: what the library says of the data, where it is kept.
    """

    traditional: str
    palette: Palette
    record: Record | None

    @property
    def treatment(self) -> Treatment:
        """The treatment taken as the traditional one, with its words."""
        return treatment(self.traditional)

    def colour(self, reranker: str) -> str:
        """Return the colour of a reranker, the same on every page whatever else is chosen."""
        return self.palette.reranker(self.board.runs.rerankers.index(reranker))

    @property
    def baseline(self) -> str:
        """What the others are compared with: as chosen on some page, else BM25, else the first."""
        selected = get_value("baseline") if address.is_chosen("baseline") else ""
        return selected if selected in self.rerankers else usual_baseline(self.rerankers)


def offered_rerankers(board: Board) -> list[str]:
    """Return the rerankers that pages can show: all, unless they are so many that no page could draw them."""
    return board.runs.rerankers[:_MAX_RERANKERS]


def choose_baseline(names: Sequence[str], **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw whom the others are compared with, BM25 or the first unless another is chosen; return the name."""
    default = usual_baseline(names)
    follow_defaults({"baseline": default})
    return select_name("Baseline", names, "baseline", default, **more_options)


def choose_view() -> bool:
    """Draw the choices all pages share, and keep them for the page; return whether there is a board to show."""
    choice = choose_board()
    if choice is None:
        return False
    board, record = choice
    names = offered_rerankers(board)
    _turn_to(board, record)
    selected, segments, queries = _filter(board, names)
    traditional = _choose_order(board)
    scoring = choose_scoring(board.runs)
    measures = (*cache.MEASURES, *other_measures())
    values, scoring = _evaluate(board, scoring, measures)
    values = values.only(selected, queries)
    scored = set(values.scores.index.unique("reranker"))
    rerankers = [name for name in selected if name in scored]
    if not rerankers:
        st.warning("No list is left by these choices; all lists are shown.")
        scoring, segments, rerankers = AS_READ, (), selected
        values = cache.evaluation(board, scoring, measures)
    elif len(rerankers) < len(selected):
        absent = ", ".join(name for name in selected if name not in scored)
        st.caption(f"Without a list: {escape_markdown(absent)}.")
    values = values.only(rerankers)
    n_rerankers = len(board.runs.tables)
    _say_policies(values, scoring, part_of(len(rerankers), n_rerankers, "reranker"))
    if len(names) < n_rerankers:
        st.caption(f"The first {len(names):,} rerankers are shown; on Data, leave some out to see others.")
    st.session_state[_VIEW] = View(board, rerankers, scoring, values, segments, traditional, theme(), record)
    return True


def _filter(board: Board, names: Sequence[str]) -> tuple[list[str], tuple[str, ...], set[str] | None]:
    """Draw the choice of rerankers and segments; return both, and the queries of the segments chosen.

    All segments are no choice: the second is empty then, and the third None.
    """
    query_segments = cache.segments(board)
    with st.popover("Filter", icon=":material/filter_list:", width="stretch"):
        rerankers = multiselect("Rerankers", names, "rerankers")
        segments = sorted(set(query_segments))
        selected = multiselect("Segments", segments, "segments") if segments else []
    if len(selected) == len(segments):
        return rerankers, (), None
    return rerankers, tuple(selected), set(query_segments.index[query_segments.isin(selected)])


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
    """Draw the choice of the traditional order, and say in a line why it is that.

    A link that names none means that of the file, whatever the board is opened with without a link.
    """
    order = select_order(cache.TRADITIONAL, "order")
    reason = _first_order_reason(board) if order == board.runs.tie_order else treatment(order).summary
    st.caption(escape_markdown(reason))
    return order


def select_order(orders: Sequence[str], key: str) -> str:
    """Draw the choice of the traditional order, each by the tool that sorts so; return its name."""
    return select(
        "Traditional order", orders, key, format_func=lambda name: treatment(name).label, help=ORDER_HELP
    )


def _first_order_reason(board: Board) -> str:
    """Say in a line why a board starts with its order of ties."""
    order = treatment(board.runs.tie_order).order
    if board.runs.tie_order != "input":
        return f"{'TREC runs' if len(board.runs.tie_orders) > 1 else 'A TREC run'}: {order}; change it here."
    is_mixed = len(set(board.runs.tie_orders)) > 1
    return f"{'Not TREC runs alone' if is_mixed else 'No TREC run'}: {order}; change it here."


def _turn_to(board: Board, record: Record | None) -> None:
    """Show all of a board as it was saved or, until it is, with the order of its files.

    The order another board began with was not chosen, and is not carried over; one that was chosen is.
    """
    before, now = st.session_state.get(_LAST_BOARD), (record.id if record else board.label, board.key)
    st.session_state[_LAST_BOARD] = now
    if before is not None and before != now:
        st.session_state["rerankers"] = offered_rerankers(board)
        address.set_open_list(None, None)
    is_link_followed = before is None and set(st.query_params) - {DATA}
    view = board.first_view if record is None else record.view
    saved = _saved(view)
    address.insist(saved)  # without them, the address would open the board as it was saved
    is_opened = not is_link_followed and (before is None or before[0] != now[0])
    if is_opened and view != board.first_view:
        address.request(saved)
    _follow_first_order(saved.get("order", "input"), is_opened=is_opened)


def _follow_first_order(first: str, *, is_opened: bool) -> None:
    """Begin a board that is opened with its order, unless another was chosen: that stays on every board."""
    state = st.session_state
    if is_opened:
        is_saved = address.requested("order") is not None
        is_chosen = state.get(_IS_ORDER_CHOSEN, False) or state.get("order") != state.get(_FIRST_ORDER)
        state[_IS_ORDER_CHOSEN] = is_chosen and not is_saved
        if not is_chosen:
            state["order"] = first
    state[_FIRST_ORDER] = first


def _saved(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a board that have the right type; controls see to it that they fit the data."""

    def has_right_type(key: str, value: object) -> bool:
        if key in _TEXTS:
            return isinstance(value, str)
        if key in _CHOICES:
            return isinstance(value, list) and all(isinstance(name, str) for name in value)
        return key == "relevant_from" and isinstance(value, int | float)

    saved = {key: value for key, value in view.items() if has_right_type(key, value)}
    return saved | ({"relevant_from": float(saved["relevant_from"])} if "relevant_from" in saved else {})


def board_settings() -> dict[str, Any]:
    """Return what a board is to be opened with: all that is chosen now."""
    now = view()
    settings: dict[str, Any] = {key: text for key in _TEXTS if (text := get_value(key))}
    settings["relevant_from"] = float(now.scoring.relevant_from)
    if now.segments:
        settings["segments"] = list(now.segments)
    further = {CRITERIA: now.scoring.criteria, TIE_BREAKS: now.scoring.tiebreak_by}
    settings |= {key: list(texts) for key, texts in further.items() if texts}
    if now.rerankers != offered_rerankers(now.board):
        settings["rerankers"] = now.rerankers
    return settings


def _say_policies(values: Evaluation, scoring: ScoringOptions, subject: str) -> None:
    """Write what is counted and how, always in sight."""
    phrases = policy_phrases(values.policies.max(), scoring)
    queries = len(values.scores.index.unique("query_id"))
    privacy = "" if owner() else " Runs stay on this machine."
    st.caption(", ".join([subject, queries_text(queries), *phrases]) + f".{privacy}")


def view() -> View:
    """Return what the sidebar says is shown."""
    return cast("View", st.session_state[_VIEW])


def board_key() -> str:
    """Return the key of the board that is shown, empty before any was: what is drawn is forgotten with it."""
    return view().board.key if _VIEW in st.session_state else ""
