"""A JSON that no export writes is refused."""

import json

import pytest
from board_files import ANYTHING, PLACES, SENT, exported, loaded, packed, refusal, unpacked, with_value

from metrics import ReadError

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
            exported(came.board, came.view)
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
        (("files", 0, "size"), 10**30),
        (("files", 0, "sha256"), "A" * 64),
        (("files", 0, "parquet"), "0" * 64),
        (("files", 0, "columns"), [["score", "absent"]]),
        (("files", 0, "columns"), [["score", ""]]),
        (("files", 0, "columns"), [["score", "query_id"]]),
        (("files", 0, "columns"), [["nothing", "score"]]),
        (("files", 0, "columns"), [["score", "score"], ["score", ""]]),
        (("files", 0, "reading", "mapping", "score"), "absent"),
        (("files", 0, "reading", "mapping", "score"), "doc_id"),
        (("files", 0, "reading", "format"), "excel"),
        (("files", 0, "reading", "header"), ["x"] * 2000),
        (("files", 0, "reading", "noted", 0, "code"), "unknown"),
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


def test_a_parquet_in_the_place_of_another_is_told():
    board_json, entries = unpacked(SENT)
    entries["files/01.parquet"] = entries["files/00.parquet"]
    assert "the Parquet of 'coarse.trec' is not the one that was exported" in refusal(
        packed(board_json, entries)
    )


def test_more_files_than_a_board_has_are_refused():
    board_json, _ = unpacked(SENT)
    board_json["files"] = board_json["files"][:1] * 101
    assert "files" in refusal(packed(board_json, {}))


def test_a_newer_format_is_told_from_a_damaged_file():
    assert refusal(packed(*with_value(("version",), 2))) == (
        "sent.tiescope: it was written by a newer TieScope (format 2; this one knows 1). Update TieScope."
    )
