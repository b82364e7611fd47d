"""Files in memory, read as they would be from disk."""

import pytest

from metrics import ReadError
from metrics.runs import File, read

RUN = b"q1 Q0 d2 1 0.9 bm25\nq1 Q0 d1 2 0.9 bm25\nq2 Q0 d1 1 -1.5 bm25\nq1 Q0 d3 3 2 bm25\n"
QRELS = b"q1 0 d1 1\nq2 0 d1 0\nq1 0 d3 2\n"
TABLE = b"query_id,doc_id,score,relevance\nq1,d2,0.9,0\nq1,d1,0.9,1\nq2,d1,-1.5,0\nq1,d3,2,2\n"


def columns(data, name="file.txt", mapping=None):
    """{column: values} of one file, in the order of its rows."""
    return read(File(name, data), mapping).table.to_pydict()


def refusal(data, name="file.txt"):
    """The error that a file gives."""
    with pytest.raises(ReadError) as caught:
        read(File(name, data))
    return caught.value
