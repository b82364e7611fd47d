"""The table of the library: what is ticked in it, and what was deleted from it just now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

_TICKED = "_ticked"
_DRAWN = "_ticked_as_drawn"
_DISCARDED = "_discarded"


@dataclass(frozen=True)
class Discarded:
    """What became of uploads that were to be deleted.

    Attributes:
        names: those deleted, by sha256.
        refused: why others were not.
        label: the board shown, where it went with them.
    """

    names: dict[str, str]
    refused: tuple[str, ...] = ()
    label: str | None = None


def ticked() -> tuple[str, ...]:
    """Uploads that are ticked, by sha256."""
    return cast("tuple[str, ...]", st.session_state.get(_TICKED, ()))


def tick(frame: pd.DataFrame, ids: Sequence[str], **more: Any) -> list[str]:  # noqa: ANN401 passed on
    """A table whose rows can be ticked; they stay so as other rows come and go.

    Args:
        frame: as shown, a row an upload.
        ids: sha256 of each row.
        more: passed on to the table.

    Returns:
        sha256 of the rows ticked, in the order of the table.
    """
    shown, serial, at = st.session_state.get(_DRAWN, ((), 0, []))
    if shown != tuple(ids):
        before = ticked()
        shown, serial, at = tuple(ids), serial + 1, [row for row, one in enumerate(ids) if one in before]
        st.session_state[_DRAWN] = shown, serial, at
    event = st.dataframe(
        frame,
        key=f"uploads-{serial}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": at, "columns": [], "cells": []}},
        **more,
    )
    rows = sorted(row for row in event["selection"]["rows"] if row < len(ids))
    st.session_state[_TICKED] = tuple(ids[row] for row in rows)
    return [ids[row] for row in rows]


def untick() -> None:
    """Tick nothing, from the next drawing on."""
    _, serial, _ = st.session_state.get(_DRAWN, ((), 0, []))
    st.session_state[_TICKED], st.session_state[_DRAWN] = (), (None, serial, [])


def discarded() -> Discarded | None:
    """What was deleted just now."""
    return cast("Discarded | None", st.session_state.get(_DISCARDED))


def remember(discarded: Discarded | None) -> None:
    """Say what was deleted just now; None once it is no longer to be told."""
    st.session_state[_DISCARDED] = discarded
