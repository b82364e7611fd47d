"""Nothing is lost, whatever becomes of the database: seen from the library, the app and the disk."""

import re
import shutil
import sqlite3
import subprocess
from contextlib import closing

import postgresql
import psycopg
import pytest
from boards import COARSE, QRELS, STRICT, board
from libraries import as_read, keep_as
from opening import opened

from dashboard import cache
from dashboard.escaping import without_folders
from dashboard.library.store import Library
from dashboard.settings import INSECURE
from metrics import evaluate
from metrics.errors import LibraryError

TABLE = "model,query_id,doc_id,score,label\n" + "".join(
    f"{model},q,d{at},{at // 2},{int(at == 1)}\n" for model in ("a", "b") for at in range(4)
)
RANKED = "".join(
    f"q{query}\td{document * 3 % 5}\t{document + 1}\n" for query in range(4) for document in range(5)
)


NIGHTLY = board(strict_trec=STRICT, coarse_trec=COARSE, ranked_tsv=RANKED, qrels_txt=QRELS)
TABLES = board(table_csv=TABLE)
NEWER = board(new_csv=TABLE.replace("d0", "d9"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIESCOPE_DATABASE_URL", raising=False)
    monkeypatch.setenv(INSECURE, "1")
    yield tmp_path / "home"
    cache.open_library.clear()


@pytest.fixture
def visit():
    """Have the app opened, as a server that has just started does, and say what errors it shows."""

    def open_page():
        cache.open_library.clear()
        page = opened("data", section="Library")
        cache.open_library().close()
        return " ".join(error.value for error in page.error)

    return open_page


@pytest.fixture
def filled(home):
    """A library of two boards of five uploads."""
    keep(NIGHTLY, "nightly")
    keep(TABLES, "tables")
    return home


def keep(new_board, name=""):
    with closing(Library.open()) as library:
        return keep_as(library, new_board, name=name)


def names():
    with closing(Library.open()) as library:
        return {listing.name for listing in library.boards()}


def scores(name):
    """Every value of a board."""
    with closing(Library.open()) as library:
        (board_id,) = [listing.id for listing in library.boards() if listing.name == name]
        means = evaluate(as_read(library.find(board_id)).runs).scores
    return {(*row, *column): value for column, part in means.items() for row, value in part.items()}


def refusals():
    """What every way into the library is refused with."""
    with closing(Library.open()) as library:
        for use in (library.boards, lambda: library.keep(NEWER), lambda: library.find("x")):
            with pytest.raises(LibraryError) as caught:
                use()
            yield str(caught.value)


def refused(visit, *words):
    """Whether every way into the library is refused in these words; a page says no path of the server."""
    messages, on_page = list(refusals()), visit().replace("\\", "")
    assert not re.search(r"(?<!\w)/\w+/\w", on_page)
    return all(word in message for word in words for message in messages) and all(
        without_folders(word) in on_page for word in words
    )


def left_by_killed(home, name):
    """Have the first board be renamed by a process that was killed: part of it is in SQLite's log."""
    library = Library.open()
    library.rename(library.boards()[0].id, name)
    shutil.copytree(home, home.with_name("killed"))
    library.close()
    shutil.rmtree(home)
    home.with_name("killed").rename(home)


# the database is gone, damaged, or another


def damage(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def test_a_damaged_database_is_refused_and_a_new_library_can_begin_in_its_place(filled, visit):
    damage(filled / "library.db")
    before = (filled / "library.db").read_bytes()
    assert refused(
        visit, "library.db", "it is damaged. Restore it from a backup, or move the damaged file away"
    )
    assert (filled / "library.db").read_bytes() == before
    (filled / "library.db").rename(filled / "damaged.db")
    assert [visit(), visit()] == ["", ""]
    keep(NIGHTLY, "nightly")
    assert names() == {"nightly"}


def test_the_log_of_a_database_that_was_moved_away_is_not_written_into_the_new_one(filled, visit):
    left_by_killed(filled, "renamed")
    assert (filled / "library.db-wal").stat().st_size
    (filled / "library.db").rename(filled / "moved.db")
    assert visit() == ""
    assert names() == set()
    (wal,) = filled.glob("library.db-wal.*")
    (filled / "library.db").unlink()
    (filled / "moved.db").rename(filled / "library.db")
    wal.rename(filled / "library.db-wal")
    assert "renamed" in names()


def test_a_database_of_no_bytes_is_refused_until_a_copy_is_restored(filled, visit):
    copy = (filled / "library.db").read_bytes()
    (filled / "library.db").write_bytes(b"")
    assert refused(visit, "library.db", "is empty", "Restore it from a backup, or move the empty file away")
    assert (filled / "library.db").read_bytes() == b""
    (filled / "library.db").write_bytes(copy)
    assert visit() == ""
    assert names() == {"nightly", "tables"}


def test_a_backup_of_a_database_in_use_has_the_boards_and_their_files(filled, tmp_path, monkeypatch, visit):
    before = scores("nightly")
    with closing(Library.open()) as library, closing(sqlite3.connect(filled / "library.db")) as source:
        library.boards()
        (tmp_path / "restored").mkdir()
        with closing(sqlite3.connect(tmp_path / "restored" / "library.db")) as copy:
            source.backup(copy)  # as `sqlite3 library.db ".backup copy.db"` does
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "restored"))
    assert visit() == ""
    assert (names(), scores("nightly")) == ({"nightly", "tables"}, before)


@pytest.mark.parametrize("kind", ["PostgreSQL"])
def test_a_dump_of_postgresql_can_be_restored_into_an_empty_database(url, empty_url, tmp_path, library_at):
    programs, dump = postgresql.find(), tmp_path / "library.dump"
    record = keep_as(library_at(url), NIGHTLY, name="nightly")
    backup = [programs / "pg_dump", "--format=custom", f"--file={dump}", url]
    restoration = [programs / "pg_restore", f"--dbname={empty_url}", dump]
    for command in (backup, restoration):
        subprocess.run(command, check=True, capture_output=True)
    restored = library_at(empty_url)
    assert restored.find(record.id) == record
    assert [entry.read() for entry in restored.find(record.id).spec.entries]
    assert restored.keep(TABLES)


def test_a_database_of_something_else_is_refused_and_nothing_is_made_in_it(
    filled, visit, monkeypatch, empty_url
):
    with closing(
        sqlite3.connect(empty_url[10:]) if "sqlite" in empty_url else psycopg.connect(empty_url)
    ) as other:
        other.execute("CREATE TABLE wood (length INTEGER)")
        other.commit()
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    assert refused(visit, "contains tables of another program, such as wood", "Nothing was changed")
    assert tables(empty_url) == ["wood"]
    monkeypatch.delenv("TIESCOPE_DATABASE_URL")
    assert names() == {"nightly", "tables"}
    assert filled.is_dir()


def tables(url):
    """What a database holds."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            return [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return [name for (name,) in rows]
