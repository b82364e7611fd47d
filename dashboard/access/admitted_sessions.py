"""Which sessions were let in: those whose page was drawn for somebody who may see it."""

from dashboard.streamlit_internals import is_active_session, session_id

_admitted: dict[str, str] = {}
"""Session → the address signed in; an empty text where nobody signs in."""


def note_admission(address: str | None) -> bool:
    """Note for whom the page of this session is drawn; return whether that is new. Ended sessions go.

    Args:
        address: who is signed in; an empty text where nobody signs in; None: the session is not let in.
    """
    own = session_id()
    if own is None or _admitted.get(own) == address:
        return False
    if address is None:
        _admitted.pop(own, None)
    else:
        for session in [session for session in list(_admitted) if not is_active_session(session)]:
            _admitted.pop(session, None)
        _admitted[own] = address
    return True


def admitted_address(session: str) -> str | None:
    """Return for whom a session was let in, an empty text where nobody signs in; None where it was not."""
    return _admitted.get(session) if is_active_session(session) else None


def is_admitted(session: str) -> bool:
    """Return whether a session was let in, and its page is open."""
    return admitted_address(session) is not None


def visitor_of(session: str) -> str:
    """Return whose page a session that was let in is: one text for all pages of a person who signed in."""
    return _admitted.get(session) or session
