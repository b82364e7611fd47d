"""Pairs of query and document as 64-bit prints: found twice, or found in the judgments, without a dictionary.

A print is a hash. Equal prints only say where to look; whoever looks compares the texts.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.arrays import IntArray

Prints = npt.NDArray[np.uint64]

_WORD = 8
_ROUNDS = ((np.uint64(0x9E3779B97F4A7C15), np.uint64(32)), (np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(29)))


@dataclass(frozen=True)
class Pairs:
    """Query and document of each row of a table.

    Attributes:
        queries: (n_queries,) distinct queries in order of appearance.
        query: (n_rows,) query of each row, a place in `queries`.
        documents: (n_rows,) document of each row.
    """

    queries: pa.Array
    query: IntArray
    documents: pa.Array

    @classmethod
    def of(cls, table: pa.Table) -> "Pairs":
        """The pairs of a table with query_id and doc_id."""
        queries = whole(table["query_id"]).dictionary_encode()
        return cls(queries.dictionary, queries.indices.to_numpy().astype(np.int64), whole(table["doc_id"]))

    @classmethod
    def none(cls) -> "Pairs":
        """No pairs at all."""
        return cls(pa.array([], pa.string()), np.empty(0, np.int64), pa.array([], pa.string()))

    @cached_property
    def stretches(self) -> IntArray:
        """(n_stretches + 1,) first row of each stretch of rows with one query, and the end."""
        changes = np.flatnonzero(self.query[1:] != self.query[:-1]) + 1
        return np.concatenate([[0], changes, [len(self.query)]]) if len(self.query) else np.zeros(1, np.int64)

    @cached_property
    def prints(self) -> Prints:
        """(n_rows,) print of each pair: equal for equal texts, whatever table they are in."""
        both: Prints = _prints(self.queries)[self.query] ^ _prints(self.documents)
        return _mixed(both)

    def repeats(self) -> tuple[tuple[int, int] | None, int]:
        """The first two rows of one pair, if any pair has two, and how many rows repeat another."""
        ordered = np.sort(self.prints)
        if not (ordered[1:] == ordered[:-1]).any():
            return None, 0
        documents = self.documents.dictionary_encode()
        key = self.query * len(documents.dictionary) + documents.indices.to_numpy()
        _, place, count = np.unique(key, return_index=True, return_counts=True)
        if not (count > 1).any():
            return None, 0
        first = int(place[count > 1].min())
        return (first, int(np.flatnonzero(key == key[first])[1])), int((count - 1).sum())


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    )


def same_text(left: pa.Array, at: IntArray, right: pa.Array, other: IntArray) -> npt.NDArray[np.bool_]:
    """(n,) whether rows of two columns hold the same text."""
    return np.asarray(pc.equal(left.take(pa.array(at)), right.take(pa.array(other))))


def _prints(texts: pa.Array) -> Prints:
    """(n,) print of each text, its bytes read eight at a time."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    start, length = ends[:-1], np.diff(ends)
    padded = np.concatenate([np.frombuffer(data or b"", np.uint8), np.zeros(_WORD, np.uint8)])
    words = np.ndarray((len(padded) - _WORD + 1,), np.dtype("<u8"), padded, strides=(1,))
    found = _mixed(length.astype(np.uint64))
    rows: slice | IntArray = slice(None)
    for at in range(0, int(length.max(initial=0)), _WORD):
        if at:
            rows = np.flatnonzero(length > at)
        unused = np.clip(_WORD - (length[rows] - at), 0, _WORD - 1).astype(np.uint64) * np.uint64(8)
        word = words[start[rows] + at]
        found[rows] = _mixed(found[rows] ^ (word << unused))
    return found


def _mixed(values: Prints) -> Prints:
    """Spread every bit of the values, in place."""
    for odd, shift in _ROUNDS:
        np.multiply(values, odd, out=values)
        np.bitwise_xor(values, values >> shift, out=values)
    return values
