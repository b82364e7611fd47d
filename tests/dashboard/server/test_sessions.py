import asyncio
from types import SimpleNamespace

import pytest
from asgi import finish
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard import streamlit_internals
from dashboard.server import connections
from dashboard.streamlit_internals import forget_expired_sessions, forget_strangers


def test_a_look_that_fails_is_logged_once_and_followed_by_others(monkeypatch, caplog):
    outcomes = iter([OSError("first"), OSError("second"), asyncio.CancelledError()])

    def fail():
        raise next(outcomes)

    monkeypatch.setattr(connections, "_SECONDS", 0)
    monkeypatch.setattr(connections, "forget_expired_sessions", fail)
    with pytest.raises(asyncio.CancelledError):
        finish(connections.forget_repeatedly())
    assert len(caplog.records) == 1


def test_streamlit_keeps_closed_sessions_where_they_are_looked_for(monkeypatch):
    storage = MemorySessionStorage(ttl_seconds=60)
    manager = WebsocketSessionManager(storage, None, None, lambda: None)
    monkeypatch.setattr(
        streamlit_internals.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager)
    )
    forget_expired_sessions()
    forget_strangers()
    used = {"shutdown", "session_state", "flush_browser_queue", "matches_user_info"}
    assert used <= set(dir(AppSession))
