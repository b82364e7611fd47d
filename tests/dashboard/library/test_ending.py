"""Boards that nobody named end 30 days after they were last opened; a deletion can be undone for a day."""

from datetime import timedelta

import pytest
from boards import QRELS, TIED, board
from libraries import ANNA, BERT, FIRST, OTHER, aged, keep_as, sha, shas, stored

from dashboard.library import store
from dashboard.library.records import STRANGER
from dashboard.library.schema import now
from metrics.errors import LibraryError

VISITOR = f"{STRANGER}0123"


def test_an_unnamed_board_ends_after_30_days_without_a_visit_and_a_named_one_stays(library):
    unnamed, named = library.keep(FIRST, ANNA), keep_as(library, OTHER, ANNA, name="Mine")
    aged(library, 29, opened=True)
    library.end_expired()
    assert len(library.boards(ANNA)) == 2
    aged(library, 31, opened=True)
    library.end_expired()
    assert [one.id for one in library.boards(ANNA)] == [named.id]
    assert library.look(unnamed.id, ANNA) is None
    assert stored(library) == sorted(shas(library, ANNA)) == sorted(file.sha256 for file in OTHER.files)


@pytest.mark.parametrize("visitor", [ANNA, BERT])
def test_whoever_opens_an_unnamed_board_keeps_it_for_30_days_more(library, visitor):
    record = keep_as(library, FIRST, ANNA, access="link")
    aged(library, 29, opened=True)
    library.find(record.id, visitor)
    assert library.find(record.id, ANNA).opened > now() - timedelta(minutes=5)
    assert library.find(record.id, ANNA).version == record.version


def test_a_board_that_cannot_note_a_visit_opens(library, monkeypatch):
    record = library.keep(FIRST)
    aged(library, 2, opened=True)
    monkeypatch.setattr(library.database, "writing", _refused)
    assert library.find(record.id).spec == record.spec


def _refused():
    raise LibraryError("The library: it is read-only.")


def test_what_a_visitor_without_sign_in_named_ends_as_well(library):
    keep_as(library, FIRST, VISITOR, name="Mine")
    aged(library, 29, opened=True)
    library.end_expired()
    assert library.boards(VISITOR)
    aged(library, 31, opened=True)
    library.end_expired()
    assert (library.boards(VISITOR), stored(library)) == ([], [])


def test_a_deletion_can_be_undone_for_a_day(library, monkeypatch):
    record, when = library.keep(FIRST, ANNA), now()
    library.delete(record.id, ANNA)
    monkeypatch.setattr(store, "now", lambda: when + timedelta(hours=23))
    library.end_expired()
    assert [one.id for one in library.boards(ANNA, deleted=True)] == [record.id]
    library.restore(record.id, ANNA)
    assert [entry.read() for entry in library.find(record.id, ANNA).spec.entries]
    library.delete(record.id, ANNA)
    monkeypatch.setattr(store, "now", lambda: when + timedelta(hours=48))
    assert library.boards(ANNA, deleted=True) == []
    with pytest.raises(LibraryError, match="no longer be restored"):
        library.restore(record.id, ANNA)


@pytest.mark.parametrize("action", ["a save", "a deletion", "a start"])
def test_bytes_of_a_board_deleted_a_day_ago_go_with_the_next(library, action):
    first, other = keep_as(library, FIRST, ANNA, name="A"), keep_as(library, OTHER, ANNA, name="B")
    library.delete(first.id, ANNA)
    aged(library, 2, deleted=True)
    assert sha(FIRST) in stored(library)
    if action == "a save":
        library.revise(other.id, other.version, board(x_trec=TIED, qrels_txt=QRELS), ANNA)
    elif action == "a deletion":
        library.delete(library.keep(OTHER, BERT).id, BERT)
    else:
        library.end_expired()
    assert sha(FIRST) not in stored(library)


def test_bytes_stay_as_long_as_a_board_of_anybody_uses_them(library):
    first, other = library.keep(FIRST, ANNA), library.keep(FIRST, BERT)
    library.delete(first.id, ANNA)
    aged(library, 2, deleted=True)
    library.end_expired()
    assert [entry.read() for entry in library.find(other.id, BERT).spec.entries]


def test_a_database_of_sqlite_shrinks_when_bytes_go(library_at, sqlite_url, tmp_path):
    library = library_at(sqlite_url)
    path = tmp_path / "library.db"
    lines = "".join(f"q,d{at},{at * 7919 % 100_003 / 7},{at % 3}\n" for at in range(100_000))
    record = library.keep(board(big_csv=f"query_id,doc_id,score,relevance\n{lines}"))
    library.close()
    before = path.stat().st_size
    library.delete(record.id)
    aged(library, 2, deleted=True)
    library.end_expired()
    library.close()
    assert path.stat().st_size < before / 2
