"""A board as one file: it comes back as it was, and whatever else comes is refused.

pytest -m fuzz tests/dashboard/library/test_exchange.py    6,000 damaged files; not part of a plain run
"""

import io
import json
import stat
import zipfile
from dataclasses import replace
from hashlib import sha256

import pyarrow as pa
import pytest
from boards import COARSE, EXTREMES, HOSTILE, QRELS, STRICT, TIED, board
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from dashboard.library import BoardSpec, Entry, make_board
from dashboard.library.exchange import board_file, board_import, contents
from dashboard.library.exchange.board_file import export
from dashboard.library.exchange.board_import import load
from dashboard.library.loaded import LoadedBoards
from dashboard.library.storage.records import id_of
from dashboard.library.storage.stored_upload import StoredUpload
from metrics import ReadError, evaluate
from metrics.errors import LibraryError
from metrics.runs import File, read

CASES = 6_000
VIEW = {"baseline": "a", "precision": "float64", "relevant_from": 1.5, "tied": True, "measures": ["RR", "AP"]}
TABLE = "query_id,doc_id,score,other,relevance\nq,a,1,3,0\nq,b,1,2,1\nq,c,1,1,0\n"


def exported(of, view=None):
    stream = io.BytesIO()
    export(of, stream, view)
    return stream.getvalue()


def loaded(data):
    return load(File("sent.tiescope", data))


def as_read(record):
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


def unpacked(data):
    """What the JSON says, and the other entries."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        entries = {name: packed.read(name) for name in packed.namelist()}
    return json.loads(entries.pop("board.json")), entries


def packed(said, entries, method=zipfile.ZIP_STORED):
    """A board file that says so and holds that; entries may come twice."""
    stream = io.BytesIO()
    text = said if isinstance(said, bytes) else json.dumps(said).encode()
    with zipfile.ZipFile(stream, "w", method) as made:
        for name, data in [("board.json", text), *entries.items()]:
            made.writestr(name, data)
    return stream.getvalue()


def with_parquet(data):
    """A board file with another Parquet in the place of its first, the hash of which is right."""
    said, entries = unpacked(SENT)
    said["files"][0]["parquet"] = sha256(data).hexdigest()
    return packed(said, entries | {"files/00.parquet": data})


def stored(**columns):
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, compression="zstd")
    return stream.getvalue()


def refusal(data):
    with pytest.raises(ReadError) as caught:
        loaded(data)
    assert caught.value.file == "sent.tiescope"
    assert caught.value.hint
    return str(caught.value)


SENT = exported(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS), VIEW)


@pytest.fixture(autouse=True)
def disk(tmp_path, monkeypatch):
    """Where anything temporary would be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


# round trips


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
    named = replace(before, spec=replace(before.spec, title="Nightly"))
    assert exported(record) == exported(named, VIEW)


def test_nothing_says_whose_a_board_is_and_which_number_it_has(library):
    record = library.keep(board(a_csv=TABLE), "ada@example.org", name="Nightly")
    data = exported(record)
    assert record.id.encode() not in data
    assert b"ada" not in data


def test_names_order_choices_and_view_come_along(library):
    given = Entry(File("t.csv", TABLE.encode()), (("score", "other"),))
    other = File("u.csv", TABLE.encode().replace(b"\n", b"\r\n"))
    spec = BoardSpec((given, Entry(other)), "max", (("u", "second"), ("t", "first\0")))
    record = library.keep(make_board(spec, [given.read(), read(other)]), name="A ties", view=VIEW)
    came = loaded(exported(record))
    assert (came.name, came.view, came.board.spec.repeated) == ("A ties", VIEW, "max")
    assert came.board.runs.rerankers == ["second", "first\0"]
    assert came.board.runs.tables["first\0"]["score"].to_pylist() == [3, 2, 1]
    assert came.board.label.startswith("2 runs, 1 query · ")


@pytest.mark.parametrize("name", ["Nightly", "Sample: docstring search"])
def test_a_board_that_was_sent_is_found_in_memory_whatever_its_name(library, name):
    came = loaded(exported(library.keep(board(a_csv=TABLE), name=name)))
    held = LoadedBoards()
    held.add(came.board)
    assert (came.name, came.board.spec.title) == (name, "")
    assert held.get(id_of(came.board.label)) is came.board


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
    given = BoardSpec((Entry(File("caf\udce9.csv", TABLE.encode())),))
    came = loaded(exported(make_board(given, [given.entries[0].read()])))
    assert came.board.runs.rerankers == ["caf?"]


def test_a_zip_that_was_packed_again_can_be_read():
    assert loaded(packed(*unpacked(SENT), zipfile.ZIP_DEFLATED)).board.runs.rerankers == ["strict", "coarse"]


# into a library


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
    said, entries = unpacked(exported(board(a_csv=TABLE.replace("q,a,1,3", "q,a,9,9"))))
    said["files"][0]["sha256"] = victim
    spoil(said["files"][0])
    return packed(said, entries)


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_nobody_can_put_another_table_under_the_hash_of_an_upload(library, first):
    mine = board(a_csv=TABLE)
    false = loaded(claiming(mine.files[0].sha256, lambda _: None)).board
    for one, owner in [(false, "eve"), (mine, "ada")] if first else [(mine, "ada"), (false, "eve")]:
        library.keep(one, owner)
    (upload,) = library.uploads("ada")
    assert upload.sha256 == mine.files[0].sha256 != library.uploads("eve")[0].sha256
    (entry,) = library.spec_of([upload.sha256], "ada").entries
    assert entry.read().table["score"].to_pylist() == [1, 1, 1]


def test_nobody_can_have_the_table_of_an_upload_read_otherwise(library):
    mine = exported(board(a_csv=TABLE))
    said, entries = unpacked(mine)
    said["files"][0]["reading"]["mapping"]["score"] = "other"
    library.keep(loaded(packed(said, entries)).board, "eve")
    said["files"][0]["columns"] = [["score", "score"]]
    library.keep(loaded(packed(said, entries)).board, "eve")
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
    said, entries = unpacked(exported(mine))
    assert said["files"][0]["reading"][name] != value
    said["files"][0]["reading"][name] = value
    false = library.keep(loaded(packed(said, entries)).board, "eve")
    assert false.spec.entries[0].file.sha256 != mine.spec.entries[0].file.sha256
    assert false.spec.digest != mine.spec.digest
    assert false.spec.key != mine.spec.key


def test_what_somebody_states_was_found_is_told_of_their_board_alone(library):
    mine = library.keep(board(a_csv=TABLE), "ada")
    said, entries = unpacked(exported(mine))
    said["files"][0]["reading"]["noted"] = [NOTED | {"message": "All is well."}]
    false = library.keep(loaded(packed(said, entries)).board, "eve")
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
    ("limit", "said"),
    [((board_file, "MOST_PARQUET_BYTES", 100), "larger than"), ((board_file, "MOST_BYTES", 9), "names take")],
)
def test_a_board_that_could_not_be_read_again_is_not_exported(monkeypatch, limit, said):
    monkeypatch.setattr(*limit)
    with pytest.raises(LibraryError, match=said):
        exported(board(a_csv=TABLE))


def test_a_view_that_could_not_be_read_again_is_not_exported():
    with pytest.raises(LibraryError, match="view"):
        exported(board(a_csv=TABLE), {"key": None})


# refusals: the zip


def changed(**attributes):
    """The file sent, the entry of its JSON changed."""
    said, entries = unpacked(SENT)
    info = zipfile.ZipInfo("board.json")
    for name, value in attributes.items():
        setattr(info, name, value)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr(info, json.dumps(said))
        for name, data in entries.items():
            made.writestr(name, data)
    return stream.getvalue()


def encrypted():
    """The bit that says so, in the entry and in the directory."""
    data = bytearray(SENT)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.rindex(mark) + at] |= 1
    return bytes(data)


def twice(name):
    said, entries = unpacked(SENT)
    stream = io.BytesIO(packed(said, entries))
    with zipfile.ZipFile(stream, "a") as made, pytest.warns(UserWarning, match="Duplicate"):
        made.writestr(name, entries.get(name, b"{}"))
    return stream.getvalue()


def resized(size):
    """The directory says another size of the JSON than it has."""
    data = bytearray(SENT)
    at = data.rindex(b"PK\1\2") + 24
    data[at : at + 4] = size.to_bytes(4, "little")
    return bytes(data)


OUTSIDE = [
    "../evil",
    "/etc/evil",
    "files/../../evil",
    "..\\evil",
    "C:\\evil",
    "C:evil",
    "files/",
]
OUTSIDE += [
    "files/00.parquet/",
    "files/0.parquet",
    "FILES/00.parquet",
    "other.tiescope",
    "files/\u0660\u0660.parquet",
]
ODD_ZIPS = {
    "nothing": lambda: b"",
    "a text": STRICT.encode,
    "half": lambda: SENT[: len(SENT) // 2],
    "its end alone": lambda: SENT[-22:],
    "without its first byte": lambda: SENT[1:],
    "something before it": lambda: b"MZ" + SENT,
    "something behind it": lambda: SENT + b"\0",
    "a comment": lambda: SENT[:-2] + b"\x01\x00x",
    "encrypted": encrypted,
    "a link": lambda: changed(external_attr=(stat.S_IFLNK | 0o777) << 16),
    "a device": lambda: changed(external_attr=(stat.S_IFCHR | 0o666) << 16),
    "packed with bzip2": lambda: packed(*unpacked(SENT), zipfile.ZIP_BZIP2),
    "packed with lzma": lambda: packed(*unpacked(SENT), zipfile.ZIP_LZMA),
    "JSON twice": lambda: twice("board.json"),
    "an upload twice": lambda: twice("files/01.parquet"),
    "no JSON": lambda: packed(b"", {}).replace(b"board.json", b"other.json"),
    "an upload too few": lambda: packed(unpacked(SENT)[0], {}),
    "an upload too many": lambda: packed(unpacked(SENT)[0], unpacked(SENT)[1] | {"files/09.parquet": b""}),
    "too many entries": lambda: packed(b"{}", {f"files/{at:03}.parquet": b"" for at in range(150)}),
    "a nested zip": lambda: packed(unpacked(SENT)[0], unpacked(SENT)[1] | {"files/00.zip": SENT}),
    "a name with NUL": lambda: packed(b"{}", {"board.json~x": b""}).replace(b"json~x", b"json\0x"),
    "a size too small": lambda: resized(10),
    "a size too large": lambda: resized(2**31),
    "a bomb of JSON": lambda: packed(b" " * 2 * 10**6, {}, zipfile.ZIP_DEFLATED),
}
ODD_ZIPS |= {
    f"the entry {name!r}": lambda name=name: packed(unpacked(SENT)[0], {name: b""}) for name in OUTSIDE
}


@pytest.mark.parametrize("name", ODD_ZIPS)
def test_a_zip_that_is_not_as_it_should_be_is_refused(name):
    refusal(ODD_ZIPS[name]())


def test_a_file_that_is_no_zip_is_told_so():
    assert refusal(STRICT.encode()) == (
        "sent.tiescope: this is no board file, or only a part of one. Have the board exported again."
    )


def test_a_list_of_thousands_of_entries_is_not_even_read():
    assert "more than 100 files" in refusal(ODD_ZIPS["too many entries"]())
    assert "more than 100 files" in refusal(SENT[:-10] + (10**6).to_bytes(4, "little") + SENT[-6:])


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "hidden"])
def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch, declared):
    data = packed(
        unpacked(SENT)[0], unpacked(SENT)[1] | {"files/01.parquet": bytes(10**7)}, zipfile.ZIP_DEFLATED
    )
    if not declared:
        data = data.replace((10**7).to_bytes(4, "little"), (200).to_bytes(4, "little"))
    monkeypatch.setattr(board_import, "MOST_PARQUET_BYTES", 10**6)
    assert ("larger than 1 MB" if declared else "damaged") in refusal(data)


def test_a_path_is_read_as_its_bytes_are(tmp_path):
    path = tmp_path / "sent.tiescope"
    path.write_bytes(SENT)
    assert load(File.open(path)).board.key == loaded(SENT).board.key


# refusals: the JSON

DEEP = "[" * 200_000
HUGE = 10**400
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
ANYTHING = [None, True, -1, 0, 1.5, HUGE, 2**60, "", "x", "\0", "\ud800", [], ["x"], [["x", "y"]], {}, {"x": 1}]
PLACES = [
    *(("format",), ("version",), ("name",), ("repeated",), ("names",), ("names", 0), ("names", 0, 1)),
    *(("view",), ("view", "baseline"), ("files",), ("files", 0), ("files", 0, "name"), ("files", 0, "sha256")),
    *(("files", 0, "size"), ("files", 0, "columns"), ("files", 0, "columns", 0), ("files", 0, "parquet")),
    *(("files", 0, "columns", 0, 0), ("files", 0, "columns", 0, 1), ("files", 0, "reading")),
    *(("files", 0, "reading", name) for name in ("format", "mapping", "header", "unit", "first", "noted")),
    *(("files", 0, "reading", *more) for more in [("mapping", "score"), ("header", 0), ("noted", 0)]),
    *(("files", 0, "reading", "noted", 0, name) for name in ("severity", "code", "file", "line", "message")),
    *(("files", 0, "reading", "noted", 0, name) for name in ("hint", "count")),
]
NOTED = {
    "severity": "info",
    "code": "comments",
    "file": "f",
    "line": 1,
    "message": "m",
    "hint": "h",
    "count": 1,
}


def with_value(place, value):
    """What the JSON says and the entries, with another value in one place."""
    said, entries = unpacked(SENT)
    said["names"] = [["strict", "a"], ["coarse", "b"]]
    said["files"][0]["columns"] = [["score", "score"]]
    said["files"][0]["reading"]["noted"] = [dict(NOTED)]
    at = said
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    return said, entries


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
        (("names", 0, 1), "b"),
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
    said, entries = unpacked(SENT)
    entries["files/01.parquet"] = entries["files/00.parquet"]
    assert "the Parquet of 'coarse.trec' is not the one that was exported" in refusal(packed(said, entries))


def test_more_files_than_a_board_has_are_refused():
    said, _ = unpacked(SENT)
    said["files"] = said["files"][:1] * 101
    assert "files" in refusal(packed(said, {}))


def test_a_newer_format_is_told_from_a_damaged_file():
    assert refusal(packed(*with_value(("version",), 2))) == (
        "sent.tiescope: it was written by a newer TieScope (format 2; this one knows 1). Update TieScope."
    )


# refusals: the Parquet


def columns(n=3, **others):
    usual = {"query_id": ["q"] * n, "doc_id": [f"d{at}" for at in range(n)], "score": [0.5] * n}
    return {name: values for name, values in (usual | others).items() if values is not None}


def repeated_text(length, rows):
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * length]))


ODD_PARQUETS = {
    "empty": lambda: b"",
    "a text": STRICT.encode,
    "its marks alone": lambda: b"PAR1PAR1",
    "cut": lambda: stored(**columns())[:-9],
    "its middle gone": lambda: stored(**columns(1000)).replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"),
    "a list": lambda: stored(**columns(), other=[[1]] * 3),
    "bytes": lambda: stored(**columns(), other=[b"x"] * 3),
    "a timestamp": lambda: stored(**columns(), other=pa.array([1, 2, 3], pa.timestamp("s"))),
    "a whole number": lambda: stored(**columns(), other=[1, 2, 3]),
    "large texts": lambda: stored(**columns(), other=pa.array(["x"] * 3, pa.large_string())),
    "texts that are not UTF-8": lambda: stored(
        **columns(), other=pa.Array.from_buffers(pa.string(), 3, pa.array([b"\xff"] * 3).buffers())
    ),
    "no column": lambda: stored(other=["x"]),
    "no row": lambda: stored(
        query_id=pa.array([], pa.string()), doc_id=pa.array([], pa.string()), score=pa.array([], pa.float64())
    ),
    "a column too few": lambda: stored(**columns(score=None)),
    "an empty id": lambda: stored(**columns(doc_id=["a", "", "c"])),
    "no number": lambda: stored(**columns(score=["a", "b", "c"])),
    "a document twice": lambda: stored(**columns(doc_id=["a", "a", "c"])),
    "a bomb that is read": lambda: stored(**columns(50_000, query_id=repeated_text(60_000, 50_000))),
    "a bomb that is not read": lambda: stored(**columns(50_000), other=repeated_text(60_000, 50_000)),
    "a bomb of ranks": lambda: stored(**columns(50_000), rank=repeated_text(60_000, 50_000)),
}


@pytest.mark.parametrize("name", ODD_PARQUETS)
def test_a_parquet_that_the_library_would_not_write_is_refused(name):
    message = refusal(with_parquet(ODD_PARQUETS[name]()))
    assert "strict.trec" in message
    if "bomb" in name:
        assert "larger than 2 GB unpacked" in message


def test_a_column_shorter_than_the_others_is_refused():
    data = unpacked(SENT)[1]["files/00.parquet"]
    values = b"rank\x15\x0c\x16"  # and then how many, here 20, doubled
    shorter = data.replace(values + b"\x28", values + b"\0")
    assert shorter != data
    assert "column 'rank' has not as many rows" in refusal(with_parquet(shorter))


def test_the_refusals_above_are_not_those_of_any_parquet():
    came = loaded(with_parquet(stored(**columns(), other=["x"] * 3)))
    assert len(came.board.runs.tables["strict"]) == 3


# whatever the bytes


WORDS = [
    b"",
    b"\0",
    b"\xff" * 4,
    b"PK\1\2",
    b"PK\3\4",
    b"PK\5\6",
    b"PK\6\6",
    b"PK\6\7",
    b"PAR1",
    b"{",
    b'"',
    b"9" * 30,
]
VALUES = st.recursive(
    st.sampled_from(ANYTHING),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def edited(draw, data):
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(data)) | st.integers(max(0, len(data) - 300), len(data)))
        piece = draw(st.sampled_from(WORDS) | st.binary(max_size=4))
        data = data[:at] + piece + data[at + draw(st.sampled_from([0, len(piece), 1, 9])) :]
    return data


def overwritten(draw, data):
    """As long as before: lengths still hold."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        data = data[:at] + draw(st.binary(min_size=1, max_size=1)) + data[at + 1 :]
    return data


@st.composite
def damaged(draw):
    """A board file whose zip, JSON, values or Parquet are not as they were."""
    said, entries = unpacked(SENT)
    spoil = draw(st.sampled_from([edited, overwritten]))
    kind = draw(st.sampled_from(["zip", "text", "value", "parquet", "parquet"]))
    if kind == "zip":
        return spoil(draw, SENT)
    if kind == "text":
        return packed(spoil(draw, json.dumps(said).encode()), entries)
    if kind == "value":
        return packed(*with_value(draw(st.sampled_from(PLACES)), draw(VALUES)))
    return with_parquet(spoil(draw, entries["files/00.parquet"]))


def use(data):
    """Read it, look at all of it and write it again; what is raised is ours and names the file."""
    try:
        came = loaded(data)
    except ReadError as error:
        assert str(error).startswith("sent.tiescope: ")  # noqa: PT017 either outcome is right
        str(error).encode()
        return
    "".join(came.board.runs.findings["message"]).encode()
    evaluate(came.board.runs, ["RR"])
    assert loaded(exported(came.board, came.view)).board.spec.digest == came.board.spec.digest


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_damaged_board_files_give_a_board_or_an_error_of_ours(data):
    use(data)


@pytest.fixture
def asked_for(request):
    """Nothing, where the marker was asked for."""
    if request.config.option.markexpr != "fuzz":
        pytest.skip("6,000 cases: pytest -m fuzz")


@pytest.mark.fuzz
@pytest.mark.usefixtures("asked_for")
@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_thousands_of_damaged_board_files_give_a_board_or_an_error_of_ours(data):
    use(data)


def test_an_import_is_in_memory_and_can_be_read_again():
    (entry, *_) = loaded(SENT).board.spec.entries
    assert isinstance(entry.file, StoredUpload)
    assert (
        entry.read().table["score"].to_pylist() == read(File("a", STRICT.encode())).table["score"].to_pylist()
    )


def test_json_holds_what_is_promised_and_nothing_else():
    said, _ = unpacked(SENT)
    assert list(said) == ["files", "format", "name", "names", "repeated", "version", "view"]
    assert list(said["files"][0]) == ["columns", "name", "parquet", "reading", "sha256", "size"]
    assert said["files"][0]["sha256"] == sha256(STRICT.encode()).hexdigest()
    assert said["files"][0]["size"] == len(STRICT)
    assert contents.ENTRY == "board.json"
    assert TIED not in str(said)
