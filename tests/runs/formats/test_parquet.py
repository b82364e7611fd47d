"""Parquet tables: types as pandas, polars and Spark store them, and files that are damaged."""

import decimal
import io
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from reading import RUN, columns, refusal

from metrics import ReadError, Runs, TieScopeError, read_table
from metrics.runs import File, read

PLAIN = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
OF_ANY_TEXT = pytest.mark.parametrize("text", TEXTS, ids=str)


def stored(schema=None, **changed):
    """A Parquet file of the plain columns, some of them changed."""
    stream = io.BytesIO()
    parquet.write_table(pa.table(PLAIN | changed, schema=schema), stream)
    return stream.getvalue()


def of(values, kind):
    return pa.array(values, pa.string()).cast(kind) if isinstance(values[0], str) else pa.array(values, kind)


@pytest.mark.parametrize("name", ["query_id", "doc_id", "target_id", "reranker", "segment", "doc_text"])
@pytest.mark.parametrize(
    "text",
    [*TEXTS, pa.binary(), pa.large_binary(), pa.dictionary(pa.uint16(), pa.string())],
    ids=str,
)
def test_text_of_any_kind_is_text(name, text):
    assert columns(stored(**{name: of(["007", "é"], text)}))[name] == ["007", "é"]


NUMBERS = [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("kind", [*NUMBERS, pa.decimal128(9, 3), pa.decimal256(50, 3)], ids=str)
def test_scores_of_any_numeric_kind_become_floats(kind):
    values = [decimal.Decimal(1), decimal.Decimal(2)] if pa.types.is_decimal(kind) else [1, 2]
    assert columns(stored(score=pa.array(values, kind)))["score"] == [1, 2]


@OF_ANY_TEXT
def test_numbers_in_text_of_any_kind_are_numbers(text):
    fields = {
        "score": ["0.1", "-inf"],
        "relevance": ["true", "0.0"],
        "latency": ["0.5", ""],
        "rank": ["2", "1"],
    }
    rows = columns(stored(**{name: of(values, text) for name, values in fields.items()}))
    assert (rows["score"], rows["relevance"], rows["rank"]) == ([0.1, -np.inf], [1, 0], [2, 1])
    assert rows["latency"] == [0.5, pytest.approx(np.nan, nan_ok=True)]


@pytest.mark.parametrize("kind", [pa.bool_(), *NUMBERS], ids=str)
def test_grades_of_any_kind_become_floats(kind):
    assert columns(stored(relevance=pa.array([1, 0]).cast(kind)))["relevance"] == [1, 0]


@pytest.mark.parametrize("name", ["query_id", "doc_id"])
@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_ids_of_any_numeric_kind_become_the_text_of_whole_numbers(name, kind):
    large = 2**64 - 1 if kind == pa.uint64() else 120
    assert columns(stored(**{name: pa.array([7, large], kind)}))[name] == ["7", str(large)]


@pytest.mark.parametrize("name", ["query_id", "doc_id"])
@pytest.mark.parametrize("bad", [1.5, np.nan, np.inf, 1e300, 2.0**63])
def test_a_number_that_is_no_id_is_refused_by_its_row(name, bad):
    error = refusal(stored(**{name: [1.0, bad]}), "run.parquet")
    assert str(error).startswith("run.parquet, row 2: ")


@pytest.mark.parametrize("name", ["query_id", "doc_id", "score"])
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.int64(), pa.float64()], ids=str
)
def test_a_missing_value_is_refused_by_its_row(name, kind):
    first = "1" if kind in (pa.string(), pa.dictionary(pa.int32(), pa.string())) else 1
    error = refusal(stored(**{name: pa.array([first, None]).cast(kind)}), "run.parquet")
    assert str(error).startswith("run.parquet, row 2: ")
    assert name in str(error)


NESTED = [[[1], [2]], [{"a": 1}, {"a": 2}], pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int8()))]
TIMES = [
    pa.array([1, 2], pa.timestamp("ms")),
    pa.array([1, 2], pa.duration("s")),
    pa.array([1, 2], pa.date32()),
]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (name, values)
        for name in ("query_id", "doc_id", "score", "relevance", "latency", "rank")
        for values in NESTED
    ]
    + [(name, values) for name in ("score", "relevance", "latency", "rank") for values in TIMES],
)
def test_columns_that_are_neither_text_nor_numbers_are_refused(name, values):
    error = refusal(stored(**{name: values}), "run.parquet")
    assert error.file == "run.parquet"
    assert f"'{name}'" in str(error)


def not_utf8():
    """Two texts, the second of which is no Unicode: nothing in Parquet forbids it."""
    ends, letters = pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")
    return pa.Array.from_buffers(pa.string(), 2, [None, ends, letters])


@pytest.mark.parametrize(
    "name",
    ["query_id", "doc_id", "score", "relevance", "reranker", "target_id", "latency", "segment", "doc_text"],
)
def test_text_that_is_not_utf8_is_refused_by_name(name):
    assert refusal(stored(**{name: not_utf8()}), "run.parquet").file == "run.parquet"


@pytest.mark.parametrize("name", [b"score", b"second"])
def test_a_column_name_that_is_not_utf8_is_refused_by_name(name):
    data = stored(second=[1.0, 2.0]).replace(name, b"\xff" * len(name))
    assert refusal(data, "run.parquet").file == "run.parquet"


def test_the_index_of_a_frame_is_no_score(tmp_path):
    frame = pd.DataFrame(PLAIN | {"relevance": [1, 0]}, index=[5, 9])
    frame.to_parquet(tmp_path / "run.parquet")
    runs = read_table(tmp_path / "run.parquet")
    assert runs.tables["run"].column_names == ["query_id", "doc_id", "score", "relevance"]


def test_rows_keep_their_order_over_many_groups_and_batches():
    ids = [f"d{n}" for n in range(150_000)]
    stream = io.BytesIO()
    table = pa.table({"query_id": ["q"] * len(ids), "doc_id": ids, "score": range(len(ids))})
    parquet.write_table(table, stream, row_group_size=40_000)
    assert columns(stream.getvalue())["doc_id"] == ids


def test_columns_that_are_not_needed_are_not_read():
    data = stored(note=["x", "y"], nested=[[1], [2]], when=pa.array([1, 2], pa.timestamp("s")), second=[3, 4])
    source = read(File("f", data))
    assert source.table.column_names == ["query_id", "doc_id", "score", "second"]
    assert source.unused == ("note", "nested", "when")


def test_a_name_with_dots_is_a_name():
    assert columns(stored(**{"a.b": [1, 2]}))["a.b"] == [1, 2]


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.null(), pa.bool_()], ids=str)
def test_a_table_without_rows_is_read(kind):
    empty = {name: pa.array([], kind) for name in PLAIN}
    stream = io.BytesIO()
    parquet.write_table(pa.table(empty), stream)
    assert columns(stream.getvalue()) == {name: [] for name in PLAIN}


VALID = stored(relevance=[True, False])


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 900), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_footer_gives_rows_or_an_error_that_names_the_file(changes):
    data = bytearray(VALID)
    for back, byte in changes:
        data[-min(back, len(data))] = byte
    names = set()
    try:
        runs = Runs.from_sources([read(File("run.parquet", bytes(data)))], judged=False)
        assert runs.findings is not None
    except TieScopeError as error:
        names = {getattr(error, "file", "run.parquet")}
    assert names <= {"run.parquet"}


def test_a_damaged_record_of_a_column_does_not_end_the_process():
    for back, byte in [(793, 118), (793, 69), (529, 69)]:  # pyarrow ends a process that looks at these
        data = bytearray(VALID)
        data[-back] = byte
        with suppress(ReadError):
            read(File("run.parquet", bytes(data)))


def test_columns_that_are_not_read_do_not_count_where_all_are_past_the_limit(monkeypatch):
    texts = ["long " * 10_000, "other " * 10_000]
    monkeypatch.setattr("metrics.runs.files.MAX_BYTES", 50_000)
    assert columns(stored(note=texts))["doc_id"] == ["a", "b"]
    assert "larger than" in str(refusal(stored(doc_text=texts)))


@pytest.mark.parametrize(
    "data", [b"PAR1" + b"\0" * 100 + b"PAR1", b"PAR1" + RUN, *(VALID[:-cut] for cut in (1, 9, 400, 900))]
)
def test_what_only_begins_like_parquet_is_refused_as_damaged_or_read_as_text(data):
    if data.endswith(RUN):
        assert len(columns(data)["doc_id"]) == RUN.count(b"\n")
    else:
        assert "damaged Parquet" in str(refusal(data, "run.parquet"))


@pytest.mark.parametrize("position", range(len(VALID) - 12, len(VALID)))
@pytest.mark.parametrize("byte", [0, 1, 127, 128, 255])
def test_a_footer_that_lies_about_its_length_is_refused(position, byte):
    data = VALID[:position] + bytes([byte]) + VALID[position + 1 :]
    if data[-8:] != VALID[-8:]:
        assert refusal(data, "run.parquet").file == "run.parquet"
