from datetime import timedelta

from dashboard.library import store
from dashboard.library.schema import now


def test_a_sign_in_that_ended_has_ended_for_every_process_and_another_has_not(library_at, empty_url):
    library, other_process = library_at(empty_url), library_at(empty_url)
    assert not library.has_ended("ada")
    library.end_sign_in("ada")
    library.end_sign_in("ada")
    assert other_process.has_ended("ada")
    assert not other_process.has_ended("bob")


def test_a_sign_in_record_outlives_its_cookie_and_is_then_forgotten(library_at, empty_url, monkeypatch):
    library, later = library_at(empty_url), now()
    library.end_sign_in("ada")
    for days, has_ended in ((31, True), (33, False)):
        monkeypatch.setattr(store, "now", lambda days=days: later + timedelta(days=days))
        library.end_sign_in(f"somebody {days} days later")
        assert library.has_ended("ada") == has_ended
