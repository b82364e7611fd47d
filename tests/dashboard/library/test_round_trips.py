"""A board comes back from its file as it was."""

import gzip
import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest
from board_files import (
    PUBLISHED,
    SENT,
    SENT_BY_0_1,
    TABLE,
    VIEW,
    exported,
    loaded,
    packed,
    stored,
    unpacked,
)
from boards import EXTREMES, HOSTILE, QRELS, STRICT, TIED, board
from runs.written import SAMPLE, as_parquet

from dashboard.library.boards import BoardSpec, Entry, make_board
from dashboard.library.loaded import LoadedBoards, table_label, unpacked_files
from dashboard.library.records import id_of
from metrics import evaluate
from metrics.runs import File, read


@pytest.mark.parametrize("name", EXTREMES)
def test_a_board_comes_back_with_the_same_values_and_findings(name):
    before = EXTREMES[name]()
    after = loaded(exported(before)).board
    assert evaluate(after.runs).scores.equals(evaluate(before.runs).scores)
    assert after.runs.findings.equals(before.runs.findings)


@pytest.mark.parametrize("name", EXTREMES)
def test_a_board_gives_the_same_bytes_again_and_so_does_what_was_made_of_them(name):
    data = exported(EXTREMES[name](), VIEW)
    again = loaded(data)
    assert exported(EXTREMES[name](), VIEW) == data
    assert exported(again.board, again.view) == data


def test_a_kept_board_gives_the_bytes_it_gave_before_it_was_kept(library):
    before = board(table_csv=HOSTILE)
    record = library.keep(before, name="Nightly", view=VIEW)
    named_board = replace(before, spec=replace(before.spec, title="Nightly"))
    assert exported(record) == exported(named_board, VIEW)


def test_nothing_says_whose_a_board_is_and_which_number_it_has(library):
    record = library.keep(board(a_csv=TABLE), "ada@example.org", name="Nightly")
    data = exported(record)
    assert record.id.encode() not in data
    assert b"ada" not in data


def test_names_order_choices_and_view_come_along(library):
    entry = Entry(File("t.csv", TABLE.encode()), (("score", "other"),))
    other = File("u.csv", TABLE.encode().replace(b"\n", b"\r\n"))
    spec = BoardSpec((entry, Entry(other)), "max", (("u", "second"), ("t", "first\0")))
    record = library.keep(make_board(spec, [entry.read(), read(other)]), name="A ties", view=VIEW)
    came = loaded(exported(record))
    assert (came.name, came.view, came.board.spec.repeated) == ("A ties", VIEW, "max")
    assert came.board.runs.rerankers == ["second", "first\0"]
    assert came.board.runs.tables["first\0"]["score"].to_pylist() == [3, 2, 1]
    assert came.board.label.startswith("2 runs, 1 query · ")


@pytest.mark.parametrize("name", ["Nightly", "Sample: docstring search"])
def test_a_board_that_was_sent_is_found_in_memory_whatever_its_name(library, name):
    came = loaded(exported(library.keep(board(a_csv=TABLE), name=name)))
    loaded_boards = LoadedBoards()
    board_id = id_of(loaded_boards.add(came.board).label)
    assert (came.name, came.board.spec.title) == (name, "")
    assert loaded_boards.find(board_id, "").runs is came.board.runs


def test_nothing_of_a_board_that_is_not_kept_is_written_to_the_disk(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr("pathlib.Path.open", None)
    monkeypatch.setattr("builtins.open", None)
    data = exported(board(a_csv=TABLE))
    monkeypatch.undo()
    assert loaded(data).board.runs.rerankers == ["a"]


def test_a_board_without_a_name_stays_without():
    came = loaded(exported(board(a_csv=TABLE)))
    assert came.name == ""
    assert came.board.label.startswith("1 run, 1 query · ")


def test_a_name_that_no_file_system_encodes_can_be_read():
    spec = BoardSpec((Entry(File("caf\udce9.csv", TABLE.encode())),))
    came = loaded(exported(make_board(spec, [spec.entries[0].read()])))
    assert came.board.runs.rerankers == ["caf?"]


def test_a_zip_that_was_packed_again_can_be_read():
    assert loaded(packed(*unpacked(SENT), zipfile.ZIP_DEFLATED)).board.runs.rerankers == ["strict", "coarse"]


def test_an_import_is_in_memory_and_can_be_read_again():
    (entry, *_) = loaded(SENT).board.spec.entries
    assert entry.file.data == STRICT.encode()
    assert (
        entry.read().table["score"].to_pylist() == read(File("a", STRICT.encode())).table["score"].to_pylist()
    )


def test_json_holds_what_is_promised_and_nothing_else():
    board_json, entries = unpacked(SENT)
    keys = ["files", "format", "name", "names", "published", "repeated", "version", "view"]
    assert list(board_json) == keys
    assert list(board_json["files"][0]) == ["columns", "name", "sha256"]
    assert board_json["files"][0]["sha256"] == sha256(STRICT.encode()).hexdigest()
    assert list(board_json["published"][0]) == ["name", "sha256"]
    assert entries["files/00"] == STRICT.encode()
    assert TIED not in str(board_json)


def test_published_results_come_along_and_are_restored(library):
    came = loaded(SENT)
    label, files = came.published
    assert (label, unpacked_files(files)) == (table_label(PUBLISHED), PUBLISHED)
    record = library.keep(came.board, name="Audited")
    library.publish(record.id, came.published)
    again = loaded(exported(record, published=library.published(record.id)))
    assert again.published == came.published
    assert loaded(exported(record)).published is None


@pytest.mark.parametrize("content", [as_parquet(SAMPLE), gzip.compress(STRICT.encode()), STRICT.encode()])
def test_files_are_in_it_as_they_were_given(library, content):
    files = [File("run.dat", content), File("qrels.txt", QRELS.encode())]
    spec = BoardSpec.of(files)
    made = make_board(spec, [entry.read() for entry in spec.entries])
    for exportable in (made, library.keep(made)):
        _, entries = unpacked(exported(exportable))
        assert entries == {"files/00": content, "files/01": QRELS.encode()}


def test_a_board_file_of_an_earlier_version_comes_back_as_one_of_this():
    came = loaded(SENT_BY_0_1)
    again = loaded(exported(came.board, came.view)).board
    assert unpacked(exported(came.board))[0]["version"] == 2
    assert again.spec.digest == came.board.spec.digest
    assert evaluate(again.runs).scores.equals(evaluate(came.board.runs).scores)


def test_ranks_in_a_board_file_of_an_earlier_version_are_ranks():
    board_json, entries = unpacked(SENT_BY_0_1)
    data = stored(query_id=["q1"] * 3, doc_id=["d1", "d2", "d3"], rank=[1.0, 2.0, 3.0])
    ranked = {"query_id": "query_id", "doc_id": "doc_id", "score": "rank"}
    board_json["files"][0] |= {"parquet": sha256(data).hexdigest(), "columns": []}
    board_json["files"][0]["reading"] |= {"format": "ranked", "mapping": ranked}
    came = loaded(packed(board_json | {"names": None}, entries | {"files/00.parquet": data}))
    assert came.board.sources[0].table["score"].to_pylist() == [-1, -2, -3]
    assert came.board.sources[0].format == "ranked"
