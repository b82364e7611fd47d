"""What every page shows: the data, which of it, how it is scored, and what counts as traditional."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from dashboard import cache
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.library import Board, queries_text
from dashboard.library.storage.records import Record
from dashboard.session.boards import DATA, choose_board, owner
from dashboard.session.controls import multiselect, number_input, segmented, select, theme
from dashboard.session.measures import other_measure
from metrics import Evaluation
from metrics.evaluation import AS_READ, ScoringOptions
from metrics.ties import Ranking, treatment

_VIEW = "_view"
_OPEN = "_open_list"
_SHOWN = "_shown_data"
_TEXTS = ("measure", "order", "precision", "missing", "empty", "baseline")
_CHOICES = ("rerankers", "segments")
_PRECISIONS = ("float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in range(7)))
_USUAL = {
    "measure": cache.MEASURES[0],
    "order": cache.TRADITIONAL[0],
    "precision": _PRECISIONS[0],
    "missing": "zero",
    "empty": "zero",
    "relevant_from": 1.0,
}
ORDER_HELP = "How ties fell before: " + " ".join(
    f"**{name}**: {treatment(name).summary} ({treatment(name).used_by})." for name in cache.TRADITIONAL
).replace("_", r"\_")


@dataclass(frozen=True)
class View:
    """What every page shows: the data, which of it, how it is scored, and what counts as traditional.

    Attributes:
        board: the data.
        rerankers: those chosen that have a list, in the order of the data.
        traditional: the treatment taken as the traditional one.
        scoring: how lists are scored.
        evaluation: their values.
        palette: colours of the theme.
        segments: those chosen, none where all are.
        record: what the library says of the data, where it is kept.
    """

    board: Board
    rerankers: list[str]
    traditional: str
    scoring: ScoringOptions
    evaluation: Evaluation
    palette: Palette
    segments: tuple[str, ...] = ()
    record: Record | None = None

    @property
    def shown(self) -> cache.ViewKey:
        """What tells this view from another, whatever page it is seen on."""
        return cache.ViewKey(self.board.key, self.scoring, tuple(self.rerankers), self.segments)

    def colour(self, reranker: str) -> str:
        """Colour of a reranker, the same on every page whatever else is chosen."""
        return self.palette.reranker(self.board.runs.rerankers.index(reranker))

    def ranking(self, reranker: str) -> Ranking:
        """The lists of a reranker, cut into tie groups as they are scored."""
        return cache.ranking(self.board.key, reranker, self.board, self.scoring)

    @property
    def baseline(self) -> str:
        """What the others are compared with: as chosen on the Runs page, else the first."""
        chosen = st.session_state.get("baseline")
        return chosen if chosen in self.rerankers else self.rerankers[0]


def choose_view() -> None:
    """Draw the choices all pages share, and keep them for the page."""
    board, record = choose_board()
    names = board.runs.rerankers
    _turn_to(board, record)
    known = cache.segments(board.key, board)
    with st.popover("Filter", icon=":material/filter_list:", width="stretch"):
        chosen = multiselect("Rerankers", names, "rerankers")
        kinds = sorted(set(known))
        within = multiselect("Segments", kinds, "segments") if kinds else []
    traditional = select("Traditional order", cache.TRADITIONAL, "order", help=ORDER_HELP)
    scoring = _choose_scoring()
    other = other_measure()
    measures = (*cache.MEASURES, *([other] if other else []))
    whole = cache.evaluation(board.key, board, scoring, measures)
    queries = set(known.index[known.isin(within)]) if len(within) < len(kinds) else None
    values = whole.only(chosen, queries)
    scored = set(values.scores.index.get_level_values("reranker"))
    kept = [name for name in chosen if name in scored]
    if not kept:
        st.warning("No list is left by these choices; all lists are shown.")
        scoring, queries = AS_READ, None
        values, kept = cache.evaluation(board.key, board, scoring, measures).only(chosen), chosen
    elif len(kept) < len(chosen):
        st.caption(
            f"Without a list: {escape_markdown(', '.join(name for name in chosen if name not in scored))}."
        )
    values = values.only(kept)
    _say_policies(values, scoring, f"{len(kept)} of {len(names)} rerankers")
    part = () if queries is None else tuple(within)
    st.session_state[_VIEW] = View(board, kept, traditional, scoring, values, theme(), part, record)


def _turn_to(board: Board, record: Record | None) -> None:
    """Where other data is shown than before: show all of it, as it was saved."""
    before, now = st.session_state.get(_SHOWN), (record.id if record else board.label, board.key)
    st.session_state[_SHOWN] = now
    if before is not None and before != now:
        st.session_state["rerankers"] = list(board.runs.rerankers)
        set_open_list(None, None)
    followed = before is None and set(st.query_params) - {DATA}
    if record is None or followed or (before is not None and before[0] == now[0]):
        return
    for key, value in _saved(record.view).items():
        st.session_state[key] = value
        if before is None and value != _USUAL.get(key):  # a control not drawn yet does not tell the link
            st.query_params[key] = f"{value:g}" if isinstance(value, float) else value


def _saved(view: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings of a board that can be ones: controls see to it that they fit the data."""
    found = {key: view[key] for key in _TEXTS if isinstance(view.get(key), str)}
    found |= {
        key: view[key]
        for key in _CHOICES
        if isinstance(view.get(key), list) and all(isinstance(one, str) for one in view[key])
    }
    level = view.get("relevant_from")
    return found | ({"relevant_from": float(level)} if isinstance(level, int | float) else {})


def board_settings() -> dict[str, Any]:
    """What a board is to be opened with: all that is chosen now."""
    now, keys = view(), (*_TEXTS, "relevant_from")
    found = {key: st.session_state[key] for key in keys if st.session_state.get(key) is not None}
    found |= {"segments": list(now.segments)} if now.segments else {}
    return found | ({"rerankers": now.rerankers} if now.rerankers != now.board.runs.rerankers else {})


def _choose_scoring() -> ScoringOptions:
    """How lists are scored; what the files say unless the visitor says otherwise."""
    with st.popover("Scoring", icon=":material/tune:", width="stretch"):
        precision = select(
            "Scores as", _PRECISIONS, "precision", help="Rounds scores before they are compared."
        )
        level = number_input("Relevant from grade", 1, 1000, 1, "relevant_from")
        missing = segmented("Judged queries without rows", ("zero", "skip"), "missing")
        empty = segmented("Queries with nothing relevant", ("zero", "skip"), "empty")
    return ScoringOptions(
        precision, "skip" if missing == "skip" else "zero", "skip" if empty == "skip" else "zero", level
    )


def _say_policies(values: Evaluation, scoring: ScoringOptions, who: str) -> None:
    """What is counted and how, always in sight."""
    told = policy_phrases(values.policies.max(), scoring)
    queries = values.scores.index.get_level_values("query_id").nunique()
    here = "" if owner() else " Runs stay on this machine."
    st.caption(", ".join([who, queries_text(queries), *told]) + f".{here}")


def policy_phrases(counts: Mapping[str, int], scoring: ScoringOptions) -> list[str]:
    """Return what was done that is not usual, as phrases; counts are n_missing and n_empty."""
    done = {"zero": "count as 0", "skip": "are left out"}
    level, precision = scoring.relevant_from, scoring.precision
    told = [
        f"{counts['n_missing']:,} without rows {done[scoring.missing]}" if counts["n_missing"] else "",
        f"{counts['n_empty']:,} with nothing relevant {done[scoring.empty]}" if counts["n_empty"] else "",
        f"relevant from grade {level:g}" if level != AS_READ.relevant_from else "",
        f"scores as {precision}" if precision != AS_READ.precision else "",
    ]
    return [one for one in told if one]


def view() -> View:
    """What the sidebar says is shown."""
    return cast("View", st.session_state[_VIEW])


def list_link_parameters(reranker: str, query_id: str) -> dict[str, str]:
    """Query parameters of a link to one list."""
    return link_parameters({"reranker": reranker, "query": query_id})


def link_parameters(choices: dict[str, str]) -> dict[str, str]:
    """Query parameters of a link with these choices, and all others as they are."""
    return {key: st.query_params[key] for key in st.query_params if key not in choices} | choices


def set_open_list(reranker: str | None, query: str | None) -> None:
    """Keep the list that is opened below a chart; None closes it."""
    st.session_state[_OPEN] = (reranker, query)


def get_open_list() -> tuple[str | None, str | None]:
    """Reranker and query of the list opened below a chart."""
    return cast("tuple[str | None, str | None]", st.session_state.get(_OPEN, (None, None)))
