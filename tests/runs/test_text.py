"""How the text of a file is opened: with Python in between only where its spaces are odd."""

import pyarrow as pa
import pytest

from metrics.runs import File
from metrics.runs.files import open_for_arrow

LINE = b"q1 Q0 d7 1 0.9 llm"
WIDTH = len(LINE) + 1
HEAD = 65536
"""Bytes that recognition looks at."""


def is_read_by_arrow_alone(text):
    with open_for_arrow(File("run.trec", text), single_spaces=True) as stream:
        return isinstance(stream, pa.NativeFile)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_where_the_head_is_cut_makes_no_file_slow(end):
    many = (LINE + end) * (HEAD // WIDTH + 2)
    slow = [
        n for n in range(WIDTH) if not is_read_by_arrow_alone(b"q1 Q0 d7 1 0.9 " + b"t" * (n + 1) + end + many)
    ]
    assert slow == []


@pytest.mark.parametrize(
    "line", [LINE + b" \n", b" " + LINE + b"\n", LINE + b"\t\r\n", LINE.replace(b" ", b"  ") + b"\n"]
)
def test_odd_spaces_are_straightened_before_arrow_reads_them(line):
    assert not is_read_by_arrow_alone((LINE + b"\n") * 10 + line + LINE + b"\n")
