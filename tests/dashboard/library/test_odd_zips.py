"""A zip that no export writes is refused."""

import io
import json
import stat
import zipfile

import pytest
from board_files import SENT, loaded, packed, refusal, unpacked
from boards import STRICT

from dashboard.library import board_file
from dashboard.library.board_file import load
from metrics.runs import File


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
        "sent.tiescope: this is no board file, or only a part of one. Have the board exported again."
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
