"""Whatever happens to the disk or to the database is told plainly, changes nothing, and passes."""

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Semaphore

import library_writer
import postgresql
import psycopg
import pytest
import sqlalchemy as sa
from boards import COARSE, QRELS, STRICT, board
from full_disk import largest_file
from libraries import keep_as, replace_bytes, stored, used

from dashboard.library import database as module
from dashboard.library import store
from dashboard.library.boards import make_board
from dashboard.library.database import url_of
from dashboard.library.schema import uploads
from dashboard.library.store import Library
from dashboard.library.uploads import pack
from metrics.errors import LibraryError

FIRST = board(strict_trec=STRICT, qrels_txt=QRELS)
OTHER = board(coarse_trec=COARSE, qrels_txt=QRELS)
STOPS = 10
"""Times that a server is stopped in each of two ways while boards are saved."""
PATIENCE = 60
UNTOLD = ("sqlalche", "[SQL", "psycopg.", "Traceback", "None)", "Errno")
"""What no message of ours holds."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """What could not be opened is tried again at once."""
    monkeypatch.setattr(module, "_AGAIN", 0)


@contextmanager
def refused(words):
    with pytest.raises(LibraryError, match=words) as caught:
        yield caught
    assert not [word for word in UNTOLD if word in str(caught.value)]


def state(library):
    """All a library tells, and the uploads it stores."""
    records = [library.find(one.id) for one in library.boards()]
    for record in records:
        assert [entry.read() for entry in record.spec.entries]
    return records, library.uploads(), used(library), stored(library)


@contextmanager
def nothing_changes(library):
    before = state(library)
    yield
    assert state(library) == before


# the disk is full


@pytest.mark.parametrize("size", range(4096, 60_000, 8192))
def test_a_database_that_cannot_grow_is_told_and_holds_what_fitted(library_at, sqlite_url, size):
    library = library_at(sqlite_url)
    fitted = {library.keep(FIRST).id}
    with largest_file(size), refused("disk"):
        fitted.update(keep_as(library, OTHER, name=f"{at}" * 300).id for at in range(100))
    assert {one.id for one in library.boards()} == fitted
    assert state(library)
    assert library.keep(OTHER)


# somebody else writes


@contextmanager
def another_writer(url, tmp_path):
    """Another process in the middle of a write, which has ended afterwards."""
    engine = sa.create_engine(url_of(url, tmp_path), isolation_level="AUTOCOMMIT")
    if engine.dialect.name == "sqlite":
        begin, end = sa.text("BEGIN IMMEDIATE"), sa.text("ROLLBACK")
    else:
        writers = module._WRITERS  # noqa: SLF001 another TieScope's
        begin = sa.select(sa.func.pg_advisory_lock(writers))
        end = sa.select(sa.func.pg_advisory_unlock(writers))
    with engine.connect() as connection:
        connection.execute(begin)
        yield
        connection.execute(end)
    engine.dispose()


def test_a_locked_database_is_told_and_can_be_read_meanwhile(open_library, url, tmp_path):
    library = open_library(wait=0.05)
    record = library.keep(FIRST)
    with nothing_changes(library), another_writer(url, tmp_path):
        for change in (
            lambda: library.keep(OTHER),
            lambda: library.revise(record.id, record.version, OTHER),
            lambda: library.rename(record.id, "new"),
            lambda: library.delete(record.id),
            library.end_expired,
        ):
            with refused("another program is writing to it. Try again in a moment"):
                change()
        assert library.find(record.id) == record
    assert library.keep(OTHER)


# it can only be read


def test_a_database_that_can_only_be_read_is_read(library_at, server, postgresql_url):
    record = library_at(postgresql_url).keep(FIRST)
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("ALTER DATABASE migrated SET default_transaction_read_only = on")
    try:
        library = library_at(postgresql_url)
        assert library.find(record.id) == record
        with nothing_changes(library):
            for change in (lambda: library.keep(OTHER), lambda: library.delete(record.id)):
                with refused("it is read-only"):
                    change()
    finally:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute("ALTER DATABASE migrated RESET default_transaction_read_only")


# uploads are damaged


DAMAGE = {
    "cut": lambda data: data[:-7],
    "one bit turned": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "emptied": lambda _: b"",
    "another upload's": lambda _: pack(QRELS.encode()),
    "removed": lambda _: None,
}


def damaged(library, sha256, damage):
    """Damage the bytes that a library stores of an upload."""
    with library.database.reading() as connection:
        data = connection.scalar(sa.select(uploads.c.data).where(uploads.c.sha256 == sha256))
    replace_bytes(library, sha256, damage(data))


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_upload_is_told_by_name_and_the_others_are_read(library, damage):
    record, other = (
        library.keep(FIRST),
        library.keep(board(third_trec=COARSE, grades_txt=QRELS + "q0 0 d1 0\n")),
    )
    run, qrels = record.spec.entries
    damaged(library, run.file.sha256, damage)
    with refused(r"strict\.trec: the library's copy.*Upload the file again"):
        library.find(record.id).spec.entries[0].read()
    assert qrels.read()
    assert [entry.read() for entry in library.find(other.id).spec.entries]
    assert len(library.uploads()) == 4


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_the_same_bytes_again_heal_a_damaged_upload(library, damage):
    record = keep_as(library, FIRST, name="Mine")
    damaged(library, record.spec.entries[0].file.sha256, damage)
    library.keep(FIRST)
    again = library.find(record.id)
    assert [entry.read().table for entry in again.spec.entries] == [one.table for one in FIRST.sources]


def test_a_kept_board_of_a_lost_upload_cannot_be_kept_from_itself(library):
    record = library.keep(FIRST)
    sources = [entry.read() for entry in record.spec.entries]
    damaged(library, record.spec.entries[0].file.sha256, DAMAGE["removed"])
    with refused(r"strict\.trec was removed from the library. Upload it again"):
        keep_as(library, make_board(record.spec, sources), name="again")
    assert len(library.boards()) == 1


# the database is none


NO_DATABASE = {
    "text": (
        lambda path: path.write_bytes(b"no database, but some text\n" * 500),
        "it is not a database. Move it",
    ),
    "a folder": (Path.mkdir, "it cannot be opened. Check the folder"),
}


@pytest.mark.parametrize(("create", "words"), NO_DATABASE.values(), ids=NO_DATABASE)
def test_a_file_that_is_no_database_is_told_and_left_as_it_is(tmp_path, create, words):
    path = tmp_path / "library.db"
    create(path)
    before = path.read_bytes() if path.is_file() else None
    library = Library(tmp_path)
    for operation in (library.boards, library.uploads, lambda: library.keep(OTHER)):
        with refused(words):
            operation()
    assert before is None or path.read_bytes() == before
    shutil.move(path, tmp_path / "moved")
    assert library.boards() == []


def test_a_home_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with refused("The library's folder .*file.*Choose another TIESCOPE_HOME"):
        Library(tmp_path / "file" / "home").boards()


# addresses


WRONG = {
    "nonsense": "is not a database address. Write postgresql://USER:PASSWORD@HOST/DATABASE",
    "postgresql://host:port/d": "is not a database address",
    "mysql://host/d": "names mysql; TieScope supports SQLite and PostgreSQL",
    "https://example.org": "names https",
    "sqlite://": "does not name a file. Write sqlite:////FOLDER/library.db",
    "sqlite:///:memory:": "does not name a file",
}


@pytest.mark.parametrize("url", WRONG)
def test_an_address_that_names_no_database_is_told(library_at, url):
    with refused(WRONG[url]):
        library_at(url)


def test_a_missing_driver_is_told(library_at, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with refused(r'PostgreSQL\'s driver is missing. Install it: pip install "tiescope\[postgresql\]"'):
        library_at("postgresql://127.0.0.1/nothing").boards()


# the server


def test_a_server_that_does_not_answer_is_told_without_its_password(library_at, tmp_path):
    with refused(
        "The library .*cannot be reached. Check TIESCOPE_DATABASE_URL, .* server is running"
    ) as caught:
        library_at(f"postgresql://anna:secret@/boards?host={tmp_path}").boards()
    assert "secret" not in str(caught.value)


def test_a_library_goes_on_when_its_server_is_back(library_at, server, postgresql_url):
    library, late = library_at(postgresql_url), library_at(postgresql_url)
    record = keep_as(library, FIRST, name="before it stopped")
    server.stop()
    try:
        for operation in (library.boards, late.boards, lambda: library.keep(OTHER), library.end_expired):
            with refused("cannot be reached"):
                operation()
    finally:
        server.start()
    assert library.find(record.id) == record
    assert late.find(record.id) == record
    assert library.keep(OTHER)


def test_a_connection_that_breaks_in_a_write_leaves_the_old_state(
    library_at, server, postgresql_url, monkeypatch
):
    library = library_at(postgresql_url)
    library.keep(FIRST)
    insert = store._insert  # noqa: SLF001 the middle of a write

    def breaking(*arguments):
        insert(*arguments)
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'migrated'"
            )

    with nothing_changes(library), monkeypatch.context() as patch:
        patch.setattr(store, "_insert", breaking)
        with refused("cannot be reached"):
            library.keep(OTHER)
    assert library.keep(OTHER)


@pytest.mark.slow
def test_a_server_that_stops_and_starts_during_saves_loses_none_and_keeps_none_half(library_at):
    programs = postgresql.find()
    if programs is None:
        pytest.skip("no PostgreSQL server here: python tests/postgresql.py")
    acknowledged, errors, is_saved, is_over = set(), [], Semaphore(0), Event()

    def save(library):
        for number in count():
            if is_over.is_set():
                return
            try:
                acknowledged.add(library.keep(library_writer.board((number,))).id)
                is_saved.release()
            except LibraryError as error:
                errors.append(str(error))

    with postgresql.serving(programs, is_durable=True) as durable, ThreadPoolExecutor(1) as threads:
        library = library_at(durable.url("postgres"))
        saving = threads.submit(save, library)
        for mode in ("immediate", "fast") * STOPS:
            assert is_saved.acquire(timeout=PATIENCE), errors[-1:]
            durable.stop(mode)
            durable.start()
        is_over.set()
        saving.result()
        assert library.keep(FIRST)
        assert errors
        assert not [error for error in errors if any(word in error for word in UNTOLD)]
        board_ids = {one.id for one in library.boards()}
        assert board_ids >= acknowledged
        assert all(entry.read() for board_id in board_ids for entry in library.find(board_id).spec.entries)
        assert set(stored(library)) == {one.sha256 for one in library.uploads()}
        print(f"\n{len(acknowledged)} saves, {len(errors)} refused, {len(board_ids - acknowledged)} unsaid")
