"""Remember the selected uploads of the library's table and the last change made to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pandas as pd
import streamlit as st

_TICKED = "_ticked"
_TABLE = "_ticked_as_drawn"
_OUTCOME = "_outcome"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a change to uploads.

    Attributes:
        message: what was done.
        discarded: deleted uploads, SHA-256 → name.
        refused: reasons why other uploads were not changed.
        label: the board shown, if it was deleted along with them.
    """

    message: str
    discarded: Mapping[str, str] = field(default_factory=dict)
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
