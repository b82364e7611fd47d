import asyncio
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from asgi import finish
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state import SessionState

from dashboard import streamlit_internals
from dashboard.server import connections
from dashboard.streamlit_internals import forget_expired_sessions, forget_strangers


def test_a_session_whose_time_is_over_is_forgotten_though_nobody_comes(monkeypatch):
    session = Mock(id="closed")
    store_closed(monkeypatch, session)
    for _ in range(2):
        forget_expired_sessions()
        session.shutdown.assert_called_once_with()


def test_a_forgotten_session_holds_nothing_though_streamlit_keeps_it_at_hand(monkeypatch):
    state, fragments = SessionState(), Mock()
    state["board"] = "a million rows"
    session = Mock(id="closed", session_state=state, _fragment_storage=fragments)
    store_closed(monkeypatch, session)
    forget_expired_sessions()
    session.shutdown.assert_called_once_with()  # Streamlit drops the uploads of the session
    session.flush_browser_queue.assert_called_once_with()
    fragments.clear.assert_called_once_with()
    assert list(state.filtered_state) == []


def test_of_closed_sessions_those_of_strangers_are_dropped_at_once(monkeypatch):
    stranger, ada = (
        Mock(id=name, matches_user_info=lambda user, own=own: user == own)
        for name, own in {"stranger": {}, "ada": {"email": "ada@example.org"}}.items()
    )
    storage = store_closed(monkeypatch, stranger, ada, seconds=60)
    forget_strangers()
    assert [information.session for information in storage.list()] == [ada]
    stranger.shutdown.assert_called_once_with()  # Streamlit closes its event loop, of three files
    ada.shutdown.assert_not_called()


def store_closed(monkeypatch, *closed, seconds=0):
    """Have Streamlit keep sessions that are closed, and over after so many seconds; returns where."""
    storage = MemorySessionStorage(ttl_seconds=seconds)
    for session in closed:
        storage.save(SimpleNamespace(session=session))
    instance = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: instance)
    return storage


def test_a_look_that_fails_is_logged_once_and_followed_by_others(monkeypatch, caplog):
    outcomes = iter([OSError("first"), OSError("second"), asyncio.CancelledError()])

    def fail():
        raise next(outcomes)

    monkeypatch.setattr(connections, "_SECONDS", 0)
    monkeypatch.setattr(connections, "forget_expired_sessions", fail)
    with pytest.raises(asyncio.CancelledError):
        finish(connections.forget_repeatedly())
    assert len(caplog.records) == 1
