"""A sweep forgets what was deleted long ago."""

import os

import pytest
import sqlalchemy as sa
from boards import QRELS, TIED, board
from libraries import ANNA, BERT, FIRST, aged, on_disk, sha, shas

from dashboard.library.schema import boards, shelves, uploads
from metrics.errors import LibraryError


def test_a_sweep_leaves_what_was_deleted_lately(library, database):
    record = library.keep(FIRST)
    library.delete(record.id)
    library.discard(sha(FIRST))
    aged(database, boards, shelves, days=29)
    library.sweep()
    library.reclaim(sha(FIRST))
    library.restore(record.id)
    assert [entry.read() for entry in library.find(record.id).spec.entries]


def test_a_sweep_forgets_what_was_deleted_long_ago(library, tmp_path, database):
    record = library.keep(FIRST)
    library.discard(sha(FIRST))
    aged(database, boards, shelves)
    library.sweep()
    assert on_disk(tmp_path / "home") == [sha(FIRST, 1)]
    assert shas(library, deleted=True) == []
    with pytest.raises(LibraryError, match="no longer be restored"):
        library.restore(record.id)


def test_a_sweep_leaves_uploads_that_somebodys_board_needs(library, database):
    record = library.keep(board(x_trec=TIED, qrels_txt=QRELS), ANNA, name="Mine", access="edit")
    library.revise(record.id, 1, FIRST, BERT)
    library.discard(sha(FIRST), BERT)
    aged(database, boards, shelves)
    library.sweep()
    assert [entry.read() for entry in library.find(record.id, ANNA).spec.entries]


def test_a_sweep_leaves_files_nobody_knows_and_removes_old_ones_nobody_finished(library, tmp_path):
    library.keep(FIRST)
    folder = tmp_path / "home" / "uploads"
    upload_shas = on_disk(tmp_path / "home")
    stray, begun, old = (folder / name for name in ("ab/abcd.zst", "writing/1.zst", "writing/2.zst"))
    for path in (stray, begun, old):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    past = old.stat().st_mtime - 4000
    os.utime(old, (past, past))
    library.sweep()
    assert [path.exists() for path in (stray, begun, old)] == [True, True, False]
    assert set(upload_shas) < set(on_disk(tmp_path / "home"))


def test_an_upload_without_a_shelf_and_a_board_is_forgotten(library, database):
    library.keep(FIRST)
    with database.writing() as connection:
        connection.execute(uploads.insert().values(_row(connection, "0" * 64)))
    library.sweep()
    with database.reading() as connection:
        assert set(connection.scalars(sa.select(uploads.c.sha256))) == set(shas(library))


def _row(connection, sha256):
    row = connection.execute(sa.select(uploads)).mappings().first()
    return dict(row) | {"sha256": sha256}
