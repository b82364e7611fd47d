"""A board file in a library: recognised, kept, and nobody else's upload."""

import pytest
from board_files import NOTED, SENT, TABLE, as_read, exported, loaded, packed, unpacked
from boards import COARSE, QRELS, STRICT, board

from dashboard.library.boards import BoardSpec, make_board
from dashboard.library.entry import Entry
from dashboard.library.exchange import board_file
from metrics import evaluate
from metrics.errors import LibraryError
from metrics.runs import File


def test_what_was_sent_is_kept_as_it_came(library):
    came = loaded(SENT)
    record = library.keep(came.board, name=came.name, view=came.view)
    assert evaluate(as_read(record).runs).scores.equals(evaluate(came.board.runs).scores)
    digests = [one["parquet"] for one in unpacked(SENT)[0]["files"]]
    assert [entry.file.parquet_digest for entry in record.spec.entries] == digests
    assert library.keep(loaded(SENT).board, name="").spec.digest == record.spec.digest


def test_what_is_kept_already_is_recognised(library):
    before = library.keep(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS))
    after = library.keep(loaded(exported(before)).board)
    assert after.id == before.id
    assert len(library.uploads()) == 3


def test_a_kept_import_is_recognised_when_it_is_sent_once_more(library):
    record = library.keep(loaded(SENT).board)
    assert library.keep(loaded(exported(record)).board).id == record.id


def claiming(victim, spoil):
    """A board file of a hostile person who says its upload is that of somebody else."""
    board_json, entries = unpacked(exported(board(a_csv=TABLE.replace("q,a,1,3", "q,a,9,9"))))
    board_json["files"][0]["sha256"] = victim
    spoil(board_json["files"][0])
    return packed(board_json, entries)


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_nobody_can_put_another_table_under_the_hash_of_an_upload(library, first):
    mine = board(a_csv=TABLE)
    false = loaded(claiming(mine.files[0].sha256, lambda _: None)).board
    for owned_board, owner in [(false, "eve"), (mine, "ada")] if first else [(mine, "ada"), (false, "eve")]:
        library.keep(owned_board, owner)
    (upload,) = library.uploads("ada")
    assert upload.sha256 == mine.files[0].sha256 != library.uploads("eve")[0].sha256
    (entry,) = library.spec_of([upload.sha256], "ada").entries
    assert entry.read().table["score"].to_pylist() == [1, 1, 1]


def test_nobody_can_have_the_table_of_an_upload_read_otherwise(library):
    mine = exported(board(a_csv=TABLE))
    board_json, entries = unpacked(mine)
    board_json["files"][0]["reading"]["mapping"]["score"] = "other"
    library.keep(loaded(packed(board_json, entries)).board, "eve")
    board_json["files"][0]["columns"] = [["score", "score"]]
    library.keep(loaded(packed(board_json, entries)).board, "eve")
    library.keep(loaded(mine).board, "ada")
    (upload,) = library.uploads("ada")
    assert upload.reading.mapping["score"] == "score"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mapping", {"query_id": "query_id", "doc_id": "doc_id", "score": "other", "relevance": "relevance"}),
        ("mapping", {"query_id": "doc_id", "doc_id": "query_id", "score": "score", "relevance": "relevance"}),
        *(("format", "jsonl"), ("header", ["query_id", "doc_id"]), ("unit", "row"), ("first", 7)),
    ],
)
def test_nobody_can_say_of_an_upload_that_it_is_read_otherwise(library, name, value):
    """The Parquet is that of the upload, so only what is stated of it is false."""
    mine = library.keep(board(a_csv=TABLE), "ada")
    board_json, entries = unpacked(exported(mine))
    assert board_json["files"][0]["reading"][name] != value
    board_json["files"][0]["reading"][name] = value
    false = library.keep(loaded(packed(board_json, entries)).board, "eve")
    assert false.spec.entries[0].file.sha256 != mine.spec.entries[0].file.sha256
    assert false.spec.digest != mine.spec.digest
    assert false.spec.key != mine.spec.key


def test_what_somebody_states_was_found_is_told_of_their_board_alone(library):
    mine = library.keep(board(a_csv=TABLE), "ada")
    board_json, entries = unpacked(exported(mine))
    board_json["files"][0]["reading"]["noted"] = [NOTED | {"message": "All is well."}]
    false = library.keep(loaded(packed(board_json, entries)).board, "eve")
    assert false.spec.digest == mine.spec.digest
    assert false.spec.key != mine.spec.key


def test_the_board_of_who_chose_other_columns_is_recognised_as_theirs(library):
    for owner, column in (("ada", "score"), ("ben", "other")):
        entry = Entry(File("a.csv", TABLE.encode()), (("score", column),))
        library.keep(make_board(BoardSpec((entry,)), [entry.read()]), owner)
    (theirs,) = library.boards("ben")
    data = exported(library.find(theirs.id, "ben"))
    assert library.keep(loaded(data).board, "ben").id == theirs.id
    assert len(library.uploads("ben")) == 1
    assert library.keep(loaded(data).board, "eve").spec.digest != library.find(theirs.id, "ben").spec.digest


def test_a_copy_that_was_lost_is_there_again_when_the_board_is_sent(library, tmp_path):
    before = library.keep(board(a_csv=TABLE))
    data = exported(before)
    next((tmp_path / "home").glob("uploads/*/*.parquet")).unlink()
    assert as_read(library.keep(loaded(data).board)).runs.rerankers == ["a"]


def test_a_board_too_large_for_the_library_is_refused_whatever_size_it_states(open_library):
    library = open_library(most_upload=100)
    with pytest.raises(LibraryError, match="larger than"):
        library.keep(loaded(SENT).board)
    assert library.uploads() == []


def test_an_upload_that_was_lost_cannot_be_exported(library, tmp_path):
    record = library.keep(board(a_csv=TABLE))
    next((tmp_path / "home").glob("uploads/*/*.parquet")).write_bytes(b"")
    with pytest.raises(LibraryError, match=r"a\.csv: the library's copy is damaged"):
        exported(record)


@pytest.mark.parametrize(
    ("limit", "message"),
    [((board_file, "MOST_PARQUET_BYTES", 100), "larger than"), ((board_file, "MOST_BYTES", 9), "names take")],
)
def test_a_board_that_could_not_be_read_again_is_not_exported(monkeypatch, limit, message):
    monkeypatch.setattr(*limit)
    with pytest.raises(LibraryError, match=message):
        exported(board(a_csv=TABLE))


def test_a_view_that_could_not_be_read_again_is_not_exported():
    with pytest.raises(LibraryError, match="view"):
        exported(board(a_csv=TABLE), {"key": None})
