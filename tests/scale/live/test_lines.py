"""A stream is cut into lists; what is too long is left out whole, and nothing else."""

import pytest

from metrics import ReadError
from metrics.runs.columns import ColumnChoice
from metrics.scale.live import LineCutter

HEADER = b"query_id,doc_id,score,relevance\n"


def rows(query, n_rows, document="d"):
    return [f"{query},{document}{number},1,1\n".encode() for number in range(n_rows)]


def cut(pieces):
    """Return query and number of lines of each list of a stream that comes in pieces, and how many errors."""
    cutter, lists, n_errors = LineCutter("stdin", ColumnChoice({}, strict=False)), [], 0
    for piece in [*pieces, None]:
        try:
            for entry in cutter.end() if piece is None else cutter.feed(piece):
                lists.append((entry.lines[0].split(b",")[0].decode(), len(entry.lines)))  # noqa: PERF401 errors end it
        except ReadError:
            n_errors += 1
    return lists, n_errors


def test_all_lines_of_a_list_that_is_too_long_are_left_out(monkeypatch):
    monkeypatch.setattr("metrics.scale.live.MAX_LIST", 100)
    pieces = [HEADER, *rows("a", 2), *rows("long", 40), *rows("b", 3)]
    assert cut(pieces) == ([("a", 2), ("b", 3)], 1)


@pytest.mark.parametrize("size", [7, 100])
def test_a_line_that_is_too_long_takes_its_list_with_it_alone(monkeypatch, size):
    monkeypatch.setattr("metrics.scale.live.MAX_LINE", 60)
    stream = b"".join([HEADER, *rows("a", 2), *rows("long", 2), *rows("long", 1, "d" * 300), *rows("long", 2)])
    stream += b"".join(rows("b", 3))
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert cut(pieces) == ([("a", 2), ("b", 3)], 1)
