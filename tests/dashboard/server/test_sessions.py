import asyncio
from types import SimpleNamespace

import pytest
from asgi import finish
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from dashboard.server import sessions


def test_a_session_whose_time_is_over_is_forgotten_though_nobody_comes(monkeypatch):
    storage = MemorySessionStorage(ttl_seconds=0)
    storage.save(SimpleNamespace(session=SimpleNamespace(id="closed")))
    instance = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
    monkeypatch.setattr(sessions.runtime, "get_instance", lambda: instance)
    assert sessions.forget_expired() == 1
    assert sessions.forget_expired() == 0


def test_a_look_that_fails_is_logged_once_and_followed_by_others(monkeypatch, caplog):
    outcomes = iter([OSError("first"), OSError("second"), asyncio.CancelledError()])

    def fail():
        raise next(outcomes)

    monkeypatch.setattr(sessions, "_SECONDS", 0)
    monkeypatch.setattr(sessions, "forget_expired", fail)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(sessions.forget_repeatedly())
    assert len(caplog.records) == 1


def test_what_ended_sessions_held_is_given_back_to_the_system(monkeypatch):
    numbers_ended, given_back = iter([0, 2]), []

    def forget():
        number = next(numbers_ended, None)
        if number is None:
            raise asyncio.CancelledError
        return number

    monkeypatch.setattr(sessions, "_SECONDS", 0)
    monkeypatch.setattr(sessions, "forget_expired", forget)
    monkeypatch.setattr(sessions, "give_back_memory", lambda: given_back.append("all"))
    with pytest.raises(asyncio.CancelledError):
        finish(sessions.forget_repeatedly())
    assert given_back == ["all"]
