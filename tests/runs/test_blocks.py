"""Files in blocks hold what they hold when read whole: rows, order, values and line numbers."""

import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from runs.written import WRITERS, written

from metrics import ReadError
from metrics.runs import File, open_blocks, read

TEXTS = ("query_text", "doc_text")
IN_BLOCKS = ("trec-run", "ranked", "table", "beir-qrels", "parquet")
EVERY_WRITER = pytest.mark.parametrize(
    "writer", [writer for writer in WRITERS if writer.format in IN_BLOCKS], ids=lambda writer: writer.name
)


def come_again(table):
    """Whether a query of a reranker has rows in two stretches of rows of one query."""
    stretches, before, span = {}, None, 0
    for query, reranker in zip(table["query_id"], table.get("reranker", table["query_id"]), strict=True):
        span += query != before
        before = query
        if "reranker" not in table:
            reranker = ""  # noqa: PLW2901 one for all
        stretches.setdefault((query, reranker), set()).add(span)
    return any(len(found) > 1 for found in stretches.values())


def splits_lines(table):
    """Whether a text holds a carriage return alone: in quotes, Python counts it as the end of a line."""
    texts = [text for values in table.values() for text in values if isinstance(text, str)]
    return any("\r" in text.replace("\r\n", "") for text in texts)


def values_of(table):
    return {name: list(map(repr, values)) for name, values in table.to_pydict().items() if name not in TEXTS}


@pytest.fixture(scope="module", autouse=True)
def _small():
    """Parse a few letters or rows at once, and make a block of every query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrics.runs.formats.format.BLOCK_BYTES", 1)
        patch.setattr("metrics.runs.formats.delimited._ATTEMPTS", (32, 64, 2**20))
        patch.setattr("metrics.runs.formats.parquet._BATCH_ROWS", 2)
        patch.setattr("metrics.runs.formats.delimited.BLOCK", 32)
        yield


@EVERY_WRITER
@given(data=st.data())
def test_blocks_hold_what_the_whole_holds_or_a_query_comes_again(writer, data):
    table, file = data.draw(written(writer))
    source, columns_read, lines = read(File("file.dat", file)), {}, []
    try:
        for block in open_blocks(File("file.dat", file)).blocks():
            for name, values in values_of(block.table).items():
                columns_read.setdefault(name, []).extend(values)
            lines += map(block.origin.line_of, range(len(block.table)))
    except ReadError as error:
        assert "are not consecutive" in error.problem  # noqa: PT017 either end is right
        assert come_again(table)
        return
    assert not come_again(table)
    assert columns_read == values_of(source.table)
    if not splits_lines(table):
        assert lines == [source.origin.line_of(row) for row in range(len(source.table))]


@EVERY_WRITER
def test_a_block_is_a_query(writer):
    blocks = list(open_blocks(File("file.dat", writer.sample())).blocks())
    assert [set(block.table["query_id"].to_pylist()) for block in blocks] == [{"q1"}, {"q2"}]


def test_a_format_that_is_read_whole_is_refused_by_name():
    with pytest.raises(ReadError, match=r"^runs\.json: json cannot be read in blocks"):
        open_blocks(File("runs.json", b'[{"query_id": "q", "doc_id": "d", "score": 1}]'))


def test_judgments_are_not_opened_as_a_run():
    with pytest.raises(ReadError, match=r"these are judgments, not a run\. Give them as qrels"):
        open_blocks(File("qrels.txt", b"q1 0 d1 1\nq1 0 d2 0\n"))


def test_ids_that_one_text_makes_large_are_refused_before_they_are_unpacked():
    many = pa.DictionaryArray.from_arrays(np.zeros(70_000, np.int32), pa.array(["x" * 5000]))
    query = pa.array([f"q{at}" for at in range(70_000)])
    stream = io.BytesIO()
    table = pa.table({"query_id": query, "doc_id": many, "score": np.zeros(70_000)})
    parquet.write_table(table, stream, store_schema=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrics.runs.formats.parquet._BATCH_ROWS", 2**16)
        with pytest.raises(ReadError, match="65,536 rows take more than 256 MB"):
            list(open_blocks(File("bomb.parquet", stream.getvalue())).blocks())
