"""Boards in one file: they come back as they were, are uploads like others, and nothing else is read."""

import gzip
import io
import json
import stat
import zipfile
from dataclasses import replace
from hashlib import sha256

import pyarrow as pa
import pytest
from board_files import (
    ANYTHING,
    PLACES,
    PLACES_OF_0_1,
    PUBLISHED,
    SENT,
    SENT_BY_0_1,
    TABLE,
    VIEW,
    as_read,
    exported,
    loaded,
    packed,
    refusal,
    stored,
    unpacked,
    with_file,
    with_parquet,
    with_value,
)
from boards import COARSE, EXTREMES, HOSTILE, QRELS, STRICT, TIED, board
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs.written import SAMPLE, as_parquet

from dashboard.library import board_file
from dashboard.library.board_file import load
from dashboard.library.boards import BoardSpec, Entry, make_board
from dashboard.library.loaded import LoadedBoards, table_label, unpacked_files
from dashboard.library.records import id_of
from metrics import ReadError, evaluate
from metrics.errors import LibraryError
from metrics.runs import File, read

pytestmark = pytest.mark.usefixtures("disk")


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


def test_what_was_sent_is_kept_as_it_came(library):
    came = loaded(SENT)
    record = library.keep(came.board, name=came.name, view=came.view)
    assert evaluate(as_read(record).runs).scores.equals(evaluate(came.board.runs).scores)
    assert [entry.file.sha256 for entry in record.spec.entries] == [
        one["sha256"] for one in unpacked(SENT)[0]["files"]
    ]
    assert library.keep(loaded(SENT).board, name="").spec.digest == record.spec.digest


def test_what_is_kept_already_is_the_same_upload(library):
    before = library.keep(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS))
    after = library.keep(loaded(exported(before)).board)
    assert after.id == before.id
    assert len(library.uploads()) == 3


def test_the_board_of_who_chose_other_columns_is_found_again_as_theirs(library):
    for owner, column in (("ada", "score"), ("ben", "other")):
        entry = Entry(File("a.csv", TABLE.encode()), (("score", column),))
        library.keep(make_board(BoardSpec((entry,)), [entry.read()]), owner)
    (theirs,) = library.boards("ben")
    data = exported(library.find(theirs.id, "ben"))
    assert library.keep(loaded(data).board, "ben").id == theirs.id
    assert len(library.uploads("ben")) == 1
    (mine,) = library.spec_of([File("", TABLE.encode()).sha256], "ada").entries
    assert mine.read().table["score"].to_pylist() == [1, 1, 1]


def test_a_copy_that_was_lost_is_there_again_when_the_board_is_sent(library, tmp_path):
    before = library.keep(board(a_csv=TABLE))
    data = exported(before)
    next((tmp_path / "home").glob("uploads/*/*.*")).unlink()
    assert as_read(library.keep(loaded(data).board)).runs.rerankers == ["a"]


def test_a_board_too_large_for_the_library_is_refused_whatever_size_it_states(open_library):
    library = open_library(most_upload=100)
    with pytest.raises(LibraryError, match="larger than"):
        library.keep(loaded(SENT).board)
    assert library.uploads() == []


def test_an_upload_that_was_lost_cannot_be_exported(library, tmp_path):
    record = library.keep(board(a_csv=TABLE))
    next((tmp_path / "home").glob("uploads/*/*.*")).write_bytes(b"")
    with pytest.raises(LibraryError, match=r"a\.csv: the library's copy is damaged"):
        exported(record)


@pytest.mark.parametrize(
    ("limit", "message"),
    [((board_file, "MOST_FILE_BYTES", 10), "larger than"), ((board_file, "MOST_BYTES", 9), "metadata exceeds")],
)
def test_a_board_that_could_not_be_read_again_is_not_exported(monkeypatch, limit, message):
    monkeypatch.setattr(*limit)
    with pytest.raises(LibraryError, match=message):
        exported(board(a_csv=TABLE))


def test_a_view_that_could_not_be_read_again_is_not_exported():
    with pytest.raises(LibraryError, match="view"):
        exported(board(a_csv=TABLE), {"key": None})


def changed(**attributes):
    """The file sent, the entry of its JSON changed."""
    board_json, entries = unpacked(SENT)
    info = zipfile.ZipInfo("board.json")
    for name, value in attributes.items():
        setattr(info, name, value)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(info, json.dumps(board_json))
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream.getvalue()


def encrypted():
    """The bit that says so, in the entry and in the directory."""
    data = bytearray(SENT)
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.rindex(mark) + offset] |= 1
    return bytes(data)


def twice(name):
    board_json, entries = unpacked(SENT)
    stream = io.BytesIO(packed(board_json, entries))
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(name, entries.get(name, b"{}"))
    return stream.getvalue()


def resized(size):
    """The directory says another size of the JSON than it has."""
    data = bytearray(SENT)
    offset = data.rindex(b"PK\1\2") + 24
    data[offset : offset + 4] = size.to_bytes(4, "little")
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
    "files/00/",
    "files/0",
    "FILES/00",
    "other.tiescope",
    "files/\u0660\u0660",
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
    "an upload twice": lambda: twice("files/01"),
    "no JSON": lambda: packed(b"", {}).replace(b"board.json", b"other.json"),
    "an upload too few": lambda: packed(unpacked(SENT)[0], {}),
    "an upload too many": lambda: packed(unpacked(SENT)[0], unpacked(SENT)[1] | {"files/09": b""}),
    "too many entries": lambda: packed(b"{}", {f"files/{at:03}": b"" for at in range(250)}),
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
        "sent.tiescope: this is not a complete board file. Export the board again."
    )


def test_a_list_of_thousands_of_entries_is_not_even_read():
    assert "more than 201 entries" in refusal(ODD_ZIPS["too many entries"]())
    assert "more than 201 entries" in refusal(SENT[:-10] + (10**6).to_bytes(4, "little") + SENT[-6:])


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "hidden"])
def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch, declared):
    data = packed(unpacked(SENT)[0], unpacked(SENT)[1] | {"files/01": bytes(10**7)}, zipfile.ZIP_DEFLATED)
    if not declared:
        data = data.replace((10**7).to_bytes(4, "little"), (200).to_bytes(4, "little"))
    monkeypatch.setattr(board_file, "MOST_FILE_BYTES", 10**6)
    assert ("larger than 1 MB" if declared else "damaged") in refusal(data)


def test_a_path_is_read_as_its_bytes_are(tmp_path):
    path = tmp_path / "sent.tiescope"
    path.write_bytes(SENT)
    assert load(File.open(path)).board.key == loaded(SENT).board.key


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
    assert "'coarse.trec' has changed since the export" in refusal(packed(board_json, entries))


@pytest.mark.parametrize("place", PLACES_OF_0_1, ids=lambda place: ".".join(map(str, place)))
def test_a_value_that_version_0_1_did_not_write_is_refused(place):
    for value in ANYTHING:
        refusal(packed(*with_value(place, value, SENT_BY_0_1)))


def test_a_parquet_that_is_none_or_a_bomb_is_refused_in_a_board_file_of_version_0_1():
    names = pa.DictionaryArray.from_arrays(pa.array([0] * 50_000, pa.int32()), pa.array(["x" * 60_000]))
    bomb = stored(query_id=names, doc_id=[f"d{at}" for at in range(50_000)], score=[0.5] * 50_000)
    assert "bytes unpack to more than 268 MB" in refusal(with_parquet(bomb))
    for data in (b"", b"PAR1PAR1", bomb[:-9]):
        refusal(with_parquet(data))


def test_files_that_unpack_to_too_much_together_are_refused(monkeypatch):
    rows = "".join(f"q{at // 1000} Q0 d{at} 1 1 t\n" for at in range(2000)).encode()
    files = [File(f"{name}.trec.gz", gzip.compress(rows)) for name in "abc"]
    spec = BoardSpec.of([*files, File("qrels.txt", b"q0 0 d1 1\n")])
    data = exported(make_board(spec, [entry.read() for entry in spec.entries]))
    monkeypatch.setattr("metrics.runs.files.FREE_BYTES", 2 * len(rows))
    monkeypatch.setattr("metrics.runs.files.MAX_GROWTH", 1)
    assert "unpack to more than" in refusal(data)


def test_more_files_than_a_board_has_are_refused():
    board_json, _ = unpacked(SENT)
    board_json["files"] = board_json["files"][:1] * 101
    assert "files" in refusal(packed(board_json, {}))


def test_a_newer_format_is_told_from_a_damaged_file():
    assert refusal(packed(*with_value(("version",), 3))) == (
        "sent.tiescope: it was written by a newer TieScope (format 3; this version reads 2). Update TieScope."
    )


CASES = 6_000
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
        start = draw(st.integers(0, len(data)) | st.integers(max(0, len(data) - 300), len(data)))
        piece = draw(st.sampled_from(WORDS) | st.binary(max_size=4))
        data = data[:start] + piece + data[start + draw(st.sampled_from([0, len(piece), 1, 9])) :]
    return data


def overwritten(draw, data):
    """As long as before: lengths still hold."""
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, max(0, len(data) - 1)))
        data = data[:position] + draw(st.binary(min_size=1, max_size=1)) + data[position + 1 :]
    return data


@st.composite
def damaged(draw):
    """A board file whose zip, JSON, values or files are not as they were."""
    board_json, entries = unpacked(SENT)
    spoil = draw(st.sampled_from([edited, overwritten]))
    kind = draw(st.sampled_from(["zip", "text", "value", "file", "parquet"]))
    if kind == "zip":
        return spoil(draw, SENT)
    if kind == "text":
        return packed(spoil(draw, json.dumps(board_json).encode()), entries)
    if kind == "value":
        return packed(*with_value(draw(st.sampled_from(PLACES)), draw(VALUES)))
    if kind == "parquet":
        return with_parquet(spoil(draw, unpacked(SENT_BY_0_1)[1]["files/00.parquet"]))
    return with_file(spoil(draw, entries["files/00"]))


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
    assert loaded(exported(came.board, came.view, came.published)).board.spec.digest == came.board.spec.digest


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_damaged_board_files_give_a_board_or_an_error_of_ours(data):
    use(data)


@pytest.mark.fuzz
@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_thousands_of_damaged_board_files_give_a_board_or_an_error_of_ours(data):
    use(data)
