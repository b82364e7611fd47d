"""The same bytes are kept once."""

from boards import QRELS, STRICT, board
from libraries import ANNA, BERT, FIRST, names_on, parquets

from dashboard.library import BoardSpec, Entry, make_board
from dashboard.library.storage.parquets import Parquets
from metrics.runs import File


def test_the_same_bytes_are_kept_once_whoever_uploads_them(library, tmp_path):
    for owner in ("", ANNA, BERT):
        library.keep(FIRST, owner)
        assert len(library.uploads(owner)) == 2
    assert parquets(tmp_path / "home") == sorted(entry.file.sha256 for entry in FIRST.spec.entries)
    assert library.room()[0] == sum(one.kept_size for one in library.uploads())


def test_the_same_bytes_are_kept_once_under_whatever_name(library, tmp_path):
    library.keep(FIRST)
    library.keep(board(renamed_trec=STRICT, qrels_txt=QRELS))
    assert len(parquets(tmp_path / "home")) == 2
    assert {one.name for one in library.uploads()} == {"renamed.trec", "qrels.txt"}
    assert {name for one in library.boards() for name in names_on(library.find(one.id))} == {
        "strict.trec",
        "renamed.trec",
        "qrels.txt",
    }


def test_two_files_of_the_same_bytes_on_one_board_are_kept_once(library, tmp_path):
    kept = library.keep(board(one_trec=STRICT, two_trec=STRICT, qrels_txt=QRELS))
    assert len(parquets(tmp_path / "home")) == 2
    assert names_on(kept) == ["one.trec", "two.trec", "qrels.txt"]


def test_whoever_keeps_bytes_last_leaves_those_kept_meanwhile(library, open_library, monkeypatch):
    """Both wrote a Parquet; a board that was found before must still be read."""
    file = File("t.csv", b"query_id,doc_id,a,b,relevance\nq,d,1,2,1\nq,e,2,1,0\n")
    one, two = (make_board(BoardSpec((it,)), [it.read()]) for it in (_reading(file, "a"), _reading(file, "b")))
    other, found = open_library(), []
    write = Parquets.write

    def beaten(*given):
        waiting = write(*given)
        monkeypatch.setattr(Parquets, "write", write)
        found.append(other.keep(two))
        return waiting

    monkeypatch.setattr(Parquets, "write", beaten)
    kept = library.keep(one)
    for record, column in ((kept, "a"), (found[0], "b")):
        assert record.spec.entries[0].read().mapping["score"] == column


def _reading(file, column):
    return Entry(file, (("score", column),))
