"""Remember uploads that are not shown yet and tables being edited, over the reruns they cause."""

from typing import cast

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
    if st.session_state.get(_BASE) != base.digest:
        before = st.session_state.get(_DRAFT)
        st.session_state[_BASE], st.session_state[_DRAFT] = base.digest, base.with_choices_of(before)
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
