"""Choose the stored evaluation to show, and its tie order."""

from dataclasses import dataclass

import streamlit as st

from dashboard.access import server_files
from dashboard.boards import leave_board, owner
from dashboard.charts.palette import Palette
from dashboard.choices import policy_phrases, select_order
from dashboard.controls import PERSISTENT, get_value, prepare, record, set_value
from dashboard.escaping import escape_markdown
from dashboard.library.audit import record_event
from dashboard.visitor import theme
from metrics.errors import TieScopeError
from metrics.scale.stored import Stored
from metrics.studies.stored_summary import LEADERBOARD_TREATMENTS
from metrics.support.wording import count_of

_KEY = "results"
_NEXT = "_next_results"
_SESSION_LABELS = "_known_results"
_AUDITED = "_audited_results"


@dataclass(frozen=True)
class Results:
    """A stored evaluation, the treatment of ties for the traditional score, and the colours of the theme."""

    stored: Stored
    traditional: str
    palette: Palette


def choose_results() -> Results | None:
    """Draw the choice of a stored evaluation and return it, None without one."""
    leave_board()
    if next_label := st.session_state.pop(_NEXT, None):
        set_value(_KEY, next_label)
    label = _choose_label(_labels(get_value(_KEY)))
    try:
        path = server_files.find_results(label) if label else None
        stored = None if path is None else server_files.open_results(path)
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return None
    if stored is None:
        return None
    if st.session_state.get(_AUDITED) != label:
        st.session_state[_AUDITED] = label
        record_event("opened", owner(), path=label or "")
    orders = [name for name in stored.ties if name not in ("expected", "std")]
    if not orders or not set(LEADERBOARD_TREATMENTS) <= set(stored.ties):
        needed = " ".join(f"--ties {name}" for name in ("input", *LEADERBOARD_TREATMENTS))
        st.error(
            f"This page needs tie orders that the file was not scored under. Score the file with {needed}.",
            icon=":material/error:",
        )
        return None
    traditional = select_order(orders, "results_order")
    counts = count_of(len(stored.rerankers), "reranker"), count_of(stored.n_lists, "list")
    st.caption(", ".join([*counts, *policy_phrases(stored.policies.sum(), stored.options)]) + ".")
    return Results(stored, traditional, theme())


def _labels(requested: str) -> list[str]:
    opened_labels = st.session_state.setdefault(_SESSION_LABELS, [])
    is_new = requested not in (*opened_labels, *server_files.command_results())
    if requested and is_new and server_files.find_results(requested):
        opened_labels.append(requested)
    return [
        *server_files.command_results(),
        *(label for label in opened_labels if server_files.find_results(label)),
    ]


def _choose_label(labels: list[str]) -> str | None:
    """Draw the choice; the first evaluation that the command named is the default, which the link omits."""
    default = next(iter(server_files.command_results()), None)
    prepare(_KEY, lambda texts: texts[-1], lambda label: label in labels, default)
    if not labels:
        return None
    index = None if default is None else labels.index(default)
    return record(_KEY, st.selectbox("Results", labels, index, key=_KEY, **PERSISTENT), default)


def open_results(label: str) -> None:
    """Show a stored evaluation, and rerun the page."""
    st.session_state[_NEXT] = label
    st.rerun()
