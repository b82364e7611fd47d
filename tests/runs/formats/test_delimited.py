"""A format of lines without a header is one declaration, whatever separates the fields."""

import pytest

from metrics.errors import ReadError
from metrics.runs import File
from metrics.runs.columns import ColumnChoice
from metrics.runs.formats.delimited import fixed_format
from metrics.runs.formats.format import Head

PIPED = fixed_format(
    "piped",
    "Piped run: query|document|score|tag.",
    "q1|d7|0.9|llm\nq1|d2|0.9|llm\nq2|d4|0.3|llm",
    ("query_id", "doc_id", "score", "tag"),
    {"query_id": "query_id", "doc_id": "doc_id", "score": "score"},
    delimiter="|",
)
ROWS = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d7", "d2", "d4"], "score": [0.9, 0.9, 0.3]}
EXAMPLE = PIPED.example.encode()
WRITTEN = {
    "as is": EXAMPLE,
    "with CRLF": EXAMPLE.replace(b"\n", b"\r\n"),
    "after blank lines": b"\n \r\n\t\n" + EXAMPLE,
    "with a comment": b"# by llm\n" + EXAMPLE,
}


def head(data):
    return Head(File("run.txt", data))


@pytest.mark.parametrize("data", WRITTEN.values(), ids=WRITTEN)
def test_lines_with_a_delimiter_are_recognised_and_read(data):
    assert PIPED.recognises(head(data))
    assert PIPED.read(head(data), ColumnChoice({})).table.to_pydict() == ROWS


@pytest.mark.parametrize("data", WRITTEN.values(), ids=WRITTEN)
def test_lines_with_a_delimiter_are_read_in_blocks(data):
    table = PIPED.open_blocks(head(data), ColumnChoice({}, strict=False))
    rows = [row for part, _ in table.query_tables() for row in part.to_pylist()]
    assert [row["doc_id"] for row in rows] == ROWS["doc_id"]


@pytest.mark.parametrize("data", [b"q1 Q0 d7 1 0.9 llm\n", b"q1|d7|0.9\n", b"q1\td7\t1\n"])
def test_lines_of_another_width_are_not_recognised(data):
    assert not PIPED.recognises(head(data))


def test_a_line_with_a_field_too_few_is_named():
    with pytest.raises(ReadError, match="line 2: 3 fields where 4 are expected"):
        PIPED.read(head(b"q1|d7|0.9|llm\nq1|d2|0.9\n"), ColumnChoice({}))
