"""Odd spaces around the fields of a run do not matter."""

import pytest
from reading import columns

from metrics.runs import File, read

LINES = [b"q1 Q0 d7 1 0.9 llm", b"q1 Q0 d2 2 0.8 llm", b"q2 Q0 d4 1 0.3 llm"]
PLAIN = b"\n".join(LINES) + b"\n"


@pytest.mark.parametrize("line", range(3))
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize(
    "odd",
    [
        lambda line: line + b" ",
        lambda line: b" " + line,
        lambda line: line + b"\t",
        lambda line: line.replace(b" ", b"  "),
        lambda line: line.replace(b" ", b"\t"),
        lambda line: line.replace(b" ", b" \t\v\f "),
    ],
    ids=["behind", "before", "tab behind", "two", "tabs", "mixed"],
)
def test_odd_spaces_in_one_line_do_not_matter(odd, end, line):
    lines = [odd(text) if place == line else text for place, text in enumerate(LINES)]
    assert columns(end.join(lines) + end) == columns(PLAIN)


def test_a_quoted_name_of_a_column_may_hold_a_line_break_before_the_first_delimiter():
    source = read(File("run.csv", b'"query\n_id",doc_id,score\nq1,d1,0.5\nq1,d2,0.5\n'))
    assert (len(source.table), source.mapping["doc_id"]) == (2, "doc_id")
