import pytest

from dashboard.access import admitted
from dashboard.access.admitted import note_admission, visitor_of


@pytest.fixture
def admit(monkeypatch):
    """Have a session drawn for an address, an empty text where nobody signs in, None: not let in."""
    monkeypatch.setattr(admitted, "_admitted", {})
    monkeypatch.setattr(admitted, "is_active_session", lambda _: True)

    def admit(session, address):
        monkeypatch.setattr(admitted, "session_id", lambda: session)
        note_admission(address)

    return admit


def test_all_pages_of_somebody_who_signed_in_are_one_visitor_s(admit):
    admit("first", "ada@example.org")
    admit("second", "ada@example.org")
    admit("third", "bob@example.org")
    assert visitor_of("first") == visitor_of("second") != visitor_of("third")


def test_where_nobody_signs_in_each_page_is_a_visitor_s(admit):
    for session in ("first", "second"):
        admit(session, "")
        assert visitor_of(session) == session


def test_a_session_that_was_not_let_in_is_nobody_else_s(admit):
    admit("first", "ada@example.org")
    admit("first", None)
    assert visitor_of("first") == "first"
