"""Remember uploads not shown yet, uploads selected in the library, and tables being edited, over reruns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

from dashboard.library.boards import BoardSpec

_BASE = "_given_files"
_DRAFT = "_draft"
_SHOWN_DRAFT = "_shown_draft"


def current_draft(base: BoardSpec | None) -> BoardSpec:
    """Return an upload with the changes made to its files since; None clears it."""
    if base is None:
        for key in (_BASE, _SHOWN_DRAFT, _DRAFT):
            st.session_state.pop(key, None)
        return BoardSpec(())
    if st.session_state.get(_BASE) != base.key:
        before = st.session_state.get(_DRAFT)
        st.session_state[_BASE], st.session_state[_DRAFT] = base.key, base.with_choices_of(before)
    return cast("BoardSpec", st.session_state[_DRAFT])


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
