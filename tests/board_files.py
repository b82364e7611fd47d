"""Board files as they are sent, whole and spoiled, and what reads them."""

import io
import json
import zipfile
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest
from boards import COARSE, QRELS, STRICT, board
from pyarrow import parquet

from dashboard.library.board_file import export, load
from dashboard.library.boards import make_board
from dashboard.library.loaded import packed_files, table_label
from metrics import ReadError
from metrics.runs import File

VIEW = {"baseline": "a", "precision": "float64", "relevant_from": 1.5, "tied": True, "measures": ["RR", "AP"]}
TABLE = "query_id,doc_id,score,other,relevance\nq,a,1,3,0\nq,b,1,2,1\nq,c,1,1,0\n"


def exported(board_or_record, view=None, published=None):
    stream = io.BytesIO()
    export(board_or_record, stream, view, published)
    return stream.getvalue()


def loaded(data):
    return load(File("sent.tiescope", data))


def as_read(record):
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


def unpacked(data):
    """What the JSON says, and the other entries."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(entries.pop("board.json")), entries


def packed(board_json, entries, method=zipfile.ZIP_STORED):
    """A board file that says so and holds that; entries may come twice."""
    stream = io.BytesIO()
    text = board_json if isinstance(board_json, bytes) else json.dumps(board_json).encode()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in [("board.json", text), *entries.items()]:
            archive.writestr(name, data)
    return stream.getvalue()


def with_file(data):
    """A board file with other bytes in the place of its first file, the hash of which is right."""
    board_json, entries = unpacked(SENT)
    board_json["files"][0]["sha256"] = sha256(data).hexdigest()
    return packed(board_json, entries | {"files/00": data})


def with_parquet(data):
    """A board file of version 0.1, another Parquet of a right hash in the place of its first."""
    board_json, entries = unpacked(SENT_BY_0_1)
    board_json["files"][0]["parquet"] = sha256(data).hexdigest()
    return packed(board_json, entries | {"files/00.parquet": data})


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


PUBLISHED = (File("paper.csv", b"reranker,RR\nstrict,0.5\n"), File("more.txt", b"RR 1"))
SENT = exported(
    board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS),
    VIEW,
    (table_label(PUBLISHED), packed_files(PUBLISHED)),
)
SENT_BY_0_1 = (Path(__file__).parent / "stored_by_0_1" / "board.tiescope").read_bytes()


HUGE = 10**400
ANYTHING = [None, True, -1, 0, 1.5, HUGE, 2**60, "", "x", "\0", "\ud800", [], ["x"], [["x", "y"]], {}, {"x": 1}]
PLACES = [
    *(("format",), ("version",), ("name",), ("repeated",), ("names",), ("names", 0), ("names", 0, 1)),
    *(("view",), ("view", "baseline"), ("files",), ("files", 0), ("files", 0, "name"), ("files", 0, "sha256")),
    *(("files", 0, "columns"), ("files", 0, "columns", 0)),
    *(("files", 0, "columns", 0, 0), ("files", 0, "columns", 0, 1)),
    *(("published",), ("published", 0), ("published", 0, "name"), ("published", 0, "sha256")),
]
PLACES_OF_0_1 = [
    *(("files", 0), ("files", 0, "parquet"), ("files", 0, "reading")),
    *(("files", 0, "reading", "format"), ("files", 0, "reading", "mapping")),
    ("files", 0, "reading", "mapping", "score"),
]


def with_value(place, value, data=SENT):
    """What the JSON says and the entries, with another value in one place."""
    board_json, entries = unpacked(data)
    if data == SENT:
        board_json["names"] = [["strict", "a"], ["coarse", "b"]]
        board_json["files"][0]["columns"] = [["score", "score"]]
    container = board_json
    for step in place[:-1]:
        container = container[step]
    container[place[-1]] = value
    return board_json, entries
