"""Board files as they are sent, whole and spoiled, and what reads them."""

import io
import json
import zipfile
from hashlib import sha256

import pyarrow as pa
import pytest
from boards import COARSE, QRELS, STRICT, board
from pyarrow import parquet

from dashboard.library.boards import make_board
from dashboard.library.exchange.board_file import export
from dashboard.library.exchange.board_import import load
from metrics import ReadError
from metrics.runs import File

VIEW = {"baseline": "a", "precision": "float64", "relevant_from": 1.5, "tied": True, "measures": ["RR", "AP"]}
TABLE = "query_id,doc_id,score,other,relevance\nq,a,1,3,0\nq,b,1,2,1\nq,c,1,1,0\n"


def exported(board_or_record, view=None):
    stream = io.BytesIO()
    export(board_or_record, stream, view)
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


def with_parquet(data):
    """A board file with another Parquet in the place of its first, the hash of which is right."""
    board_json, entries = unpacked(SENT)
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


SENT = exported(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS), VIEW)


HUGE = 10**400
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
    board_json, entries = unpacked(SENT)
    board_json["names"] = [["strict", "a"], ["coarse", "b"]]
    board_json["files"][0]["columns"] = [["score", "score"]]
    board_json["files"][0]["reading"]["noted"] = [dict(NOTED)]
    container = board_json
    for step in place[:-1]:
        container = container[step]
    container[place[-1]] = value
    return board_json, entries
