"""Remember uploads that are not shown yet, over reruns and reloads."""

from typing import cast
from weakref import WeakValueDictionary

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


def current_draft(base: BoardSpec, *, keep: bool) -> BoardSpec:
    """Return an upload with the changes made to its files since; one that is not kept ends with its session."""
    before: BoardSpec | None = st.session_state.get(_BASE)
    if before is None or before.key != base.key:
        draft = base.with_choices_of(st.session_state.get(_DRAFT))
        st.session_state[_BASE], st.session_state[_DRAFT] = base, draft
        if keep:
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
