"""Read small files that unfold to much, as uploads are read: python tests/benchmarks/hostile_inputs.py [NAME].

Each is read in a process of its own. Printed beside their bounds are the most memory it took above that of
the process with everything imported, and its seconds of CPU; then what the visitor is told. Ends with 1
where a bound is passed, or a hostile file is read. Needs Linux, which says the most memory of a process.
"""

import argparse
import bz2
import io
import json
import lzma
import resource
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).parents[1]))

MEGABYTES, SECONDS = 300, 10
"""Bounds of what is refused."""
_MB = 2**20
_FEW = "".join(f"q1 Q0 d{row:08} {row + 1} {0.5 + row % 7 / 8} llm\n" for row in range(100)).encode()
_ROWS = _FEW * (_MB // len(_FEW))
"""A megabyte of a run, the same hundred rows over and over."""


def gzip_of(chunk: bytes, times: int, first: bytes = b"") -> bytes:
    """Return one gzip member of a chunk over and over; its size is declared at its end, as gzip does."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    body = packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH)
    check = zlib.crc32(first)
    for _ in range(times):
        check = zlib.crc32(chunk, check)
    size = (len(first) + len(chunk) * times) % 2**32
    start = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    return start + head + body * times + packer.flush() + struct.pack("<2I", check, size)


def members(codec: str, chunk: bytes, times: int, first: bytes = b"") -> bytes:
    """Return a packed file of many members; none declares what all of them hold."""
    start = pa.compress(first, codec, asbytes=True) if first else b""
    return start + pa.compress(chunk, codec, asbytes=True) * times


def stored(columns: dict, **options: object) -> bytes:
    """Return a Parquet file."""
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, compression="zstd", **options)
    return stream.getvalue()


def stored_often(columns: dict, times: int) -> bytes:
    """Return a Parquet file of the same rows in one row group after the other."""
    table, stream = pa.table(columns), io.BytesIO()
    with parquet.ParquetWriter(stream, table.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(table)
    return stream.getvalue()


def same_text(length: int, rows: int) -> pa.DictionaryArray:
    """Return one long text in every row, stored once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))


def constant(rows: int) -> dict:
    """Return columns of one value."""
    return {"query_id": same_text(8, rows), "doc_id": same_text(8, rows), "score": np.zeros(rows)}


def long_texts(rows: int) -> dict:
    """Return columns of distinct texts of 10,000 letters, almost all the same."""
    texts = [f"{row:06}{'x' * 10_000}" for row in range(rows)]
    return {"query_id": ["q"] * rows, "doc_id": texts, "score": np.zeros(rows)}


def wide(n_columns: int) -> dict:
    """Return a row of many columns."""
    return {"query_id": "q", "doc_id": "d", "score": 1.0} | {f"column {n}": 1.0 for n in range(n_columns)}


def many_documents() -> dict:
    """Return a query of many fields, which stand beside each of its many documents once these are rows."""
    fields = {f"column {n}": 1 for n in range(900)}
    return {"query_id": "q", **fields, "hits": [{"doc_id": f"d{n}", "score": 1} for n in range(100_000)]}


def wide_csv(n_columns: int) -> bytes:
    """Return a table of many columns."""
    row = wide(n_columns)
    return (",".join(row) + "\n" + (",".join(map(str, row.values())) + "\n") * 3).encode()


ROW = b'{"query_id": "q", "doc_id": "d", "score": 1}'
HOSTILE = {
    "run 2.6 GB.gz": lambda: gzip_of(_ROWS, 2600),
    "run 2.6 GB in members.gz": lambda: members("gzip", _ROWS, 2600),
    "run 2.6 GB.zst": lambda: members("zstd", _ROWS, 2600),
    "run 1.9 GB.gz": lambda: gzip_of(_ROWS, 1900),
    "run 1.9 GB in members.gz": lambda: members("gzip", _ROWS, 1900),
    "table 1.9 GB in members.gz": lambda: members(
        "gzip", b'"q1","d1",0.5\n' * 75_000, 1900, b"query_id,doc_id,score\n"
    ),
    "zeros 4 GB.gz": lambda: members("gzip", bytes(_MB), 4096, b"q Q0 d 1 1 t\n"),
    "line 2 GB.gz": lambda: members("gzip", b"x" * _MB, 2048, b"q Q0 d 1 1 t\n"),
    "line 190 MB.trec": lambda: b"q Q0 d 1 1 t\nq Q0 " + b"x" * 190_000_000,
    "quote 190 MB.csv": lambda: b'query_id,doc_id,score,note\nq,d,1,x\nq,e,2,"' + b"x\n" * 95_000_000,
    "columns 100,000.csv": lambda: wide_csv(100_000),
    "columns 1,000,000.csv": lambda: wide_csv(1_000_000),
    "columns 100,000.json": lambda: json.dumps([wide(100_000)]).encode(),
    "columns 100,000.jsonl": lambda: (json.dumps(wide(100_000)) + "\n").encode() * 2,
    "columns 100,000.parquet": lambda: stored({name: [one] for name, one in wide(100_000).items()}),
    "row groups 20,000.parquet": lambda: stored_often(constant(1), 20_000),
    "constant rows 2.5 GB.parquet": lambda: stored_often(constant(1_000_000), 100),
    "constant rows 2.5 GB in one group.parquet": lambda: stored(
        constant(100_000_000), row_group_size=100_000_000
    ),
    "a text 3 GB.parquet": lambda: stored({**constant(50_000), "doc_id": same_text(60_000, 50_000)}),
    "long texts 2.5 GB.parquet": lambda: stored_often(long_texts(10_000), 25),
    "long texts 2.5 GB in one group.parquet": lambda: stored(long_texts(250_000), row_group_size=250_000),
    "zeros 2 GB.parquet.gz": lambda: members("gzip", bytes(_MB), 2000, b"PAR1"),
    "brackets 190 MB.json": lambda: b"[" * 190_000_000,
    "empty records 190 MB.json": lambda: b"[" + b"{}," * 63_000_000 + b"{}]",
    "empty records 255 MB.json.gz": lambda: members("gzip", b"{}," * 330_000, 250, b"["),
    "empty lists 150 MB.jsonl": lambda: (ROW[:-1] + b', "note": [' + b"[]," * 5_000_000 + b"[]]}\n") * 10,
    "empty records 190 MB.jsonl": lambda: ROW + b"\n" + b"{}\n" * 63_000_000,
    "documents that repeat 900 fields.json": lambda: json.dumps([many_documents()]).encode(),
    "run 2.6 GB.bz2": lambda: bz2.compress(_ROWS) * 2600,
    "run 2.6 GB.xz": lambda: lzma.compress(_ROWS) * 2600,
}
"""Name of a file → what makes it."""


def peak() -> int:
    """Return the most megabytes this process held so far, whoever started it."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024


def read(path: Path) -> None:
    """Read a file as an upload is read, and print memory, seconds and outcome."""
    import pyarrow.parquet  # noqa: F401, PLC0415 as above

    from dashboard.library.boards import BoardSpec, make_board  # noqa: PLC0415 as above
    from metrics.errors import TieScopeError  # noqa: PLC0415 as above
    from metrics.runs import File  # noqa: PLC0415 as above

    file = File(path.name, path.read_bytes())
    before, used = peak(), resource.getrusage(resource.RUSAGE_SELF)
    try:
        spec = BoardSpec.of([file])
        make_board(spec, [entry.read() for entry in spec.entries])
        outcome = ""
    except TieScopeError as error:
        outcome = str(error)
    now = resource.getrusage(resource.RUSAGE_SELF)
    seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(json.dumps([peak() - before, seconds, outcome]))


def measure(name: str, folder: Path) -> bool:
    """Make a file, have it read in a process of its own, print a line; return whether it keeps the bounds."""
    path = folder / name
    path.write_bytes(HOSTILE[name]())
    command = [sys.executable, __file__, "--read", str(path)]
    size = path.stat().st_size / 10**6
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    path.unlink()
    if run.returncode:
        print(f"{name:42}{size:8.1f} MB  ended with {run.returncode}: {run.stderr[-300:]}", flush=True)
        return False
    megabytes, seconds, outcome = json.loads(run.stdout)
    figures = f"{megabytes:5,} MB ({MEGABYTES}) {seconds:6.1f} s ({SECONDS})"
    print(f"{name:42}{size:7.1f} MB {figures}  {outcome or 'It is read.'}", flush=True)
    return bool(outcome) and megabytes <= MEGABYTES and seconds <= SECONDS


def main() -> int:
    """Measure the files named, all where none is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(HOSTILE))
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(name, Path(folder)) for name in arguments.names or HOSTILE]
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
