from types import SimpleNamespace

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard import streamlit_internals
from dashboard.streamlit_internals import forget_expired_sessions, forget_strangers


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
