"""What was dropped and is not shown yet."""

from typing import cast

import streamlit as st

from dashboard.library import BoardSpec

_BASE = "_given_files"
_DRAFT = "_draft"
_TRIED = "_tried_draft"


def current_draft(base: BoardSpec | None) -> BoardSpec:
    """Return what was dropped, with what the visitor amended since, file by file; None clears it."""
    if base is None:
        for key in (_BASE, _TRIED, _DRAFT):
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


def is_new_draft(digest: str) -> bool:
    """Return whether this draft was not shown before."""
    before = st.session_state.get(_TRIED)
    st.session_state[_TRIED] = digest
    return digest != before
