"""Which sessions were let in: those whose page was drawn for somebody who may see it."""

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_admitted: set[str] = set()


def note_admission(*, is_let_in: bool) -> bool:
    """Note whether the session whose page is drawn was let in; return whether that is new. Ended ones go."""
    context = get_script_run_ctx()
    if context is None or is_let_in == (context.session_id in _admitted):
        return False
    if is_let_in:
        _admitted.difference_update([session for session in _admitted if not _is_active(session)])
        _admitted.add(context.session_id)
    else:
        _admitted.discard(context.session_id)
    return True


def is_admitted(session: str) -> bool:
    """Return whether a session was let in, and its page is open."""
    return session in _admitted and _is_active(session)


def _is_active(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)
