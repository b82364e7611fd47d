"""A JSON that no export writes is refused."""

import gzip
import json

import pyarrow as pa
import pytest
from board_files import (
    ANYTHING,
    PLACES,
    PLACES_OF_0_1,
    SENT,
    SENT_BY_0_1,
    exported,
    loaded,
    packed,
    refusal,
    stored,
    unpacked,
    with_parquet,
    with_value,
)

from dashboard.library.boards import BoardSpec, make_board
from metrics import ReadError
from metrics.runs import File

DEEP = "[" * 200_000
ODD_TEXTS = {
    "empty": b"",
    "no JSON": b"{",
    "not UTF-8": b"\xff{}",
    "UTF-16": '{"format": "tiescope-board"}'.encode("utf-16"),
    "a list": b"[]",
    "null": b"null",
    "a number": b"1",
    "deep": DEEP.encode(),
    "deep objects": b'{"a":' * 100_000,
    "NaN": b'{"format": NaN}',
    "Infinity": b'{"format": -Infinity}',
    "a key twice": b'{"format": "tiescope-board", "format": "tiescope-board"}',
    "a number of 5,000 digits": b"9" * 5000,
    "another format": b'{"format": "tiescope-library", "version": 1}',
    "no format": b'{"version": 1}',
    "no version": b'{"format": "tiescope-board"}',
    "nothing else": b'{"format": "tiescope-board", "version": 1}',
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_json_that_is_not_as_it_should_be_is_refused(name):
    refusal(packed(ODD_TEXTS[name], {}))


def test_the_changes_below_start_from_a_board_that_is_read():
    assert loaded(packed(*with_value(("name",), "x"))).board.runs.rerankers == ["a", "b"]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_a_value_of_any_kind_in_any_place_gives_a_board_or_an_error_of_ours(place):
    refused = 0
    for value in ANYTHING:
        try:
            came = loaded(packed(*with_value(place, value)))
        except ReadError as error:
            assert str(error).startswith("sent.tiescope: ")  # noqa: PT017 one of many
            refused += 1
        else:
            exported(came.board, came.view, came.published)
    assert refused >= len(ANYTHING) // 2


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("extra",), 1),
        (("files", 0, "extra"), 1),
        (("name",), "a\0b"),
        (("name",), "a\ud800b"),
        (("name",), " a"),
        (("name",), "x" * 2000),
        (("files", 0, "name"), "a\0b"),
        (("files", 0, "name"), "\ud800"),
        (("names", 0, 1), " "),
        (("names", 0, 0), "absent"),
        (("names", 0, 0), "coarse"),
        (("names", 0, 1), "\ud800"),
        (("repeated",), "last"),
        (("files", 0, "sha256"), "A" * 64),
        (("files", 0, "sha256"), "0" * 64),
        (("files", 0, "size"), 1),
        (("published", 0, "sha256"), "0" * 64),
        (("published", 0, "name"), "a\0b"),
        (("published",), []),
        (("files", 0, "columns"), [["score", "absent"]]),
        (("files", 0, "columns"), [["score", ""]]),
        (("files", 0, "columns"), [["score", "query_id"]]),
        (("files", 0, "columns"), [["nothing", "score"]]),
        (("files", 0, "columns"), [["score", "score"], ["score", ""]]),
        (("view", "\0"), 1),
        (("view", "key"), None),
        (("view", "key"), {"deep": 1}),
        (("view", "key"), [1]),
        (("view", "key"), ["\0"]),
        (("view", "key"), 1e300),
        (("view", "key"), 2**60),
        (("view",), {str(key): 1 for key in range(101)}),
        (("files",), []),
    ],
)
def test_a_value_that_no_export_writes_is_refused(place, value):
    refusal(packed(*with_value(place, value)))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 400])
def test_a_number_that_is_none_elsewhere_is_refused(number):
    text = json.dumps(with_value(("view", "key"), 12345)[0]).replace("12345", number)
    assert "view" in refusal(packed(text.encode(), unpacked(SENT)[1]))


def test_a_key_that_stands_twice_is_refused():
    text = json.dumps(unpacked(SENT)[0]).replace('"view":', '"name": "other", "view":')
    assert "damaged" in refusal(packed(text.encode(), unpacked(SENT)[1]))


def test_a_file_in_the_place_of_another_is_told():
    board_json, entries = unpacked(SENT)
    entries["files/01"] = entries["files/00"]
    assert "'coarse.trec' is not the file that was exported" in refusal(packed(board_json, entries))


@pytest.mark.parametrize("place", PLACES_OF_0_1, ids=lambda place: ".".join(map(str, place)))
def test_a_value_that_version_0_1_did_not_write_is_refused(place):
    for value in ANYTHING:
        refusal(packed(*with_value(place, value, SENT_BY_0_1)))


def test_a_parquet_that_is_none_or_a_bomb_is_refused_in_a_board_file_of_version_0_1():
    names = pa.DictionaryArray.from_arrays(pa.array([0] * 50_000, pa.int32()), pa.array(["x" * 60_000]))
    bomb = stored(query_id=names, doc_id=[f"d{at}" for at in range(50_000)], score=[0.5] * 50_000)
    assert "bytes that unpack to more than 268 MB" in refusal(with_parquet(bomb))
    for data in (b"", b"PAR1PAR1", bomb[:-9]):
        refusal(with_parquet(data))


def test_files_that_unpack_to_too_much_together_are_refused(monkeypatch):
    rows = "".join(f"q{at // 1000} Q0 d{at} 1 1 t\n" for at in range(2000)).encode()
    files = [File(f"{name}.trec.gz", gzip.compress(rows)) for name in "abc"]
    spec = BoardSpec.of([*files, File("qrels.txt", b"q0 0 d1 1\n")])
    data = exported(make_board(spec, [entry.read() for entry in spec.entries]))
    monkeypatch.setattr("metrics.runs.reading.files.FREE_BYTES", 2 * len(rows))
    monkeypatch.setattr("metrics.runs.reading.files.MAX_GROWTH", 1)
    assert "that unpack to more than" in refusal(data)


def test_more_files_than_a_board_has_are_refused():
    board_json, _ = unpacked(SENT)
    board_json["files"] = board_json["files"][:1] * 101
    assert "files" in refusal(packed(board_json, {}))


def test_a_newer_format_is_told_from_a_damaged_file():
    assert refusal(packed(*with_value(("version",), 3))) == (
        "sent.tiescope: it was written by a newer TieScope (format 3; this one knows 2). Update TieScope."
    )
