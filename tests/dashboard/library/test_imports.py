"""A board file in a library: its files are uploads like others."""

import pytest
from board_files import SENT, TABLE, as_read, exported, loaded, unpacked
from boards import COARSE, QRELS, STRICT, board

from dashboard.library import board_file
from dashboard.library.boards import BoardSpec, Entry, make_board
from metrics import evaluate
from metrics.errors import LibraryError
from metrics.runs import File


def test_what_was_sent_is_kept_as_it_came(library):
    came = loaded(SENT)
    record = library.keep(came.board, name=came.name, view=came.view)
    assert evaluate(as_read(record).runs).scores.equals(evaluate(came.board.runs).scores)
    assert [entry.file.sha256 for entry in record.spec.entries] == [
        one["sha256"] for one in unpacked(SENT)[0]["files"]
    ]
    assert library.keep(loaded(SENT).board, name="").spec.digest == record.spec.digest


def test_what_is_kept_already_is_the_same_upload(library):
    before = library.keep(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS))
    after = library.keep(loaded(exported(before)).board)
    assert after.id == before.id
    assert len(library.uploads()) == 3


def test_the_board_of_who_chose_other_columns_is_found_again_as_theirs(library):
    for owner, column in (("ada", "score"), ("ben", "other")):
        entry = Entry(File("a.csv", TABLE.encode()), (("score", column),))
        library.keep(make_board(BoardSpec((entry,)), [entry.read()]), owner)
    (theirs,) = library.boards("ben")
    data = exported(library.find(theirs.id, "ben"))
    assert library.keep(loaded(data).board, "ben").id == theirs.id
    assert len(library.uploads("ben")) == 1
    (mine,) = library.spec_of([File("", TABLE.encode()).sha256], "ada").entries
    assert mine.read().table["score"].to_pylist() == [1, 1, 1]


def test_a_copy_that_was_lost_is_there_again_when_the_board_is_sent(library, tmp_path):
    before = library.keep(board(a_csv=TABLE))
    data = exported(before)
    next((tmp_path / "home").glob("uploads/*/*.*")).unlink()
    assert as_read(library.keep(loaded(data).board)).runs.rerankers == ["a"]


def test_a_board_too_large_for_the_library_is_refused_whatever_size_it_states(open_library):
    library = open_library(most_upload=100)
    with pytest.raises(LibraryError, match="larger than"):
        library.keep(loaded(SENT).board)
    assert library.uploads() == []


def test_an_upload_that_was_lost_cannot_be_exported(library, tmp_path):
    record = library.keep(board(a_csv=TABLE))
    next((tmp_path / "home").glob("uploads/*/*.*")).write_bytes(b"")
    with pytest.raises(LibraryError, match=r"a\.csv: the library's copy is damaged"):
        exported(record)


@pytest.mark.parametrize(
    ("limit", "message"),
    [((board_file, "MOST_FILE_BYTES", 10), "larger than"), ((board_file, "MOST_BYTES", 9), "names take")],
)
def test_a_board_that_could_not_be_read_again_is_not_exported(monkeypatch, limit, message):
    monkeypatch.setattr(*limit)
    with pytest.raises(LibraryError, match=message):
        exported(board(a_csv=TABLE))


def test_a_view_that_could_not_be_read_again_is_not_exported():
    with pytest.raises(LibraryError, match="view"):
        exported(board(a_csv=TABLE), {"key": None})
