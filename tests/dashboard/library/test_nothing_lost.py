"""No upload is lost, whatever becomes of the database: seen from the command line, the app and the disk."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from boards import COARSE, QRELS, STRICT
from libraries import aged
from opening import opened

from dashboard import cache
from dashboard.access.settings import INSECURE
from dashboard.escaping import without_folders
from dashboard.library import database
from dashboard.library.schema import boards, now, shelves
from dashboard.library.store import Library
from metrics import evaluate, read_runs

STORED_BY_0_1 = Path(__file__).parents[2] / "stored_by_0_1" / "library"
TABLE = "model,query_id,doc_id,score,label\n" + "".join(
    f"{model},q,d{at},{at // 2},{int(at == 1)}\n" for model in ("a", "b") for at in range(4)
)
RANKED = "".join(
    f"q{query}\td{document * 3 % 5}\t{document + 1}\n" for query in range(4) for document in range(5)
)


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
def filled(home, call, write):
    """A library of two boards of five uploads."""
    runs = [write("strict.trec", STRICT), write("coarse.trec", COARSE), write("ranked.tsv", RANKED)]
    assert call("push", *runs, "--qrels", write("qrels.txt", QRELS), "--board", "nightly")[0] == 0
    assert call("push", write("table.csv", TABLE), "--board", "tables")[0] == 0
    return home


def files(home):
    """The uploads on the disk, whatever the library says of them."""
    return {path.relative_to(home): path.read_bytes() for path in home.glob("uploads/*/*.*")}


def names(call):
    return {board["name"] for board in json.loads(call("boards", "--format", "json")[1])}


def listed(call):
    """Paths of the uploads that the list of boards says no board knows."""
    return [Path(path) for path in re.findall(r"^(/.*\.(?:zst|raw|parquet)):", call("boards")[2], re.MULTILINE)]


def scores(call, board, folder):
    """Every value of a board, as its files give them to others."""
    assert call("pull", board, "-o", folder)[0] == 0
    return values(folder)


def values(folder):
    qrels = folder / "qrels.parquet"
    means = evaluate(read_runs(sorted(folder.iterdir()), qrels if qrels.exists() else None)).scores
    return {(*row, *column): value for column, part in means.items() for row, value in part.items()}


def refused(call, visit, *words):
    """Whether every way into the library is refused in these words; a page says no path of the server."""
    outcomes = [
        call("boards"),
        call("push", STORED_BY_0_1.parent / "board.tiescope"),
        call("pull", "x", "-o", "x"),
    ]
    assert [code for code, _, _ in outcomes] == [2, 2, 2]
    on_page, messages = visit().replace("\\", ""), [" ".join(err.split()) for _, _, err in outcomes]
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


def recognised(paths):
    """Name by which each upload was pushed → its path, told by what it holds."""
    text_of = {"strict": STRICT, "coarse": COARSE, "ranked": RANKED, "qrels": QRELS, "table": TABLE}
    name_of = {sha256(text.encode()).hexdigest(): name for name, text in text_of.items()}
    return {name_of[path.stem]: path for path in paths}


# the database is gone


def damage(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def test_uploads_survive_the_removal_of_a_damaged_database(filled, call, visit, tmp_path):
    before = {board: scores(call, board, tmp_path / board) for board in ("nightly", "tables")}
    kept = files(filled)
    damage(filled / "library.db")
    assert refused(
        call, visit, "library.db", "it is damaged. Restore it from a backup, or move the damaged file away"
    )
    (filled / "library.db").rename(filled / "damaged.db")
    assert [visit(), visit()] == ["", ""]
    assert files(filled) == kept
    assert {path.relative_to(filled) for path in listed(call)} == kept.keys()
    path_of = recognised(listed(call))
    runs = [f"{name}={path_of[name]}" for name in ("strict", "coarse", "ranked")]
    assert call("push", *runs, "--qrels", path_of["qrels"], "--board", "nightly")[0] == 0
    assert call("push", path_of["table"], "--board", "tables")[0] == 0
    after = {board: scores(call, board, tmp_path / f"{board} again") for board in ("nightly", "tables")}
    assert after == before
    assert (files(filled), listed(call)) == (kept, [])


def test_a_database_that_was_moved_away_can_be_put_back(filled, call, visit, write, tmp_path):
    before = scores(call, "nightly", tmp_path / "before")
    (filled / "library.db").rename(filled / "moved.db")
    assert visit() == ""
    again = [write("strict.trec", STRICT), "--qrels", write("qrels.txt", QRELS + "q9 0 d1 1\n")]
    assert call("push", *again, "--board", "new")[0] == 0
    (filled / "library.db").unlink()
    (filled / "moved.db").rename(filled / "library.db")
    assert visit() == ""
    assert names(call) == {"nightly", "tables"}
    assert scores(call, "nightly", tmp_path / "after") == before
    assert len(listed(call)) == 1


def test_the_log_of_a_database_that_was_moved_away_is_not_written_into_the_new_one(filled, call, visit):
    left_by_killed(filled, "renamed")
    assert (filled / "library.db-wal").stat().st_size
    (filled / "library.db").rename(filled / "moved.db")
    assert visit() == ""
    assert names(call) == set()
    (wal,) = filled.glob("library.db-wal.*")
    assert len(listed(call)) == 5
    (filled / "library.db").unlink()
    (filled / "moved.db").rename(filled / "library.db")
    wal.rename(filled / "library.db-wal")
    assert "renamed" in names(call)


def test_a_database_of_no_bytes_is_refused_until_a_copy_is_restored(filled, call, visit):
    kept, copy = files(filled), (filled / "library.db").read_bytes()
    (filled / "library.db").write_bytes(b"")
    assert refused(
        call, visit, "library.db", "is empty, so", "Restore it from a backup, or move the empty file away"
    )
    assert (files(filled), (filled / "library.db").read_bytes()) == (kept, b"")
    (filled / "library.db").write_bytes(copy)
    assert visit() == ""
    assert (names(call), files(filled)) == ({"nightly", "tables"}, kept)


def test_an_older_copy_of_the_database_leaves_newer_uploads_where_they_are(filled, call, visit, write):
    copy = (filled / "library.db").read_bytes()
    assert call("push", write("new.csv", TABLE.replace("d0", "d9")), "--board", "newer")[0] == 0
    kept = files(filled)
    (filled / "library.db").write_bytes(copy)
    assert [visit(), visit()] == ["", ""]
    assert files(filled) == kept
    assert names(call) == {"nightly", "tables"}
    (path,) = listed(call)
    assert call("push", path, "--board", "newer")[0] == 0
    assert (files(filled), listed(call)) == (kept, [])


def let_go(database, sha256):
    """Have a database say that the next sweep removes the file of an upload."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO released_files VALUES (?, ?)", (sha256, str(now())))


def test_an_older_copy_that_let_go_of_an_upload_leaves_the_one_written_since(filled, call, visit, write):
    new = write("new.csv", TABLE.replace("d0", "d9"))
    let_go(filled / "library.db", sha256(new.read_bytes()).hexdigest())  # as a push does that is killed
    copy = (filled / "library.db").read_bytes()
    assert call("push", new, "--board", "newer")[0] == 0
    kept = files(filled)
    (filled / "library.db").write_bytes(copy)
    assert [visit(), visit()] == ["", ""]
    assert files(filled) == kept
    (path,) = listed(call)
    assert path.relative_to(filled) in kept


# another database


def test_another_database_without_boards_is_refused_where_it_let_go_of_uploads(filled, call, visit, tmp_path):
    kept = files(filled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIESCOPE_HOME", str(tmp_path / "other"))
        assert call("boards")[0] == 0
    let_go(tmp_path / "other" / "library.db", next(iter(kept)).stem)
    shutil.copy(tmp_path / "other" / "library.db", filled / "library.db")
    assert refused(call, visit, str(filled / "uploads"))
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


def test_another_database_is_refused_and_both_are_named(filled, call, visit, monkeypatch, empty_url):
    kept = files(filled)
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    other = sa.make_url(empty_url).database.rpartition("/")[2]
    ours = str(filled / "library.db")
    assert refused(call, visit, str(filled / "uploads"), ours, other, "Unset TIESCOPE_DATABASE_URL")
    assert (files(filled), tables(empty_url)) == (kept, [])
    monkeypatch.delenv("TIESCOPE_DATABASE_URL")
    assert visit() == ""
    assert (names(call), files(filled)) == ({"nightly", "tables"}, kept)


def test_a_home_whose_uploads_are_a_link_into_another_home_is_refused(
    filled, call, visit, monkeypatch, tmp_path
):
    kept, other = files(filled), tmp_path / "other"
    other.mkdir()
    (other / "uploads").symlink_to(filled / "uploads")
    monkeypatch.setenv("TIESCOPE_HOME", str(other))
    cache.open_library.clear()
    assert refused(call, visit, str(filled / "library.db"), str(other / "library.db"))
    assert files(filled) == kept


def test_another_database_that_has_boards_of_its_own_is_refused(
    filled, call, visit, monkeypatch, url, tmp_path
):
    with closing(Library(tmp_path / "elsewhere", url)) as other:
        other.keep(cache.sample_board(), name="elsewhere")
    kept = files(filled)
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", url)
    assert refused(call, visit, str(filled / "library.db"), "belong to the database")
    assert files(filled) == kept


def test_the_folder_of_a_database_elsewhere_refuses_the_usual_one(home, call, visit, monkeypatch, empty_url):
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    assert call("push", STORED_BY_0_1.parent / "board.tiescope")[0] == 0
    kept = files(home)
    monkeypatch.delenv("TIESCOPE_DATABASE_URL")
    assert refused(call, visit, str(home / "library.db"), "Set TIESCOPE_DATABASE_URL to that database")
    assert files(home) == kept
    assert not (home / "library.db").exists()
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    assert (visit(), len(names(call))) == ("", 1)


def test_a_database_of_something_else_is_refused_and_nothing_is_made_in_it(
    filled, call, visit, monkeypatch, empty_url
):
    kept = files(filled)
    with closing(
        sqlite3.connect(empty_url[10:]) if "sqlite" in empty_url else psycopg.connect(empty_url)
    ) as other:
        other.execute("CREATE TABLE wood (length INTEGER)")
        other.commit()
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    assert refused(call, visit, "contains tables of another program, such as wood", "Nothing was changed")
    assert (files(filled), tables(empty_url)) == (kept, ["wood"])


def test_a_folder_whose_owner_is_gone_for_good_can_be_given_to_another_database(
    filled, call, visit, monkeypatch, empty_url
):
    kept = files(filled)
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", empty_url)
    (path,) = re.findall(r"If you remove the file (\S+), TieScope", " ".join(call("boards")[2].split()))
    Path(path).unlink()
    assert visit() == ""
    assert (files(filled), len(listed(call))) == (kept, 5)


@pytest.mark.parametrize(
    "content",
    ["[" * 200_000, '{"id": "\\ud800", "database": "library.db"}', '{"id": null, "database": ""}', None],
)
def test_a_damaged_owner_of_the_folder_is_refused_without_a_stack_or_a_wait(filled, call, content):
    kept, path = files(filled), filled / "uploads" / "library.json"
    (filled / "library.db").unlink()
    path.unlink()
    if content is None:
        os.mkfifo(path)
    else:
        path.write_text(content)
    code, _, err = call("boards")
    assert (code, f"{path} cannot be read. Restore a copy." in err.replace("\n", " ")) == (2, True)
    assert files(filled) == kept


# what goes, and what stays


def test_what_was_deleted_a_month_ago_frees_the_disk(filled, call, visit, open_database):
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
    assert (names(call), listed(call)) == ({"nightly"}, [])


@pytest.mark.usefixtures("home")
def test_a_library_of_an_earlier_version_keeps_every_upload(home, call, visit):
    shutil.copytree(STORED_BY_0_1, home)
    kept = files(home)
    assert [visit(), visit()] == ["", ""]
    assert files(home) == kept
    assert {"Tuned, by hand", "Other formats"} <= names(call)
    assert listed(call) == []
    shutil.copy(STORED_BY_0_1 / "library.db", home)  # a copy from before
    assert (visit(), files(home), listed(call)) == ("", kept, [])


def test_a_library_of_an_earlier_version_whose_database_is_gone_keeps_every_upload(home, call, visit):
    shutil.copytree(STORED_BY_0_1 / "uploads", home / "uploads")
    kept = files(home)
    assert visit() == ""
    assert {path.relative_to(home) for path in listed(call)} == kept.keys()
    assert files(home) == kept


def test_a_board_is_not_pulled_among_the_uploads(filled, call):
    kept = files(filled)
    code, out, err = call("pull", "nightly", "-o", filled / "uploads" / "ab", "--force")
    assert (code, out) == (2, "")
    assert "Name another folder" in " ".join(err.split())
    assert files(filled) == kept


# a disk that can only be read

READ_ONLY = """
mount --bind "$TIESCOPE_HOME" "$TIESCOPE_HOME" || exit 9
mount -o remount,ro,bind "$TIESCOPE_HOME" || exit 9
touch "$TIESCOPE_HOME/new" 2>/dev/null && exit 9
exec "$@"
"""
COMMANDS = """
import sys
from dashboard import cli

folder, table = sys.argv[1:]
for command in ["boards"], ["pull", "nightly", "-o", folder], ["push", table, "--board", "new"]:
    sys.argv[:] = ["tiescope", *command]
    try:
        cli.main()
    except SystemExit as stop:
        print("exit", stop.code or 0, flush=True)
"""
NO_MOUNT = 9


@pytest.fixture
def on_read_only_disk(tmp_path, write):
    """Run boards, pull and push where the library cannot be written: their exit codes, and what they print."""
    if not shutil.which("unshare"):
        pytest.skip("no program unshare here")

    def run():
        table = write("other.csv", TABLE.replace("d0", "d9"))
        commands = ["sh", "-c", READ_ONLY, "sh", sys.executable, "-c", COMMANDS, tmp_path / "pulled", table]
        outcome = subprocess.run(["unshare", "-m", *commands], capture_output=True, text=True, check=False)
        if outcome.returncode == NO_MOUNT or outcome.stderr.startswith("unshare"):
            pytest.skip("nothing can be mounted here")
        return re.findall(r"^exit (\d)", outcome.stdout, re.MULTILINE), outcome.stdout + outcome.stderr

    return run


def test_a_library_on_a_read_only_disk_is_listed_and_pulled(filled, call, tmp_path, on_read_only_disk):
    before, kept = scores(call, "nightly", tmp_path / "before"), files(filled)
    codes, printed = on_read_only_disk()
    assert codes == ["0", "0", "2"]
    assert "tables" in printed
    assert "tiescope: other.csv is not stored: " in printed
    assert "read-only file system. Choose another TIESCOPE_HOME." in printed
    assert "Traceback" not in printed
    assert values(tmp_path / "pulled") == before
    assert files(filled) == kept


def test_what_a_killed_writer_left_is_read_on_a_read_only_disk(filled, on_read_only_disk):
    left_by_killed(filled, "renamed")
    codes, printed = on_read_only_disk()
    assert codes == ["0", "0", "2"], printed
    assert "renamed" in printed


def test_an_earlier_library_on_a_read_only_disk_says_where_to_open_it(home, on_read_only_disk):
    shutil.copytree(STORED_BY_0_1, home)
    codes, printed = on_read_only_disk()
    assert codes == ["2", "2", "2"], printed
    assert printed.count("was written by an older TieScope and is read-only. Open it once with write") == 3


def test_a_read_only_disk_without_a_library_is_told(home, on_read_only_disk):
    home.mkdir()
    codes, printed = on_read_only_disk()
    assert codes == ["2", "2", "2"], printed
    assert printed.count("read-only file system. Choose another TIESCOPE_HOME") == 3


def test_a_library_without_the_right_to_write_is_listed(filled, call, monkeypatch):
    monkeypatch.setattr(database, "_is_writable", lambda _: False)  # root may always write
    assert names(call) == {"nightly", "tables"}
    code, _, err = call("push", STORED_BY_0_1.parent / "board.tiescope")
    assert code == 2
    assert "it is read-only. Change its permissions, or choose another" in " ".join(err.split())
    assert len(files(filled)) == 5
