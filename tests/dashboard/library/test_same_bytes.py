"""The same bytes are kept once."""

from boards import QRELS, STRICT, board
from libraries import ANNA, BERT, FIRST, names_on, on_disk

from dashboard.library.boards import BoardSpec, Entry, make_board
from dashboard.library.uploads import UploadFolder
from metrics.runs import File


def test_the_same_bytes_are_kept_once_whoever_uploads_them(library, tmp_path):
    for owner in ("", ANNA, BERT):
        library.keep(FIRST, owner)
        assert len(library.uploads(owner)) == 2
    assert on_disk(tmp_path / "home") == sorted(entry.file.sha256 for entry in FIRST.spec.entries)
    assert library.room()[0] == sum(one.kept_size for one in library.uploads())


def test_the_same_bytes_are_kept_once_under_whatever_name(library, tmp_path):
    library.keep(FIRST)
    library.keep(board(renamed_trec=STRICT, qrels_txt=QRELS))
    assert len(on_disk(tmp_path / "home")) == 2
    assert {one.name for one in library.uploads()} == {"renamed.trec", "qrels.txt"}
    assert {name for one in library.boards() for name in names_on(library.find(one.id))} == {
        "strict.trec",
        "renamed.trec",
        "qrels.txt",
    }


def test_two_files_of_the_same_bytes_on_one_board_are_kept_once(library, tmp_path):
    record = library.keep(board(one_trec=STRICT, two_trec=STRICT, qrels_txt=QRELS))
    assert len(on_disk(tmp_path / "home")) == 2
    assert names_on(record) == ["one.trec", "two.trec", "qrels.txt"]


def test_whoever_keeps_bytes_last_leaves_those_kept_meanwhile(library, open_library, monkeypatch):
    """Both wrote a Parquet; a board that was found before must still be read."""
    file = File("t.csv", b"query_id,doc_id,a,b,relevance\nq,d,1,2,1\nq,e,2,1,0\n")
    own_board, other_board = (
        make_board(BoardSpec((it,)), [it.read()]) for it in (_reading(file, "a"), _reading(file, "b"))
    )
    other_library, other_records = open_library(), []
    write = UploadFolder.write

    def write_late(*arguments):
        waiting = write(*arguments)
        monkeypatch.setattr(UploadFolder, "write", write)
        other_records.append(other_library.keep(other_board))
        return waiting

    monkeypatch.setattr(UploadFolder, "write", write_late)
    own_record = library.keep(own_board)
    for record, column in ((own_record, "a"), (other_records[0], "b")):
        assert record.spec.entries[0].read().mapping["score"] == column


def _reading(file, column):
    return Entry(file, (("score", column),))
