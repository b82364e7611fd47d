"""A board comes back from its file as it was."""

import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest
from board_files import SENT, TABLE, VIEW, exported, loaded, packed, unpacked
from boards import EXTREMES, HOSTILE, STRICT, TIED, board

from dashboard.library.boards import BoardSpec, make_board
from dashboard.library.entry import Entry
from dashboard.library.exchange import contents
from dashboard.library.loaded import LoadedBoards
from dashboard.library.storage.records import id_of
from dashboard.library.storage.stored_upload import StoredUpload
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
    assert isinstance(entry.file, StoredUpload)
    assert (
        entry.read().table["score"].to_pylist() == read(File("a", STRICT.encode())).table["score"].to_pylist()
    )


def test_json_holds_what_is_promised_and_nothing_else():
    board_json, _ = unpacked(SENT)
    assert list(board_json) == ["files", "format", "name", "names", "repeated", "version", "view"]
    assert list(board_json["files"][0]) == ["columns", "name", "parquet", "reading", "sha256", "size"]
    assert board_json["files"][0]["sha256"] == sha256(STRICT.encode()).hexdigest()
    assert board_json["files"][0]["size"] == len(STRICT)
    assert contents.ENTRY == "board.json"
    assert TIED not in str(board_json)
