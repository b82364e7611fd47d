"""Choose the stored evaluation to show, and its tie order."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard.boards import leave_board, owner
from dashboard.cache import cached, file_version
from dashboard.charts.palette import Palette
from dashboard.choices import policy_phrases, select_order
from dashboard.controls import choose, select
from dashboard.escaping import escape_markdown
from dashboard.library.audit import record_event
from dashboard.settings import OPEN
from dashboard.visitor import theme
from metrics.errors import TieScopeError
from metrics.scale.stored import Stored
from metrics.studies.stored_summary import LEADERBOARD_TREATMENTS
from metrics.support.wording import count_of

_KEY = "results"
_AUDITED = "_audited_results"


@dataclass(frozen=True)
class Results:
    """A stored evaluation, the treatment of ties for the traditional score, and the colours of the theme."""

    stored: Stored
    traditional: str
    palette: Palette


def command_results() -> dict[str, Path]:
    """Return label → file of the command line's stored evaluations."""
    results: dict[str, Path] = {}
    for path in map(Path, json.loads(os.environ.get(OPEN) or "{}").get("stored", [])):
        results[path.name if path.name not in results else f"{path.name} ({len(results) + 1})"] = path
    return results


@cached(max_entries=32)
def _open_stored(path: str, *_changed: int) -> Stored:
    return Stored.open(path)


def choose_results() -> Results | None:
    """Draw the choice of a stored evaluation and return it, None without one."""
    leave_board()
    files = command_results()
    label = choose(_KEY, next(iter(files), ""), files.__contains__)
    if not label:
        return None
    select("Results", list(files), _KEY)
    try:
        stored = _open_stored(*file_version(files[label]))
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return None
    if st.session_state.get(_AUDITED) != label:
        st.session_state[_AUDITED] = label
        record_event("opened", owner(), path=label)
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
