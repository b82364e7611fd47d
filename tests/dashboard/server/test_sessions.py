from types import SimpleNamespace

from streamlit.runtime.memory_session_storage import MemorySessionStorage

from dashboard.server import sessions


def test_a_session_whose_time_is_over_is_forgotten_though_nobody_comes(monkeypatch):
    storage = MemorySessionStorage(ttl_seconds=0)
    storage.save(SimpleNamespace(session=SimpleNamespace(id="closed")))
    instance = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
    monkeypatch.setattr(sessions.runtime, "get_instance", lambda: instance)
    assert sessions.forget_expired() == 1
    assert sessions.forget_expired() == 0
