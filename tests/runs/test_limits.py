"""What is too large, too long, too wide or too deep is refused by name, early, and within memory."""

import io
import json
import os
import re
import sys
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from reading import RUN, columns, refusal
from runs.memory import memory_of, read_blocks, read_whole
from runs.written import PACKED, WRITERS, as_parquet

from metrics import ReadError, Runs, UsageError
from metrics.runs import File, read
from metrics.runs.columns import MAX_COLUMNS
from metrics.runs.files import MAX_LINE
from metrics.runs.formats import json_records
from metrics.runs.formats.json_records import MAX_DEPTH

MANY = {
    "query_id": ["q1"] * 100 + ["q2"] * 100,
    "doc_id": [f"document {n}".replace(" ", "-") for n in range(200)],
    "score": [n / 7 for n in range(200)],
    "relevance": [float(n % 2) for n in range(200)],
}
OF_EVERY_FORMAT = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
OF_EVERY_TEXT = pytest.mark.parametrize(
    "writer", [writer for writer in WRITERS if writer.text], ids=lambda writer: writer.name
)
NESTED = ("nested-json", "mteb-predictions")
A_LINE_A_ROW = pytest.mark.parametrize(
    "writer",
    [writer for writer in WRITERS if writer.format not in ("json", *NESTED, "parquet")],
    ids=lambda writer: writer.name,
)


@pytest.fixture
def limit(monkeypatch):
    """Set one limit: by name, where it is looked up."""
    return lambda name, value: monkeypatch.setattr(f"metrics.runs.{name}", value)


@OF_EVERY_FORMAT
@pytest.mark.parametrize("packed", PACKED)
def test_a_file_from_disk_larger_than_the_limit_is_refused_by_name(writer, packed, limit, write):
    path = write("upload.dat", PACKED[packed](writer.write(MANY)))
    limit("files.MAX_BYTES", 1000)
    with pytest.raises(ReadError, match=r"^upload\.dat: larger than .* Split it by query\."):
        read(File.open(path))


@OF_EVERY_TEXT
@pytest.mark.parametrize("packed", PACKED)
def test_the_limit_is_of_unpacked_bytes_and_to_the_byte(writer, packed, limit):
    data = writer.write(MANY)
    limit("files.MAX_BYTES", len(data))
    assert len(columns(PACKED[packed](data))["query_id"]) == len(MANY["query_id"])
    limit("files.MAX_BYTES", len(data) - 1)
    assert "larger than" in str(refusal(PACKED[packed](data)))


@pytest.mark.parametrize(
    "use", [read, lambda file: file.size, lambda file: file.sha256], ids=["all", "size", "hash"]
)
def test_a_file_that_is_gone_when_it_is_read_is_refused_by_name(use, write):
    path = write("upload.dat", RUN)
    file = File.open(path)
    path.unlink()
    with pytest.raises(ReadError, match=r"^upload\.dat: "):
        use(file)


def test_a_pipe_is_read_whole_where_the_environment_sets_a_higher_limit(limit, monkeypatch):
    limit("files.MAX_BYTES", 10)
    monkeypatch.setenv("TIESCOPE_MAX_FILE_MB", "9" * 12)
    end, start = os.pipe()
    os.write(start, RUN)
    os.close(start)
    assert b"".join(File.open(f"/dev/fd/{end}").blocks()) == RUN
    os.close(end)


@A_LINE_A_ROW
def test_a_line_longer_than_the_limit_is_refused_with_its_number(writer, limit):
    limit("files.MAX_LINE", 2**20)
    lines = writer.sample().splitlines(keepends=True)
    long = lines[-1].replace(b"d1", b"d1" + b"x" * 2**22)
    error = refusal(b"".join([*lines, long, lines[0]]), "upload.dat")
    assert str(error).startswith(f"upload.dat, line {len(lines) + 1}: a line of more than 1 MB")
    assert error.hint == "Leave out the column that makes it so long."


LONG = {
    "in a TREC run": b"q Q0 d 1 1 t\nq Q0 %s 2 0.5 t\n",
    "in a table": b"query_id,doc_id,score\nq,d,1\nq,%s,2\n",
    "in quotes in a table": b'query_id,doc_id,score,note\nq,d,1,x\nq,e,2,"%s"\n',
    "after a quote that never closes": b'query_id,doc_id,score,note\nq,d,1,x\nq,e,2,"%s\n',
    "in records": b'{"query_id": "q", "score": 1, "doc_id": "d"}\n'
    b'{"query_id": "q", "score": 1, "doc_id": "%s"}\n',
}
"""Files with a place for a field."""


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_field_just_longer_than_a_line_may_be_is_refused_by_name(text):
    error = refusal(text.replace(b"%s", b"x" * (MAX_LINE + 1)), "upload.dat")
    assert (error.file, error.line) == ("upload.dat", text[: text.index(b"%s")].count(b"\n") + 1)
    assert re.match("a line of more than 16 MB|doc_id is longer than 65,536 bytes", error.problem)


@pytest.mark.parametrize("name", ["in quotes in a table", "after a quote that never closes"])
def test_a_field_of_many_lines_longer_than_one_may_be_is_refused_by_name(name):
    assert refusal(LONG[name].replace(b"%s", b"x\n" * MAX_LINE), "upload.dat").file == "upload.dat"


ROW = {"query_id": "q", "doc_id": "d", "score": 1}
WIDE = {f"c{n}": 1 for n in range(MAX_COLUMNS - 3)}


def wide(row):
    return {
        "CSV": ",".join(row).encode() + b"\n" + ",".join(map(str, row.values())).encode(),
        "JSON": json.dumps([row]).encode(),
        "JSONL": json.dumps(row).encode() + b"\n" + json.dumps(row).replace('"d"', '"e"').encode(),
        "Parquet": as_parquet({name: [float(one) if one == 1 else one] for name, one in row.items()}),
    }


@pytest.mark.parametrize("format_name", wide(ROW))
def test_as_many_columns_as_allowed_are_read_and_one_more_is_refused(format_name):
    assert len(columns(wide(ROW | WIDE)[format_name])) == MAX_COLUMNS
    error = refusal(wide(ROW | WIDE | {"one more": 1})[format_name], "upload.dat")
    assert str(error).startswith("upload.dat, line 1: 1,001 columns, more than 1,000")
    assert error.hint == "Leave out columns that you do not need."


def test_records_that_name_ever_new_columns_are_refused():
    records = [ROW | {f"c{n}": 1} for n in range(MAX_COLUMNS)]
    assert "1,003 columns" in str(refusal("\n".join(map(json.dumps, records)).encode()))


@pytest.mark.parametrize("length", [10, 60, 70, 200])
def test_a_header_of_any_length_is_read_whole(length):
    names = [f"{n:0{length}d}" for n in range(MAX_COLUMNS - 3)]
    rows = ["q,d,1" + ",1" * len(names), "q,e,2" + ",2" * len(names)]
    data = "\n".join([",".join([*ROW, *names]), *rows]).encode()
    assert columns(data)["doc_id"] == ["d", "e"]


HEADERS = {
    "marks alone": ",,,,,,,,,," * 6_000 + "\n",
    "a thousand names": ",".join(f"column {n}" for n in range(1_000)) + "\n",
    "a long name": "x" * 60_000 + ",doc_id,score\n",
    "a long line of words": "word " * 10_000,
    "a long id": "q Q0 " + "d" * 60_000 + " 1 high t\n",
    "a long query in JSON": json.dumps({"q": {"d": 1.5}, "q" * 60_000: 1}),
    "a long document twice": f"q Q0 {'d' * 60_000} 1 1 t\n" * 2,
}


@pytest.mark.parametrize("text", HEADERS.values(), ids=HEADERS)
def test_a_refusal_is_short_enough_to_be_read(text):
    with pytest.raises(ReadError, match=r"^upload") as caught:
        Runs.from_sources([read(File("upload.dat", text.encode()))], judged=False)
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize(
    "writer",
    [writer for writer in WRITERS if writer.format in ("json", *NESTED)],
    ids=lambda writer: writer.name,
)
@pytest.mark.parametrize("packed", PACKED)
def test_json_that_is_no_record_a_line_has_a_limit_of_its_own(writer, packed, limit):
    data = writer.write(MANY)
    limit("formats.json_records.MAX_JSON", len(data))
    assert len(columns(PACKED[packed](data))["query_id"]) == len(MANY["query_id"])
    limit("formats.json_records.MAX_JSON", len(data) - 1)
    error = refusal(PACKED[packed](data), "upload.json")
    assert str(error).startswith("upload.json: JSON of more than")
    assert "JSONL" in error.hint


def test_records_a_line_may_be_larger_than_json_may(limit):
    limit("formats.json_records.MAX_JSON", 100)
    writer = next(writer for writer in WRITERS if writer.format == "jsonl")
    assert len(columns(writer.write(MANY))["query_id"]) == len(MANY["query_id"])


def deep(levels):
    """Brackets in brackets."""
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ('[{{"query_id": "q", "doc_id": "d", "score": 1, "note": {}}}]', 2),
        ('{{"query_id": "q", "doc_id": "d", "score": 1, "note": {}}}', 1),
    ],
)
def test_brackets_are_read_as_deep_as_allowed_and_no_deeper(text, around):
    assert columns(text.format(deep(MAX_DEPTH - around)).encode())["doc_id"] == ["d"]
    error = refusal(text.format(deep(MAX_DEPTH - around + 1)).encode(), "upload.json")
    assert error.file == "upload.json"
    assert "more than 64 levels of nesting" in str(error)


@pytest.mark.parametrize("levels", [100, 5_000, 200_000])
@pytest.mark.parametrize("brackets", ["[]", '{"a":}', '[{"a":}]'])
@pytest.mark.parametrize("closed", [True, False])
def test_brackets_however_deep_are_refused(levels, brackets, closed):
    half = len(brackets) // 2 if brackets == "[]" else brackets.index("}")
    text = brackets[:half] * levels + "1" + brackets[half:] * levels * closed
    assert refusal(text.encode(), "upload.json").file == "upload.json"


def test_a_line_that_is_nested_too_deep_is_named():
    text = "\n".join([json.dumps(ROW), "", json.dumps(ROW | {"note": "x"}).replace('"x"', deep(70))])
    assert refusal(text.encode(), "upload.jsonl").line == 3


@pytest.mark.parametrize("mark", ["[", "{", '\\"[', "\\\\"])
def test_brackets_in_texts_do_not_nest(mark):
    text = json.dumps([ROW]).replace('"d"', '"' + mark * 500 + '"')
    assert columns(text.encode())["doc_id"] == [json.loads('"' + mark * 500 + '"')]


def test_more_records_than_allowed_are_refused_with_what_to_do(limit):
    limit("formats.json_records.MAX_RECORDS", 3)
    lines = [json.dumps(ROW | {"doc_id": f"d{n}"}) for n in range(4)]
    assert len(columns("\n".join(lines[:3]).encode())["doc_id"]) == 3
    error = refusal("\n".join(lines).encode(), "upload.jsonl")
    assert (error.file, error.line) == ("upload.jsonl", 4)
    assert "Parquet" in error.hint


LIMIT, SMALL = 2 * 2**30, 2**21
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the most memory is read from /proc")


@pytest.fixture(scope="module")
def fresh_processes():
    """A new process for each call, forked from one that has imported what reads files."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["metrics.runs", "pyarrow.parquet"])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as processes:
        yield processes


@pytest.fixture
def measured(write, fresh_processes):
    """What reading a file says, and the megabytes it took, in a process of its own."""

    def measure(data, use=read_whole, limit=LIMIT):
        return fresh_processes.submit(memory_of, write("bomb.dat", data), use, limit).result()

    return measure


def bomb(kind, first, repeated, size):
    """Few bytes that unpack to many, in as many members as it takes."""
    return PACKED[kind](first) + PACKED[kind](repeated * (2**20 // len(repeated))) * (size // 2**20)


@ON_LINUX
@pytest.mark.parametrize(
    ("kind", "gigabytes", "limit", "problem"),
    [
        ("zstd", 3, 2, "larger than 2 GB unpacked. Split it by query."),
        ("gzip", 0.4, 0.2, "larger than 0.2 GB unpacked. Split it by query."),
        ("gzip", 0.4, 2, "its 429,890 bytes unpack to more than 268 MB. Unpack it and give the plain file."),
    ],
)
def test_a_bomb_of_zeros_stops_at_the_limit_in_constant_memory(kind, gigabytes, limit, problem, measured):
    data = bomb(kind, b"q Q0 d 1 1 t\n", b"\0", int(gigabytes * 2**30))
    padding = b"" if kind == "gzip" else PACKED[kind](np.random.default_rng(0).bytes(22_000_000))
    message, megabytes = measured(data + padding, read_blocks, int(limit * 2**30))
    assert message == f"bomb.dat: {problem}"
    assert megabytes < 30


@ON_LINUX
@pytest.mark.parametrize(
    ("first", "repeated"),
    [
        (b"", b"\0"),
        (b"q Q0 d 1 1 t\n", b"x"),
        (b"query_id,doc_id,score\n", b"x"),
        (b"query_id,doc_id,score\nq,d,1\n", b"x"),
        (b'query_id,doc_id,score\nq,d,1\n"', b"x\n"),
        (b'{"query_id": "', b"x"),
        (b"q", b" "),
    ],
    ids=["zeros", "a line", "a first row", "a second row", "a quote", "a record", "spaces"],
)
def test_a_bomb_that_is_no_table_is_refused_in_memory_of_a_few_lines(first, repeated, measured):
    message, megabytes = measured(bomb("zstd", first, repeated, 2**29))
    assert message.startswith("bomb.dat")
    assert megabytes < 200


def stored(columns_given, times=1, **options):
    table, stream = pa.table(columns_given), io.BytesIO()
    with parquet.ParquetWriter(stream, table.schema, compression="zstd", **options) as writer:
        for _ in range(times):
            writer.write_table(table)
    return stream.getvalue()


def same_columns(values):
    return dict.fromkeys(["query_id", "doc_id", "score"], values)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_damaged_packed_file_leaves_no_memory_behind(kind):
    damaged = PACKED[kind](RUN * 100)[:-9]
    tracemalloc.start()
    try:
        for _ in range(20):
            assert "damaged" in str(refusal(damaged))
        n_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_bytes < 2**21


@ON_LINUX
@pytest.mark.parametrize("letters", [b"x", b'\\"'], ids=["letters", "quotes"])
@pytest.mark.parametrize("row", [b"[%s]", b"%s"], ids=["array", "lines"])
def test_a_long_text_among_brackets_takes_memory_of_a_few_times_its_size(row, letters, measured):
    size = 2**23
    text = b'{"query_id": "q", "doc_id": "d", "score": 1, "doc_text": "%s"}'
    message, megabytes = measured(row % (text % (b"[" * 70 + letters * (size // len(letters)))))
    assert message == "read"
    assert megabytes < 15 * size / 2**20


SWOLLEN = {
    "Parquet of a text stored once": lambda: stored(
        {"query_id": ["q"] * 2**16, "score": [1.0] * 2**16}
        | {"doc_id": pa.DictionaryArray.from_arrays(pa.nulls(2**16, pa.int32()).fill_null(0), ["x" * 2**12])},
        store_schema=False,
    ),
    "Parquet of rows of nothing": lambda: stored(same_columns(pa.nulls(5_000_000))),
    "Parquet of rows of one bit": lambda: stored(same_columns(pa.array(np.zeros(5_000_000, bool)))),
    "packed Parquet": lambda: PACKED["zstd"](b"PAR1" + bytes(200_000_000)),
}


@ON_LINUX
@pytest.mark.parametrize("data", SWOLLEN.values(), ids=SWOLLEN)
def test_a_file_takes_memory_near_the_limit_however_it_swells(data, measured):
    message, megabytes = measured(data(), limit=SMALL)
    assert message.startswith("bomb.dat")
    assert megabytes < 15 * SMALL / 2**20


def rows_of_gigabytes(kind):
    rows = b"".join(b"q Q0 d%d %d 0.5 t\n" % (row, row) for row in range(10))
    return bomb(kind, rows, rows, 400 * 2**20)


SMALL_AND_LARGE = {
    "a run in gzip": lambda: rows_of_gigabytes("gzip"),
    "a run in zstd": lambda: rows_of_gigabytes("zstd"),
    "rows of Parquet": lambda: stored(
        dict.fromkeys(["query_id", "doc_id"], ["d"] * 10**6) | {"score": np.zeros(10**6)}, times=20
    ),
    "numbers of Parquet": lambda: stored(same_columns(np.zeros(20_000_000))),
    "records of an empty name": lambda: PACKED["gzip"](b"[" + b'{"":1},' * 5_700_000 + b"{}]"),
    "records": lambda: PACKED["gzip"](b"[" + b"{}," * 5_000_000 + b"{}]"),
    "lists in a line": lambda: PACKED["gzip"](b'{"query_id": [' + b"[]," * 5_000_000 + b"[]]}\n{}"),
}
"""Files of a few megabytes at most that would fill gigabytes."""


@ON_LINUX
@pytest.mark.parametrize("data", SMALL_AND_LARGE.values(), ids=SMALL_AND_LARGE)
def test_a_small_file_that_would_fill_gigabytes_is_refused_while_it_is_read(data, measured):
    message, megabytes = measured(data())
    assert re.match(r"bomb\.dat: (its [\d,]+ bytes unpack|JSON that may take more than 15 times)", message)
    assert megabytes < 200


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_packed_file_may_unpack_to_so_many_times_its_size(kind, limit):
    limit("files.FREE_BYTES", 1_000)
    assert columns(PACKED[kind](RUN * 20 + b"#" * 1_000 + b"\n"))["doc_id"]
    data = PACKED[kind](RUN + b"\n" * 1_000_000)
    limit("files.MAX_GROWTH", 1_000_000 // len(data))
    assert "bytes unpack to more than" in str(refusal(data))
    limit("files.MAX_GROWTH", 2_000_000 // len(data))
    assert columns(data)["doc_id"]


def test_the_environment_sets_the_largest_file(monkeypatch):
    monkeypatch.setenv("TIESCOPE_MAX_FILE_MB", "1")
    assert "larger than 0.000931 GB unpacked" in str(refusal(RUN * 20_000))
    monkeypatch.setenv("TIESCOPE_MAX_FILE_MB", "1e3")
    with pytest.raises(UsageError, match="TIESCOPE_MAX_FILE_MB is '1e3'"):
        columns(RUN)


def test_values_that_the_rows_of_a_record_would_repeat_are_counted(limit):
    record = ROW | WIDE | {"documents": [{"doc_id": f"d{n}", "score": n} for n in range(50)]}
    del record["doc_id"], record["score"]
    data = json.dumps([record, record]).encode()
    limit("formats.json_records.MAX_VALUES", len(record) * 100)
    assert len(columns(data)["doc_id"]) == 100
    limit("formats.json_records.MAX_VALUES", len(record) * 50)
    error = refusal(data, "upload.json")
    assert (error.line, error.unit) == (2, "record")
    assert "every document in documents would create more than" in error.problem


def test_a_list_of_many_row_groups_is_refused_before_it_is_parsed(limit):
    data = stored(same_columns(["1"]), times=50)
    limit("formats.parquet.MAX_FOOTER", len(data))
    assert len(columns(data)["doc_id"]) == 50
    limit("formats.parquet.MAX_FOOTER", 1_000)
    assert "of columns and row groups" in str(refusal(data, "upload.parquet"))


def test_a_column_of_more_text_than_offsets_can_count_is_refused(monkeypatch):
    monkeypatch.setattr("metrics.runs.formats.delimited._MAX_TEXT", 7)
    with pytest.raises(ReadError, match=r"run\.trec: a column has more than 2 GB of text\. Split"):
        read(File("run.trec", b"q1 Q0 doc1 1 0.9 t\nq1 Q0 doc2 2 0.8 t\n"))


def json_of_queries(entry, start="{", end="}", n_queries=20):
    """Return lists of the same 1,000 documents for each query."""
    entries = ",".join(entry.replace("#", f"{row:04}") for row in range(1000))
    return "{" + ",".join(f'"q{query}":{start}{entries}{end}' for query in range(n_queries)) + "}"


MEMORY_OF_JSON = {
    "grades of 12 bytes": (json_of_queries('"doc#":1'), True),
    "lists of 12 bytes": (json_of_queries('"doc0000#"', "[", "]"), True),
    "lists of 9 bytes": (json_of_queries('"d0#"', "[", "]"), False),
    "parallel lists": (json.dumps({"doc_ids": ["d10000"] * 999, "scores": [0.25] * 999}), False),
    "distinct names": ('{"q":{' + ",".join(f'"{n}":1' for n in range(9000)) + "}}", False),
    "records": (",".join(f'{{"query_id":"q{n}","doc_id":"d{n}","score":0.5}}' for n in range(1000)), True),
}


@pytest.mark.parametrize(("text", "is_read"), MEMORY_OF_JSON.values(), ids=MEMORY_OF_JSON)
def test_json_that_takes_more_than_15_bytes_a_byte_is_refused(text, is_read, monkeypatch):
    monkeypatch.setattr(json_records, "_FREE_BYTES", 0)
    context = nullcontext() if is_read else pytest.raises(ReadError, match="more than 15 times its size")
    with context:
        json_records.refuse_much_memory(File("f", text.encode()))
