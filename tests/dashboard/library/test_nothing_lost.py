"""No upload is lost, whatever becomes of the database: seen from the library, the app and the disk."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from boards import COARSE, QRELS, STRICT, board
from libraries import aged, as_read
from opening import opened

from dashboard import cache
from dashboard.access.settings import INSECURE
from dashboard.escaping import without_folders
from dashboard.library import database
from dashboard.library.schema import boards, now, shelves
from dashboard.library.store import Library
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
        return library.keep(new_board, name=name)


def files(home):
    """The uploads on the disk, whatever the library says of them."""
    return {path.relative_to(home): path.read_bytes() for path in home.glob("uploads/*/*.*")}


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


# the database is gone


def damage(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def test_uploads_survive_the_removal_of_a_damaged_database(filled, visit):
    before = {name: scores(name) for name in ("nightly", "tables")}
    kept = files(filled)
    damage(filled / "library.db")
    assert refused(
        visit, "library.db", "it is damaged. Restore it from a backup, or move the damaged file away"
    )
    (filled / "library.db").rename(filled / "damaged.db")
    assert [visit(), visit()] == ["", ""]
    assert files(filled) == kept
    keep(NIGHTLY, "nightly")
    keep(TABLES, "tables")
    assert {name: scores(name) for name in ("nightly", "tables")} == before
    assert files(filled) == kept


def test_a_database_that_was_moved_away_can_be_put_back(filled, visit):
    before = scores("nightly")
    (filled / "library.db").rename(filled / "moved.db")
    assert visit() == ""
    keep(board(strict_trec=STRICT, qrels_txt=QRELS + "q9 0 d1 1\n"), "new")
    (filled / "library.db").unlink()
    (filled / "moved.db").rename(filled / "library.db")
    assert visit() == ""
    assert names() == {"nightly", "tables"}
    assert scores("nightly") == before


def test_the_log_of_a_database_that_was_moved_away_is_not_written_into_the_new_one(filled, visit):
    left_by_killed(filled, "renamed")
    assert (filled / "library.db-wal").stat().st_size
    (filled / "library.db").rename(filled / "moved.db")
    assert visit() == ""
    assert names() == set()
    (wal,) = filled.glob("library.db-wal.*")
    assert len(files(filled)) == 5
    (filled / "library.db").unlink()
    (filled / "moved.db").rename(filled / "library.db")
    wal.rename(filled / "library.db-wal")
    assert "renamed" in names()


def test_a_database_of_no_bytes_is_refused_until_a_copy_is_restored(filled, visit):
    kept, copy = files(filled), (filled / "library.db").read_bytes()
    (filled / "library.db").write_bytes(b"")
    assert refused(visit, "library.db", "is empty, so", "Restore it from a backup, or move the empty file away")
    assert (files(filled), (filled / "library.db").read_bytes()) == (kept, b"")
    (filled / "library.db").write_bytes(copy)
    assert visit() == ""
    assert (names(), files(filled)) == ({"nightly", "tables"}, kept)


def test_an_older_copy_of_the_database_leaves_newer_uploads_where_they_are(filled, visit):
    copy = (filled / "library.db").read_bytes()
    keep(NEWER, "newer")
    kept = files(filled)
    (filled / "library.db").write_bytes(copy)
    assert [visit(), visit()] == ["", ""]
    assert files(filled) == kept
    assert names() == {"nightly", "tables"}
    keep(NEWER, "newer")
    assert files(filled) == kept


def let_go(database, sha256):
    """Have a database say that the next sweep removes the file of an upload."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO released_files VALUES (?, ?)", (sha256, str(now())))


def test_an_older_copy_that_let_go_of_an_upload_leaves_the_one_written_since(filled, visit):
    let_go(filled / "library.db", NEWER.files[0].sha256)  # as a process does that is killed
    copy = (filled / "library.db").read_bytes()
    keep(NEWER, "newer")
    kept = files(filled)
    (filled / "library.db").write_bytes(copy)
    assert [visit(), visit()] == ["", ""]
    assert files(filled) == kept
    assert names() == {"nightly", "tables"}


# another database


def test_another_database_without_boards_is_refused_where_it_let_go_of_uploads(filled, visit, tmp_path):
    kept = files(filled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIESCOPE_HOME", str(tmp_path / "other"))
        assert names() == set()
    let_go(tmp_path / "other" / "library.db", next(iter(kept)).stem)
    shutil.copy(tmp_path / "other" / "library.db", filled / "library.db")
    assert refused(visit, str(filled / "uploads"))
    assert files(filled) == kept


def tables(url):
    """What a database holds."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as connection:
            return [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return [name for (name,) in names]


def test_another_database_is_refused_and_both_are_named(filled, visit, monkeypatch, empty_url):
    kept = files(filled)
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    other = sa.make_url(empty_url).database.rpartition("/")[2]
    ours = str(filled / "library.db")
    assert refused(visit, str(filled / "uploads"), ours, other, "Unset TIESCOPE_DATABASE_URL")
    assert (files(filled), tables(empty_url)) == (kept, [])
    monkeypatch.delenv("TIESCOPE_DATABASE_URL")
    assert visit() == ""
    assert (names(), files(filled)) == ({"nightly", "tables"}, kept)


def test_a_home_whose_uploads_are_a_link_into_another_home_is_refused(filled, visit, monkeypatch, tmp_path):
    kept, other = files(filled), tmp_path / "other"
    other.mkdir()
    (other / "uploads").symlink_to(filled / "uploads")
    monkeypatch.setenv("TIESCOPE_HOME", str(other))
    cache.open_library.clear()
    assert refused(visit, str(filled / "library.db"), str(other / "library.db"))
    assert files(filled) == kept


def test_another_database_that_has_boards_of_its_own_is_refused(filled, visit, monkeypatch, url, tmp_path):
    with closing(Library(tmp_path / "elsewhere", url)) as other:
        other.keep(cache.sample_board(), name="elsewhere")
    kept = files(filled)
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", url)
    assert refused(visit, str(filled / "library.db"), "belong to the database")
    assert files(filled) == kept


def test_the_folder_of_a_database_elsewhere_refuses_the_usual_one(home, visit, monkeypatch, empty_url):
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    keep(TABLES)
    kept = files(home)
    monkeypatch.delenv("TIESCOPE_DATABASE_URL")
    assert refused(visit, str(home / "library.db"), "Set TIESCOPE_DATABASE_URL to that database")
    assert files(home) == kept
    assert not (home / "library.db").exists()
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    assert (visit(), len(names())) == ("", 1)


def test_a_database_of_something_else_is_refused_and_nothing_is_made_in_it(
    filled, visit, monkeypatch, empty_url
):
    kept = files(filled)
    with closing(
        sqlite3.connect(empty_url[10:]) if "sqlite" in empty_url else psycopg.connect(empty_url)
    ) as other:
        other.execute("CREATE TABLE wood (length INTEGER)")
        other.commit()
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    assert refused(visit, "contains tables of another program, such as wood", "Nothing was changed")
    assert (files(filled), tables(empty_url)) == (kept, ["wood"])


def test_a_folder_whose_owner_is_gone_for_good_can_be_given_to_another_database(
    filled, visit, monkeypatch, empty_url
):
    kept = files(filled)
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    (path,) = re.findall(r"If you remove the file (\S+), TieScope", next(refusals()))
    Path(path).unlink()
    assert visit() == ""
    assert files(filled) == kept


@pytest.mark.parametrize(
    "content",
    ["[" * 200_000, '{"id": "\\ud800", "database": "library.db"}', '{"id": null, "database": ""}', None],
)
def test_a_damaged_owner_of_the_folder_is_refused_without_a_stack_or_a_wait(filled, content):
    kept, path = files(filled), filled / "uploads" / "library.json"
    (filled / "library.db").unlink()
    path.unlink()
    if content is None:
        os.mkfifo(path)
    else:
        path.write_text(content)
    assert f"{path} cannot be read. Restore a copy." in next(refusals())
    assert files(filled) == kept


# what goes, and what stays


def test_what_was_deleted_a_month_ago_frees_the_disk(filled, visit, open_database):
    kept = files(filled)
    library = Library.open()
    (board,) = [board for board in library.boards() if board.name == "tables"]
    (upload,) = [upload for upload in library.uploads() if upload.name == "table.csv"]
    library.delete(board.id)
    library.discard(upload.sha256)
    assert visit() == ""
    assert files(filled) == kept
    aged(open_database(f"sqlite:///{filled / 'library.db'}"), boards, shelves)
    assert visit() == ""
    assert len(files(filled)) == len(kept) - 1
    assert names() == {"nightly"}


# a disk that can only be read

READ_ONLY = """
mount --bind "$TIESCOPE_HOME" "$TIESCOPE_HOME" || exit 9
mount -o remount,ro,bind "$TIESCOPE_HOME" || exit 9
touch "$TIESCOPE_HOME/new" 2>/dev/null && exit 9
exec "$@"
"""
USES = """
import sys
from dashboard.library.boards import open_files
from dashboard.library.store import Library
from metrics.errors import LibraryError

library = Library.open()


def listed():
    for listing in library.boards():
        entries = library.find(listing.id).spec.entries
        print(listing.name, *(len(entry.read().table) for entry in entries))


for use in listed, lambda: library.keep(open_files(sys.argv[1:], None)):
    try:
        use()
        print("done")
    except LibraryError as error:
        print("refused:", error)
"""
NO_MOUNT = 9


@pytest.fixture
def on_read_only_disk(write):
    """List and read all boards, and keep one, where the library cannot be written: what is printed."""
    if not shutil.which("unshare"):
        pytest.skip("no program unshare here")

    def run():
        table = write("other.csv", TABLE.replace("d0", "d9"))
        commands = ["sh", "-c", READ_ONLY, "sh", sys.executable, "-c", USES, table]
        outcome = subprocess.run(["unshare", "-m", *commands], capture_output=True, text=True, check=False)
        if outcome.returncode == NO_MOUNT or outcome.stderr.startswith("unshare"):
            pytest.skip("nothing can be mounted here")
        assert not outcome.stderr
        return outcome.stdout.splitlines()

    return run


def test_a_library_on_a_read_only_disk_is_listed_and_read(filled, on_read_only_disk):
    kept = files(filled)
    *boards_read, done, refusal = on_read_only_disk()
    assert (boards_read, done) == (["tables 8", "nightly 20 20 20 4"], "done")
    assert refusal.startswith("refused: other.csv is not stored: ")
    assert refusal.endswith("read-only file system. Choose another TIESCOPE_HOME.")
    assert files(filled) == kept


def test_what_a_killed_writer_left_is_read_on_a_read_only_disk(filled, on_read_only_disk):
    left_by_killed(filled, "renamed")
    assert on_read_only_disk()[0].startswith("renamed ")


def test_a_read_only_disk_without_a_library_is_told(home, on_read_only_disk):
    home.mkdir()
    printed = on_read_only_disk()
    assert len(printed) == 2
    assert all("read-only file system. Choose another TIESCOPE_HOME" in line for line in printed)


def test_a_library_without_the_right_to_write_is_listed(filled, monkeypatch):
    monkeypatch.setattr(database, "_is_writable", lambda _: False)  # root may always write
    assert names() == {"nightly", "tables"}
    with pytest.raises(LibraryError, match=r"it is read-only\. Change its permissions, or choose another"):
        keep(NEWER)
    assert len(files(filled)) == 5
