"""Uploads: kept once, read as their owners chose, discarded and brought back."""

from dataclasses import replace
from datetime import timedelta

import pytest
from boards import COARSE, QRELS, STRICT, board
from libraries import ANNA, BERT, FIRST, keep_as, names_on, sha, shas, stored

from dashboard.library import store
from dashboard.library.boards import BoardSpec, Entry, make_board, open_files
from dashboard.library.schema import now
from metrics.errors import LibraryError
from metrics.runs import File

NAMES = {
    "NUL": ("a\0b", "ab"),
    "a lone surrogate": ("a\udc80b", "a�b"),
    "10,000 letters": ("x" * 10_000, "x" * 1000),
    "emoji": ("🎯👩‍👩‍👧 Ωμέγα", "🎯👩‍👩‍👧 Ωμέγα"),
    "right to left": ("\u202eabc", "\u202eabc"),
    "quotes and marks": ("'; DROP TABLE boards; -- %s %(x)s {}", "'; DROP TABLE boards; -- %s %(x)s {}"),
    "space around": ("  a  ", "  a  "),
    "a space where it is cut": ("x" * 199 + " " + "x" * 799 + " y", "x" * 199 + " " + "x" * 799 + " "),
}
BY_NAME = pytest.mark.parametrize(("text", "kept_text"), NAMES.values(), ids=NAMES)


def test_an_upload_tells_what_it_is(library):
    record = keep_as(library, FIRST, name="Mine")
    run, qrels = sorted(library.uploads(), key=lambda upload: upload.kind, reverse=True)
    assert (run.name, run.kind, run.rows, run.size) == ("strict.trec", "run", 20, len(STRICT))
    assert run.boards == ((record.id, "Mine"),)
    assert (qrels.kind, qrels.rows) == ("qrels", 4)


def test_a_board_is_made_from_uploads_in_the_order_asked_for(library):
    library.keep(board(a_trec=STRICT, b_trec=COARSE, qrels_txt=QRELS))
    ordered_shas = sorted(shas(library))
    spec = library.spec_of(ordered_shas)
    assert [entry.file.sha256 for entry in spec.entries] == ordered_shas
    again = keep_as(library, make_board(spec, [entry.read() for entry in spec.entries]), name="again")
    assert len(library.uploads()) == 3
    assert {number for one in library.uploads() for number, _ in one.boards} >= {again.id}


def test_an_upload_of_another_is_not_offered(library):
    library.keep(FIRST, ANNA)
    assert library.discard(sha(FIRST), BERT) == []
    assert shas(library, ANNA)
    with pytest.raises(LibraryError, match="removed from the library"):
        library.spec_of([sha(FIRST)], BERT)


def test_a_discarded_upload_takes_its_nameless_boards_along_and_brings_them_back(library):
    record = library.keep(FIRST)
    assert library.discard(sha(FIRST)) == [record.id]
    assert sha(FIRST) not in shas(library)
    assert library.boards() == []
    library.restore(record.id)
    assert library.find(record.id).spec == record.spec
    assert sha(FIRST) in shas(library)


def test_an_upload_on_a_board_with_a_name_is_not_discarded(library):
    keep_as(library, FIRST, name="Mine")
    library.keep(FIRST)
    with pytest.raises(LibraryError, match=r"use this upload: Mine. Delete them first"):
        library.discard(sha(FIRST))
    assert len(library.boards()) == 2
    assert sha(FIRST) in shas(library)


@pytest.mark.usefixtures("calendar")
def test_a_board_deleted_before_its_upload_does_not_come_back_with_it(library):
    library.delete(library.keep(FIRST).id)
    assert library.discard(sha(FIRST)) == []


def test_an_upload_is_as_old_as_its_first_board_and_an_added_file_is_new(library, monkeypatch):
    when, record = now(), library.keep(FIRST)
    monkeypatch.setattr(store, "now", lambda: when + timedelta(days=7))
    library.revise(record.id, 1, board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS))
    added = {one.name: one.added - when >= timedelta(days=6) for one in library.uploads()}
    assert added == {"strict.trec": False, "coarse.trec": True, "qrels.txt": False}


@BY_NAME
def test_any_text_is_kept_as_far_as_it_can_be(library, text, kept_text):
    record = keep_as(library, FIRST, name=text)
    library.rename(record.id, text)
    found_record = library.find(record.id)
    assert found_record.name == kept_text.strip()[:200].strip()
    assert library.duplicate(record.id).name == f"{found_record.name[:194]}, copy"


def test_any_view_is_kept(library):
    view = {"text": "a\0b 🎯 \udc80", "none": None, "many": [1, 2.5, True, {"deep": []}]}
    assert library.find(keep_as(library, FIRST, view=view).id).view == view


def test_the_same_bytes_are_kept_once_under_whatever_name(library):
    library.keep(FIRST)
    library.keep(board(renamed_trec=STRICT, qrels_txt=QRELS))
    assert len(stored(library)) == 2
    assert {one.name for one in library.uploads()} == {"renamed.trec", "qrels.txt"}
    assert {name for one in library.boards() for name in names_on(library.find(one.id))} == {
        "strict.trec",
        "renamed.trec",
        "qrels.txt",
    }


TABLE = File("t.csv", b"query_id,doc_id,a,b,relevance\nq,d,1,2,1\nq,e,2,1,0\n")
NAMELESS = File("t.csv", b"query_id,passage,score,relevance\nq,d,1,1\nq,e,2,0\n")
CHOICES = {ANNA: (("score", "a"),), BERT: (("score", "b"),)}


def board_with_columns(file, columns):
    entry = Entry(file, columns)
    return make_board(BoardSpec((entry,)), [entry.read()])


def scores(entry):
    return entry.read().table["score"].to_pylist()


@pytest.fixture
def records(library):
    """The same bytes kept by two people who chose other columns."""
    return {
        owner: keep_as(library, board_with_columns(TABLE, columns), owner, name="Mine")
        for owner, columns in CHOICES.items()
    }


def test_an_upload_from_the_library_is_read_as_it_was_kept(library):
    before = board_with_columns(NAMELESS, (("doc_id", "passage"),))
    library.keep(before)
    spec = library.spec_of([NAMELESS.sha256])
    assert spec.entries[0].columns == (("doc_id", "passage"),)
    assert spec.entries[0].read().table == before.sources[0].table
    assert spec.key == before.spec.key
    again = keep_as(library, make_board(spec, [spec.entries[0].read()]), name="again")
    assert again.spec.entries[0].read().table == before.sources[0].table


def test_everybody_reads_the_same_bytes_by_their_own_columns(library, records):
    for owner, expected in ((ANNA, [1, 2]), (BERT, [2, 1])):
        (entry,) = library.spec_of([TABLE.sha256], owner).entries
        assert entry.columns == CHOICES[owner]
        assert scores(entry) == scores(library.find(records[owner].id, owner).spec.entries[0]) == expected


def test_the_newest_of_several_choices_is_taken(library, records):
    keep_as(library, board_with_columns(TABLE, CHOICES[BERT]), ANNA, name="newer")
    assert scores(library.spec_of([TABLE.sha256], ANNA).entries[0]) == [2, 1]
    library.save_view(records[ANNA].id, {"depth": 5}, ANNA)
    assert scores(library.spec_of([TABLE.sha256], ANNA).entries[0]) == [1, 2]


def test_a_table_is_a_run_or_judgments_as_its_owner_reads_it(library, tmp_path):
    (tmp_path / "run.trec").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "judged.csv").write_text("query_id,doc_id,score,relevance,segment\nq,d,9,1,s\n")
    library.keep(board_with_columns(File.open(tmp_path / "judged.csv"), ()), ANNA)
    library.keep(open_files([tmp_path / "run.trec"], tmp_path / "judged.csv"), BERT)
    assert [one.kind for one in library.uploads(ANNA)] == ["run"]
    assert {one.name: one.kind for one in library.uploads(BERT)} == {"run.trec": "run", "judged.csv": "qrels"}


def test_what_judgments_leave_of_a_table_is_kept_and_can_be_chosen(library, tmp_path):
    (tmp_path / "run.trec").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "judged.csv").write_text("query_id,doc_id,score,relevance,segment\nq,d,9,1,s\n")
    _, judged = library.keep(open_files([tmp_path / "run.trec"], tmp_path / "judged.csv")).spec.entries
    assert "score" not in judged.read().table.column_names
    assert replace(judged, columns=()).read().table["score"].to_pylist() == [9]


# keys


# columns that nobody can read


@pytest.mark.parametrize("value", [b"caf\xe9", b"\xff"])
def test_a_file_with_a_column_that_is_no_text_is_kept_without_it(library, value):
    content = b"query_id,doc_id,score,relevance,note,more\nq,d,1,1,%s,x\nq,e,2,0,y,z\n"
    board = board_with_columns(File("latin.csv", content % value), ())
    (entry,) = library.keep(board).spec.entries
    again = entry.read()
    assert again.table == board.sources[0].table
    assert again.unused == board.sources[0].unused == ("note", "more")
