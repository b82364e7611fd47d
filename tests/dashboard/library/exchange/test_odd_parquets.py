"""A Parquet that the library would not write is refused."""

import pyarrow as pa
import pytest
from board_files import SENT, loaded, refusal, stored, unpacked, with_parquet
from boards import STRICT


def columns(n=3, **changed_columns):
    usual = {"query_id": ["q"] * n, "doc_id": [f"d{at}" for at in range(n)], "score": [0.5] * n}
    return {name: values for name, values in (usual | changed_columns).items() if values is not None}


def repeated_text(length, rows):
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * length]))


ODD_PARQUETS = {
    "empty": lambda: b"",
    "a text": STRICT.encode,
    "its marks alone": lambda: b"PAR1PAR1",
    "cut": lambda: stored(**columns())[:-9],
    "its middle gone": lambda: stored(**columns(1000)).replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"),
    "a list": lambda: stored(**columns(), other=[[1]] * 3),
    "bytes": lambda: stored(**columns(), other=[b"x"] * 3),
    "a timestamp": lambda: stored(**columns(), other=pa.array([1, 2, 3], pa.timestamp("s"))),
    "a whole number": lambda: stored(**columns(), other=[1, 2, 3]),
    "large texts": lambda: stored(**columns(), other=pa.array(["x"] * 3, pa.large_string())),
    "texts that are not UTF-8": lambda: stored(
        **columns(), other=pa.Array.from_buffers(pa.string(), 3, pa.array([b"\xff"] * 3).buffers())
    ),
    "no column": lambda: stored(other=["x"]),
    "no row": lambda: stored(
        query_id=pa.array([], pa.string()), doc_id=pa.array([], pa.string()), score=pa.array([], pa.float64())
    ),
    "a column too few": lambda: stored(**columns(score=None)),
    "an empty id": lambda: stored(**columns(doc_id=["a", "", "c"])),
    "no number": lambda: stored(**columns(score=["a", "b", "c"])),
    "a document twice": lambda: stored(**columns(doc_id=["a", "a", "c"])),
    "a bomb that is read": lambda: stored(**columns(50_000, query_id=repeated_text(60_000, 50_000))),
    "a bomb that is not read": lambda: stored(**columns(50_000), other=repeated_text(60_000, 50_000)),
    "a bomb of ranks": lambda: stored(**columns(50_000), rank=repeated_text(60_000, 50_000)),
}


@pytest.mark.parametrize("name", ODD_PARQUETS)
def test_a_parquet_that_the_library_would_not_write_is_refused(name):
    message = refusal(with_parquet(ODD_PARQUETS[name]()))
    assert "strict.trec" in message
    if "bomb" in name:
        assert "bytes that unpack to more than 268 MB" in message


def test_a_column_shorter_than_the_others_is_refused():
    data = unpacked(SENT)[1]["files/00.parquet"]
    values = b"rank\x15\x0c\x16"  # and then how many, here 20, doubled
    shorter = data.replace(values + b"\x28", values + b"\0")
    assert shorter != data
    assert "column 'rank' has not as many rows" in refusal(with_parquet(shorter))


def test_the_refusals_above_are_not_those_of_any_parquet():
    came = loaded(with_parquet(stored(**columns(), other=["x"] * 3)))
    assert len(came.board.runs.tables["strict"]) == 3
