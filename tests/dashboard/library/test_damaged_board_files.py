"""Whatever the bytes, there is a board or an error of ours.

pytest -m fuzz FILE: 6,000 damaged files; not part of a plain run.
"""

import json

import pytest
from board_files import (
    ANYTHING,
    PLACES,
    SENT,
    SENT_BY_0_1,
    exported,
    loaded,
    packed,
    unpacked,
    with_file,
    with_parquet,
    with_value,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metrics import ReadError, evaluate

CASES = 6_000
WORDS = [
    b"",
    b"\0",
    b"\xff" * 4,
    b"PK\1\2",
    b"PK\3\4",
    b"PK\5\6",
    b"PK\6\6",
    b"PK\6\7",
    b"PAR1",
    b"{",
    b'"',
    b"9" * 30,
]
VALUES = st.recursive(
    st.sampled_from(ANYTHING),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def edited(draw, data):
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)) | st.integers(max(0, len(data) - 300), len(data)))
        piece = draw(st.sampled_from(WORDS) | st.binary(max_size=4))
        data = data[:start] + piece + data[start + draw(st.sampled_from([0, len(piece), 1, 9])) :]
    return data


def overwritten(draw, data):
    """As long as before: lengths still hold."""
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, max(0, len(data) - 1)))
        data = data[:position] + draw(st.binary(min_size=1, max_size=1)) + data[position + 1 :]
    return data


@st.composite
def damaged(draw):
    """A board file whose zip, JSON, values or files are not as they were."""
    board_json, entries = unpacked(SENT)
    spoil = draw(st.sampled_from([edited, overwritten]))
    kind = draw(st.sampled_from(["zip", "text", "value", "file", "parquet"]))
    if kind == "zip":
        return spoil(draw, SENT)
    if kind == "text":
        return packed(spoil(draw, json.dumps(board_json).encode()), entries)
    if kind == "value":
        return packed(*with_value(draw(st.sampled_from(PLACES)), draw(VALUES)))
    if kind == "parquet":
        return with_parquet(spoil(draw, unpacked(SENT_BY_0_1)[1]["files/00.parquet"]))
    return with_file(spoil(draw, entries["files/00"]))


def use(data):
    """Read it, look at all of it and write it again; what is raised is ours and names the file."""
    try:
        came = loaded(data)
    except ReadError as error:
        assert str(error).startswith("sent.tiescope: ")  # noqa: PT017 either outcome is right
        str(error).encode()
        return
    "".join(came.board.runs.findings["message"]).encode()
    evaluate(came.board.runs, ["RR"])
    assert loaded(exported(came.board, came.view, came.published)).board.spec.digest == came.board.spec.digest


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_damaged_board_files_give_a_board_or_an_error_of_ours(data):
    use(data)


@pytest.mark.fuzz
@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_thousands_of_damaged_board_files_give_a_board_or_an_error_of_ours(data):
    use(data)
