"""The table of the library: what is ticked in it, and what was done last."""

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
    """What became of uploads that something was done with.

    Attributes:
        message: what was done.
        discarded: those deleted: sha256 → name.
        refused: why others were not.
        label: the board shown, where it went with them.
    """

    message: str
    discarded: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    label: str | None = None


def selected_uploads() -> tuple[str, ...]:
    """Return the uploads that are ticked, by sha256."""
    return cast("tuple[str, ...]", st.session_state.get(_TICKED, ()))


def selectable_table(frame: pd.DataFrame, ids: Sequence[str], **options: Any) -> list[str]:  # noqa: ANN401 passed on
    """Draw a table whose rows can be ticked; they stay so as other rows come and go.

    Args:
        frame: as shown, a row an upload.
        ids: sha256 of each row.
        **options: passed on to the table.

    Returns:
        sha256 of the rows ticked, in the order of the table.
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
    """Return what was done last, until something is ticked again."""
    if selected_uploads():
        st.session_state[_OUTCOME] = None
    return cast("Outcome | None", st.session_state.get(_OUTCOME))


def set_outcome(outcome: Outcome) -> None:
    """Say below the table what was done; nothing is ticked any more."""
    st.session_state[_OUTCOME] = outcome
    _, serial, _ = st.session_state.get(_TABLE, ((), 0, []))
    st.session_state[_TICKED], st.session_state[_TABLE] = (), (None, serial, [])
