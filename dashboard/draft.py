"""What was dropped and is not shown yet, and what a table to edit holds: edits outlive the rerun they cause."""

from typing import cast

import streamlit as st

from dashboard.library.boards import BoardSpec

_BASE = "_given_files"
_DRAFT = "_draft"
_SHOWN = "_shown_draft"


def current_draft(base: BoardSpec | None) -> BoardSpec:
    """Return what was dropped, with what the visitor amended since, file by file; None clears it."""
    if base is None:
        for key in (_BASE, _SHOWN, _DRAFT):
            st.session_state.pop(key, None)
        return BoardSpec(())
    if st.session_state.get(_BASE) != base.digest:
        before = st.session_state.get(_DRAFT)
        st.session_state[_BASE], st.session_state[_DRAFT] = base.digest, base.with_choices_of(before)
    return cast("BoardSpec", st.session_state[_DRAFT])


def replace_draft(spec: BoardSpec) -> None:
    """Change what was dropped and is not shown yet, and draw again."""
    st.session_state[_DRAFT] = spec
    st.rerun()


def is_shown_draft(digest: str) -> bool:
    """Return whether this draft was shown: it is not shown again while it lies in the field."""
    return st.session_state.get(_SHOWN) == digest


def mark_shown(digest: str) -> None:
    """Note that a draft is shown from now on."""
    st.session_state[_SHOWN] = digest


def table_draft(key: str, now: str) -> tuple[str, str]:
    """Return the text a table to edit is drawn from, and the key of that table: both stay while it is edited.

    Another text now than `set_table_text` was last given begins a new table.
    """
    base, last, serial = st.session_state.get(f"_{key}", ("", None, 0))
    table = f"_{key}_{serial}"
    if now != last or table not in st.session_state:
        base, table = now, f"_{key}_{serial + 1}"
        st.session_state[f"_{key}"] = now, now, serial + 1
    return base, table


def set_table_text(key: str, now: str) -> None:
    """Keep what the table to edit holds now."""
    base, _, serial = st.session_state[f"_{key}"]
    st.session_state[f"_{key}"] = base, now, serial
