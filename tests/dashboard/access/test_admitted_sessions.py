from types import SimpleNamespace

import pytest

from dashboard.access import admitted_sessions
from dashboard.access.admitted_sessions import note_admission, visitor_of


@pytest.fixture
def admit(monkeypatch):
    """Have a session drawn for somebody, and let in."""
    monkeypatch.setattr(admitted_sessions, "_admitted", {})
    monkeypatch.setattr(admitted_sessions, "_is_active", lambda _: True)

    def admit(session, user, *, is_let_in=True):
        monkeypatch.setattr(
            admitted_sessions, "get_script_run_ctx", lambda: SimpleNamespace(session_id=session)
        )
        monkeypatch.setattr(admitted_sessions, "st", SimpleNamespace(user=user))
        note_admission(is_let_in=is_let_in)

    return admit


def test_all_pages_of_somebody_who_signed_in_are_one_visitor_s(admit):
    admit("first", {"is_logged_in": True, "email": "Ada@Example.org"})
    admit("second", {"is_logged_in": True, "email": "ada@example.org"})
    admit("third", {"is_logged_in": True, "email": "bob@example.org"})
    assert visitor_of("first") == visitor_of("second") != visitor_of("third")


def test_where_nobody_signs_in_each_page_is_a_visitor_s(admit):
    for session, user in {"first": {}, "second": {"is_logged_in": False, "email": "ada@example.org"}}.items():
        admit(session, user)
        assert visitor_of(session) == session


def test_a_session_that_was_not_let_in_is_nobody_else_s(admit):
    admit("first", {"is_logged_in": True, "email": "ada@example.org"})
    admit("first", {}, is_let_in=False)
    assert visitor_of("first") == "first"
