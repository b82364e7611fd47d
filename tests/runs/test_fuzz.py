"""Whatever the bytes: runs, or an error of ours."""

import contextlib
import gzip

from hypothesis import given, settings
from hypothesis import strategies as st
from reading import QRELS, RUN, TABLE

from metrics import TieScopeError, evaluate
from metrics.runs import File, Runs, read

QUOTED = b'query_id;doc_id;score;label;note\n\nq;"e\nf";.5;true;x\n\nr;"a""b";inf;0;"y;z"\n'
VALID = [
    RUN,
    QRELS,
    TABLE,
    QUOTED,
    RUN.replace(b" ", b"\t"),
    TABLE.replace(b"\n", b"\r\n"),
    gzip.compress(RUN, mtime=0),
]
HEADERS = [b"query_id,doc_id,score\n", b"query_id,doc_id,relevance\n", b"query_id,doc_id,score,relevance"]
MARKS = [
    b"",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\t",
    b",",
    b";",
    b'"',
    b"\x00",
    b"\xff",
    b"\x0b",
    b"\x1c",
    b"\xef\xbb\xbf",
]
WORDS = [
    b"nan",
    b"inf",
    b"-1",
    b"true",
    b"query_id",
    b"doc_id",
    b"score",
    b"q1",
    b"d1",
    b"\xe2\x80\xa8",
    b"\n" * 25,
]
PIECES = st.sampled_from(MARKS + WORDS) | st.binary(max_size=3)
EDITS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 12), PIECES), min_size=1, max_size=6)


def mutated(data, edits):
    for at, length, piece in edits:
        data = data[:at] + piece + data[at + length :]
    return data


def use(*files):
    with contextlib.suppress(TieScopeError):
        runs = Runs.from_sources([read(File("f", data)) for data in files])
        assert set(runs.findings["severity"]) <= {"error", "warning", "info"}
        evaluate(runs, ["RR", "Hits@3"])


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_random_bytes_give_runs_or_an_error_of_ours(data):
    use(data)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_random_pieces_of_tables_give_runs_or_an_error_of_ours(data):
    use(data)


@settings(max_examples=500)
@given(st.sampled_from(VALID + HEADERS), EDITS)
def test_damaged_files_give_runs_or_an_error_of_ours(data, edits):
    use(mutated(data, edits))
    use(mutated(data, edits), QRELS)
    use(RUN, mutated(data, edits))
