"""The stored evaluation that is shown: which one, and what counts as traditional in it."""

from dataclasses import dataclass
from typing import cast

import streamlit as st

from dashboard.access import server_files
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.session.boards import note_unknown_label
from dashboard.session.controls import reset_unless_valid, segmented, select, theme
from dashboard.session.view import ORDER_HELP, policy_phrases
from metrics.errors import TieScopeError
from metrics.scale.stored import Stored
from metrics.studies.gaps.stored_summary import NEEDED

_KEY = "results"
_NEXT = "_next_results"
_KNOWN = "_known_results"
_SHOWN = "_shown_results"
_FEW = 12
"""Measures that stand side by side."""


@dataclass(frozen=True)
class Results:
    """A stored evaluation as it is shown.

    Attributes:
        stored: the evaluation.
        traditional: the treatment taken as the traditional one.
        palette: colours of the theme.
    """

    stored: Stored
    traditional: str
    palette: Palette


def choose_results() -> None:
    """Draw the choice of what is open, and keep it for the page."""
    st.session_state[_SHOWN] = None
    if wanted := st.session_state.pop(_NEXT, None):
        if _KEY not in st.session_state:  # a control not drawn yet does not tell the link
            st.query_params[_KEY] = wanted
        st.session_state[_KEY] = wanted
    labels = _labels(st.session_state.get(_KEY, st.query_params.get(_KEY)))
    label = _pick(labels) if labels else None
    try:
        path = server_files.find_results(label) if label else None
        stored = None if path is None else server_files.open_results(path)
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return
    if stored is None:
        return
    orders = [name for name in stored.ties if name not in ("expected", "std")]
    if not orders or not set(NEEDED) <= set(stored.ties):
        needed = " ".join(f"--ties {name}" for name in ("input", *NEEDED))
        st.error(f"It lacks treatments that are shown here. Score it with {needed}.", icon=":material/error:")
        return
    traditional = select("Traditional order", orders, "results_order", help=ORDER_HELP)
    _describe(stored)
    st.session_state[_SHOWN] = Results(stored, traditional, theme())


def _labels(asked: str | None) -> list[str]:
    """What may be chosen: what the command named, and what this session opened that is still there."""
    known = st.session_state.setdefault(_KNOWN, [])
    if asked and asked not in known and asked not in server_files.command_results():
        if server_files.find_results(asked):
            known.append(asked)
        else:
            note_unknown_label(asked)
    return [*server_files.command_results(), *(label for label in known if server_files.find_results(label))]


def _pick(labels: list[str]) -> str | None:
    """One of them. What the command named first needs no place in the link; what was opened by path does."""
    usual = next(iter(server_files.command_results()), None)
    reset_unless_valid(_KEY, lambda value: value in labels, usual)
    at = None if usual is None else labels.index(usual)
    return st.selectbox("Results", labels, at, key=_KEY, bind="query-params", persist_state="session")


def _describe(stored: Stored) -> None:
    """How much it is, and how it was scored."""
    told = [
        f"{count:,} {what}{'s' * (count != 1)}"
        for count, what in ((len(stored.rerankers), "reranker"), (stored.n_lists, "list"))
    ]
    told += policy_phrases(stored.policies.sum(), stored.options)
    told += (
        [f"ties split by {escape_markdown(', '.join(stored.tiebreak_by))} first"] if stored.tiebreak_by else []
    )
    st.caption(", ".join(told) + ".")


def shown_results() -> Results | None:
    """The stored evaluation that is escape_markdown, if any is."""
    return cast("Results | None", st.session_state.get(_SHOWN))


def results_measure(stored: Stored) -> str:
    """One of the measures of a stored evaluation."""
    choose = segmented if len(stored.measures) <= _FEW else select
    return choose("Measure", stored.measures, "results_measure")


def open_results(label: str) -> None:
    """Show a stored evaluation from now on, and draw again."""
    st.session_state[_NEXT] = label
    st.rerun()
