"""Remember uploads not shown yet, uploads selected in the library, and tables being edited, over reruns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakValueDictionary

import pandas as pd
import streamlit as st

from dashboard.library.boards import BoardSpec
from dashboard.streamlit_internals import is_active_session, session_id
from dashboard.visitor import visitor_id

_BASE = "_given_files"
_DRAFT = "_draft"
_SHOWN_DRAFT = "_shown_draft"
_INTERRUPTED = "_interrupted_upload"
RESUMED = "_resumed_upload"
"""Key: whether the visitor asked to read the upload of a closed page."""
_unread: WeakValueDictionary[tuple[str, str | None], BoardSpec] = WeakValueDictionary()
"""Visitor and session → upload that the session holds but has not shown."""


def current_draft(base: BoardSpec) -> BoardSpec:
    """Return an upload with the changes made to its files since."""
    before: BoardSpec | None = st.session_state.get(_BASE)
    if before is None or before.key != base.key:
        draft = base.with_choices_of(st.session_state.get(_DRAFT))
        st.session_state[_BASE], st.session_state[_DRAFT] = base, draft
        _unread[visitor_id(), session_id()] = base
    return cast("BoardSpec", st.session_state[_DRAFT])


def clear_draft() -> None:
    """Forget the upload that is not shown yet."""
    for key in (_BASE, _SHOWN_DRAFT, _DRAFT):
        st.session_state.pop(key, None)


def interrupted_upload() -> BoardSpec | None:
    """Return an upload that was not shown when the visitor closed or reloaded its page."""
    for (visitor, session), spec in list(_unread.items()):
        if visitor == visitor_id() and session not in (None, session_id()) and not is_active_session(session):
            st.session_state[_INTERRUPTED] = spec
            _unread.pop((visitor, session), None)
    return cast("BoardSpec | None", st.session_state.get(_INTERRUPTED))


def forget_interrupted() -> None:
    """Forget the upload of a closed page."""
    for key in (_INTERRUPTED, RESUMED):
        st.session_state.pop(key, None)


def replace_draft(spec: BoardSpec) -> None:
    """Change the upload that is not shown yet, and rerun the page."""
    st.session_state[_DRAFT] = spec
    st.rerun()


def is_shown_draft(digest: str) -> bool:
    """Return whether an upload was shown already."""
    return st.session_state.get(_SHOWN_DRAFT) == digest


def mark_shown(digest: str) -> None:
    """Mark an upload as shown."""
    st.session_state[_SHOWN_DRAFT] = digest
    _unread.pop((visitor_id(), session_id()), None)
    forget_interrupted()


def table_draft(key: str, now: str) -> tuple[str, str]:
    """Return the text and the key of a table to edit, both stable while the visitor edits it.

    A text other than the last one given to `set_table_text` starts a new table.
    """
    base, last, serial = st.session_state.get(f"_{key}", ("", None, 0))
    table = f"_{key}_{serial}"
    if now != last or table not in st.session_state:
        base, table = now, f"_{key}_{serial + 1}"
        st.session_state[f"_{key}"] = now, now, serial + 1
    return base, table


def set_table_text(key: str, now: str) -> None:
    """Note the current text of the table to edit."""
    base, _, serial = st.session_state[f"_{key}"]
    st.session_state[f"_{key}"] = base, now, serial


_TICKED = "_ticked"
_TABLE = "_ticked_as_drawn"
_OUTCOME = "_outcome"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a change to uploads.

    Attributes:
        message: what was done.
        discarded: IDs of deleted boards.
        refused: reasons why other uploads were not changed.
        label: the board shown, if it was deleted along with them.
    """

    message: str
    discarded: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    label: str | None = None


def selected_uploads() -> tuple[str, ...]:
    """Return the SHA-256 of the selected uploads."""
    return cast("tuple[str, ...]", st.session_state.get(_TICKED, ()))


def selectable_table(frame: pd.DataFrame, ids: Sequence[str], **options: Any) -> list[str]:  # noqa: ANN401 passed on
    """Draw a table with selectable rows and return the SHA-256 of the selected ones.

    The selection survives as rows come and go. `ids` has the SHA-256 of each row.
    """
    table_ids, serial, selected_rows = st.session_state.get(_TABLE, ((), 0, []))
    if table_ids != tuple(ids):
        selected = selected_uploads()
        table_ids, serial = tuple(ids), serial + 1
        selected_rows = [row for row, sha256 in enumerate(ids) if sha256 in selected]
        st.session_state[_TABLE] = table_ids, serial, selected_rows
    event = st.dataframe(
        frame,
        key=f"uploads-{serial}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": selected_rows, "columns": [], "cells": []}},
        **options,
    )
    rows = sorted(row for row in event["selection"]["rows"] if row < len(ids))
    st.session_state[_TICKED] = tuple(ids[row] for row in rows)
    return [ids[row] for row in rows]


def last_outcome() -> Outcome | None:
    """Return the last outcome, until an upload is selected again."""
    if selected_uploads():
        st.session_state[_OUTCOME] = None
    return cast("Outcome | None", st.session_state.get(_OUTCOME))


def set_outcome(outcome: Outcome) -> None:
    """Show an outcome below the table, and clear the selection."""
    st.session_state[_OUTCOME] = outcome
    _, serial, _ = st.session_state.get(_TABLE, ((), 0, []))
    st.session_state[_TICKED], st.session_state[_TABLE] = (), (None, serial, [])
