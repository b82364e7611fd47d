"""Which sessions were let in: those whose page was drawn for somebody who may see it."""

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_admitted: dict[str, str] = {}
"""Session → the address signed in, or the session itself where nobody signs in."""


def note_admission(*, is_let_in: bool) -> bool:
    """Note whether the session whose page is drawn was let in; return whether that is new. Ended ones go."""
    context = get_script_run_ctx()
    if context is None or is_let_in == (context.session_id in _admitted):
        return False
    if is_let_in:
        for session in [session for session in _admitted if not _is_active(session)]:
            del _admitted[session]
        email = st.user.get("email") if st.user.get("is_logged_in") else None
        _admitted[context.session_id] = str(email or context.session_id).casefold()
    else:
        _admitted.pop(context.session_id, None)
    return True


def is_admitted(session: str) -> bool:
    """Return whether a session was let in, and its page is open."""
    return session in _admitted and _is_active(session)


def visitor_of(session: str) -> str:
    """Return whose page a session that was let in is: one text for all pages of a person who signed in."""
    return _admitted.get(session, session)


def _is_active(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)
