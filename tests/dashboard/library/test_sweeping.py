"""What nobody needs goes, in time; what somebody can bring back stays until then."""

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from boards import COARSE, QRELS, STRICT, TIED, board
from libraries import used

from dashboard.library import store
from dashboard.library.records import STRANGER
from dashboard.library.schema import boards, now, shelves
from dashboard.library.store import Library
from metrics.errors import LibraryError

ANNA, BERT, VISITOR = "anna@example.org", "bert@example.org", f"{STRANGER}0a1b"
FIRST = board(strict_trec=STRICT, qrels_txt=QRELS)
OTHER = board(coarse_trec=COARSE, qrels_txt=QRELS)
THIRD = board(flat_trec=TIED, qrels_txt=QRELS)
SHA = FIRST.spec.entries[0].file.sha256


@pytest.fixture
def aged(database):
    """Have something have happened so many days ago."""

    def set_back(days, *columns, owner=None):
        with database.writing() as connection:
            for column in columns:
                condition = (
                    column.is_not(None)
                    if owner is None
                    else column.is_not(None) & (column.table.c.owner == owner)
                )
                values = {column.name: now() - timedelta(days)}
                connection.execute(column.table.update().where(condition).values(values))

    return set_back


def on_disk(home):
    return {path.stem for path in (home / "uploads").glob("*/*.*")}


def shas(of):
    return {entry.file.sha256 for entry in of.spec.entries}


# strangers


def test_a_sweep_removes_what_strangers_left(library, aged, tmp_path):
    library.keep(FIRST, VISITOR, name="Mine")
    library.keep(OTHER, ANNA)
    aged(31, boards.c.changed, shelves.c.added)
    library.sweep()
    assert (library.boards(VISITOR), library.uploads(VISITOR)) == ([], [])
    assert len(library.boards(ANNA)) == 1
    assert on_disk(tmp_path / "home") == shas(OTHER)


def test_a_sweep_leaves_what_strangers_lately_kept(library, aged):
    record = library.keep(FIRST, VISITOR)
    aged(29, boards.c.changed, shelves.c.added)
    library.sweep()
    assert replace(library.find(record.id, VISITOR), changed=record.changed) == record
    assert len(library.uploads(VISITOR)) == 2


def test_a_board_a_stranger_still_changes_keeps_its_files(library, aged):
    record = library.keep(FIRST, VISITOR)
    aged(31, shelves.c.added)
    library.sweep()
    assert [entry.read() for entry in library.find(record.id, VISITOR).spec.entries]


# when


@pytest.fixture
def days_later(monkeypatch):
    """Let so many days go by."""

    def advance(days):
        monkeypatch.setattr(store, "now", lambda: now() + timedelta(days))

    return advance


@pytest.fixture
def sweeps(monkeypatch):
    """How often was swept."""
    calls, sweep = [], Library.sweep
    monkeypatch.setattr(Library, "sweep", lambda self: (calls.append(1), sweep(self)))
    return calls


def test_a_library_that_is_written_to_is_swept_once_a_day(library, days_later, sweeps, aged):
    library.delete(library.keep(FIRST).id)
    library.discard(SHA)
    aged(31, boards.c.deleted, shelves.c.deleted)
    library.keep(OTHER)
    assert sweeps == []
    days_later(1.1)
    library.keep(OTHER, name="again")
    library.keep(OTHER, name="and again")
    assert sweeps == [1]
    assert used(library) == sum(one.kept_size for one in library.uploads())
    days_later(2.3)
    library.keep(OTHER, name="the day after")
    assert sweeps == [1, 1]


def test_a_board_is_kept_though_the_daily_sweep_fails(library, days_later, monkeypatch):
    monkeypatch.setattr(Library, "sweep", lambda _: _raise(LibraryError("The library: locked.")))
    days_later(2)
    record = library.keep(FIRST)
    assert library.find(record.id) == record


def _raise(error):
    raise error


# gone for good


def test_what_was_deleted_too_long_ago_is_not_offered_and_not_brought_back(library, aged):
    record = library.keep(FIRST)
    library.delete(record.id)
    library.discard(SHA)
    aged(29, boards.c.deleted, shelves.c.deleted)
    assert [one.id for one in library.boards(deleted=True)] == [record.id]
    assert [one.sha256 for one in library.uploads(deleted=True)] == [SHA]
    aged(31, boards.c.deleted, shelves.c.deleted)
    assert (library.boards(deleted=True), library.uploads(deleted=True)) == ([], [])
    with pytest.raises(LibraryError, match=r"This board can no longer be restored\."):
        library.restore(record.id)
    with pytest.raises(LibraryError, match=r"This upload can no longer be restored\."):
        library.reclaim(SHA)
    assert (library.boards(), [one.sha256 for one in library.uploads()]) == ([], list(shas(FIRST) - {SHA}))


# room


def test_no_room_is_made_of_a_board_that_somebody_else_can_restore(open_library):
    library = open_library()
    record = library.keep(OTHER, BERT, name="Bert's", access="edit")
    library.revise(record.id, 1, FIRST, ANNA)  # so that the run is in Anna's library alone
    library.delete(record.id, BERT)
    library.set_eviction(ANNA, evict=True)
    tight = open_library(most=used(library))
    with pytest.raises(LibraryError, match="The library is full"):
        tight.keep(THIRD, ANNA)
    library.restore(record.id, BERT)
    assert [entry.read() for entry in library.find(record.id, BERT).spec.entries]


# what was refused


def test_a_change_that_is_refused_leaves_no_file_behind(library, tmp_path, database):
    record = library.keep(FIRST, name="Mine")
    before = on_disk(tmp_path / "home")
    for change in (
        lambda: library.revise(record.id, record.version + 1, OTHER),
        lambda: library.revise(record.id, record.version, OTHER, BERT),
    ):
        with pytest.raises(LibraryError):
            change()
        assert on_disk(tmp_path / "home") == before
    with database.reading() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(shelves)) == 2


def test_a_file_is_in_its_place_before_it_is_committed(library, tmp_path, monkeypatch):
    settle = store.UploadFolder.place

    def fail(*arguments):
        settle(*arguments)
        raise LibraryError("The power failed.")

    monkeypatch.setattr(store.UploadFolder, "place", fail)
    with pytest.raises(LibraryError, match="power"):
        library.keep(FIRST)
    assert on_disk(tmp_path / "home") & shas(FIRST)
    assert (library.boards(), library.uploads()) == ([], [])
    library.sweep()
    assert on_disk(tmp_path / "home") == set()


def test_a_file_of_an_earlier_database_stays_though_keeping_it_again_fails(library, tmp_path, monkeypatch):
    stored = library.keep(FIRST).spec.entries[0].file
    content = stored.data.read_bytes()
    other = Library(tmp_path / "other")
    path = tmp_path / "other" / "uploads" / SHA[:2] / stored.data.name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with monkeypatch.context() as patch:
        patch.setattr(store.UploadFolder, "place", lambda *_: _raise(LibraryError("The power failed.")))
        with pytest.raises(LibraryError, match="power"):
            other.keep(FIRST)
    other.sweep()
    assert path.read_bytes() == content
    other.keep(FIRST)
    assert path.read_bytes() == content
    other.close()


def test_an_upload_that_is_kept_again_before_a_sweep_stays(library, aged, monkeypatch):
    record = library.keep(FIRST)
    library.delete(record.id)
    library.discard(SHA)
    aged(31, boards.c.deleted, shelves.c.deleted)
    with monkeypatch.context() as patch:
        patch.setattr(store.UploadFolder, "remove", lambda *_: False)
        library.sweep()
    assert [upload.sha256 for upload in library.uploads()] == list(shas(FIRST) - {SHA})
    again = library.keep(FIRST)
    library.sweep()
    assert [entry.read() for entry in library.find(again.id).spec.entries]
