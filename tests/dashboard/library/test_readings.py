"""How an upload is read is its owner's: nobody else's choice of columns changes it, and none is lost."""

from dataclasses import replace

import pytest
from boards import QRELS, STRICT

from dashboard.library.boards import BoardSpec, Entry, make_board, read_files
from metrics.runs import File

ANNA, BERT, CARL = "anna@example.org", "bert@example.org", "carl@example.org"
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
        owner: library.keep(board_with_columns(TABLE, columns), owner, name="Mine")
        for owner, columns in CHOICES.items()
    }


def test_an_upload_from_the_library_is_read_as_it_was_kept(library):
    before = board_with_columns(NAMELESS, (("doc_id", "passage"),))
    library.keep(before)
    spec = library.spec_of([NAMELESS.sha256])
    assert spec.entries[0].columns == (("doc_id", "passage"),)
    assert spec.entries[0].read().table == before.sources[0].table
    assert spec.digest == before.spec.digest
    again = library.keep(make_board(spec, [spec.entries[0].read()]), name="again")
    assert again.spec.entries[0].read().table == before.sources[0].table


def test_everybody_reads_the_same_bytes_by_their_own_columns(library, records):
    for owner, expected in ((ANNA, [1, 2]), (BERT, [2, 1])):
        (entry,) = library.spec_of([TABLE.sha256], owner).entries
        (upload,) = library.uploads(owner)
        assert entry.columns == CHOICES[owner]
        assert scores(entry) == scores(library.find(records[owner].id, owner).spec.entries[0]) == expected
        assert upload.reading.mapping["score"] == CHOICES[owner][0][1]


def test_the_columns_of_a_deleted_board_are_still_those_of_its_owner(library, records):
    library.delete(records[BERT].id, BERT)
    assert scores(library.spec_of([TABLE.sha256], BERT).entries[0]) == [2, 1]


def test_the_newest_of_several_choices_is_taken(library, records):
    library.keep(board_with_columns(TABLE, CHOICES[BERT]), ANNA, name="newer")
    assert scores(library.spec_of([TABLE.sha256], ANNA).entries[0]) == [2, 1]
    library.save_view(records[ANNA].id, {"depth": 5}, ANNA)
    assert scores(library.spec_of([TABLE.sha256], ANNA).entries[0]) == [1, 2]


def test_an_upload_on_no_board_of_ones_own_is_read_as_it_was_first_and_says_so(library):
    record = library.keep(board_with_columns(TABLE, CHOICES[BERT]), ANNA, access="edit")
    library.revise(record.id, 1, board_with_columns(TABLE, CHOICES[BERT]), CARL)
    (entry,) = library.spec_of([TABLE.sha256], CARL).entries
    assert dict(entry.columns)["score"] == "b"
    assert scores(entry) == [2, 1]
    assert [one.kind for one in library.uploads(CARL)] == ["run"]


def test_a_table_is_a_run_or_judgments_as_its_owner_reads_it(library, tmp_path):
    (tmp_path / "run.trec").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "judged.csv").write_text("query_id,doc_id,score,relevance,segment\nq,d,9,1,s\n")
    library.keep(board_with_columns(File.open(tmp_path / "judged.csv"), ()), ANNA)
    entries, sources = read_files([tmp_path / "run.trec"], tmp_path / "judged.csv")
    library.keep(make_board(BoardSpec(entries), sources), BERT)
    assert [one.kind for one in library.uploads(ANNA)] == ["run"]
    assert {one.name: one.kind for one in library.uploads(BERT)} == {"run.trec": "run", "judged.csv": "qrels"}


def test_files_of_one_name_stand_on_a_board_under_the_names_given(tmp_path):
    (tmp_path / "run.trec").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    pairs = [("today", tmp_path / "run.trec"), (None, tmp_path / "run.trec")]
    entries, sources = read_files(pairs, tmp_path / "qrels.txt")
    board = make_board(BoardSpec(entries), sources)
    assert [file.name for file in board.files] == ["today.trec", "run.trec", "qrels.txt"]
    assert board.runs.rerankers == ["today", "run"]


def test_what_judgments_leave_of_a_table_is_kept_and_can_be_chosen(library, tmp_path):
    (tmp_path / "run.trec").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "judged.csv").write_text("query_id,doc_id,score,relevance,segment\nq,d,9,1,s\n")
    entries, sources = read_files([tmp_path / "run.trec"], tmp_path / "judged.csv")
    _, judged = library.keep(make_board(BoardSpec(entries), sources)).spec.entries
    assert "score" not in judged.read().table.column_names
    assert replace(judged, columns=()).read().table["score"].to_pylist() == [9]


# keys


def test_a_file_is_its_content_and_its_key_says_no_more(records):
    board = board_with_columns(TABLE, CHOICES[ANNA])
    assert board.spec.entries[0].key == board.spec.entries[0].digest
    assert board.key == board.spec.key == board.spec.digest == records[ANNA].spec.key
    assert board.label.endswith(f" · {board.key[:12]}")


def test_a_board_made_of_the_library_is_found_again_by_its_digest(library, records):
    spec = library.spec_of([TABLE.sha256], ANNA)
    nameless = library.keep(make_board(spec, [spec.entries[0].read()]), ANNA)
    assert nameless.id != records[ANNA].id
    assert library.keep(board_with_columns(TABLE, CHOICES[ANNA]), ANNA).id == nameless.id
    assert library.keep(make_board(spec, [spec.entries[0].read()]), ANNA).id == nameless.id


# columns that nobody can read


@pytest.mark.parametrize("value", [b"caf\xe9", b"\xff"])
def test_a_file_with_a_column_that_is_no_text_is_kept_without_it(library, value):
    content = b"query_id,doc_id,score,relevance,note,more\nq,d,1,1,%s,x\nq,e,2,0,y,z\n"
    board = board_with_columns(File("latin.csv", content % value), ())
    (entry,) = library.keep(board).spec.entries
    again = entry.read()
    assert again.table == board.sources[0].table
    assert again.unused == board.sources[0].unused == ("note", "more")


def test_a_sound_column_that_was_not_read_is_kept(library):
    board = board_with_columns(File("t.csv", b"query_id,doc_id,score,relevance,note\nq,d,1,1,x\n"), ())
    (entry,) = library.keep(board).spec.entries
    assert replace(entry, columns=(("segment", "note"),)).read().table["segment"].to_pylist() == ["x"]


def test_a_run_keeps_its_shape_on_the_shelf(library):
    files = [File("a.trec", STRICT.encode()), File("q.txt", QRELS.encode())]
    spec = BoardSpec.of(files)
    library.keep(make_board(spec, [entry.read() for entry in spec.entries]))
    assert {one.name: one.kind for one in library.uploads()} == {"a.trec": "run", "q.txt": "qrels"}
