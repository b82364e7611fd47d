"""Pairs of query and document as 64-bit hashes, to find repeats and judgments.

Texts with equal hashes are compared.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges, span_starts
from metrics.support.cached import cached_property
from metrics.support.columns import coded, combine_chunks

Hashes = npt.NDArray[np.uint64]

_BITS = 20
"""Leading bits of hashes that a table marks as present; it fits into the processor's cache."""
_SLOT_BITS = 16
"""Leading bits of hashes that share a slot where repeats are looked for."""
_WORD = 8
"""Bytes hashed at once."""
_ROWS = 2**17
"""Rows matched at once, few enough for the processor's cache."""
_CACHED_ROWS = 2**14
"""Rows hashed or sorted at once, few enough for the processor's first cache."""
_MIXING_ROUNDS = (
    (np.uint64(0x9E3779B97F4A7C15), np.uint64(32)),
    (np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(29)),
)


@dataclass(frozen=True, eq=False)
class QueryDocKeys:
    """Query and document of each row of a table.

    Attributes:
        queries: (n_queries,) distinct queries in order of appearance.
        query: (n_rows,) place in `queries`.
        documents: (n_rows,) documents.
    """

    queries: pa.Array
    query: npt.NDArray[np.int32]
    documents: pa.Array

    @classmethod
    def of(cls, table: pa.Table, row_ends: IntArray | None = None) -> "QueryDocKeys":
        """Return the pairs of a table; `row_ends` (n + 1,) separate the queries of rerankers."""
        codes, documents = coded(table["query_id"]), combine_chunks(table["doc_id"].cast(pa.string()))
        n_codes, query = max(len(codes.dictionary), 1), codes.indices.to_numpy()
        if row_ends is not None and len(row_ends) > 2:  # noqa: PLR2004 the ends of one reranker
            query = query + n_codes * np.repeat(np.arange(len(row_ends) - 1), np.diff(row_ends))
        starts = span_starts(query)
        distinct = query[starts]
        if query.dtype == np.int32 and np.array_equal(distinct, np.arange(len(codes.dictionary))):
            return cls(codes.dictionary, query, documents)
        if query.dtype != np.int32 or (distinct != np.arange(len(starts))).any():  # else the own codes will do
            places, distinct = pd.factorize(distinct)
            query = np.repeat(places.astype(np.int32), np.diff(starts, append=len(query)))
        return cls(codes.dictionary.take(pa.array(distinct % n_codes)), query, documents)

    @classmethod
    def concat(cls, parts: list["QueryDocKeys"]) -> "QueryDocKeys":
        """Concatenate the rows of several tables, which do not share queries."""
        before = np.cumsum([0, *(len(part.queries) for part in parts[:-1])])
        query = [part.query + n_queries for part, n_queries in zip(parts, before.astype(np.int32), strict=True)]
        return cls(
            pa.concat_arrays([part.queries for part in parts]),
            np.concatenate(query),
            pa.concat_arrays([part.documents for part in parts]),
        )

    def slice(self, rows: tuple[int, int], queries: tuple[int, int]) -> "QueryDocKeys":
        """Return a range of rows and the range of their queries."""
        (start, end), (first, last) = rows, queries
        return QueryDocKeys(
            self.queries.slice(first, last - first),
            self.query[start:end] - np.int32(first),
            self.documents.slice(start, end - start),
        )

    @classmethod
    def none(cls) -> "QueryDocKeys":
        """Return no pairs."""
        return cls(pa.array([], pa.string()), np.empty(0, np.int32), pa.array([], pa.string()))

    @classmethod
    def numbered(cls, queries: list[str], lengths: IntArray) -> "QueryDocKeys":
        """Return the pairs of lists of some lengths, whose documents are numbered from 0."""
        numbers = joined_ranges(np.zeros(len(lengths), np.int64), lengths)
        query = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        return cls(pa.array(queries), query, pa.array(numbers).cast(pa.string()))

    @cached_property
    def query_spans(self) -> IntArray:
        """(n_spans + 1,) first row of each span of rows with one query, and the end."""
        return np.append(span_starts(self.query), len(self.query))

    @cached_property
    def hashes(self) -> Hashes:
        """(n_rows,) hash of each pair, equal for equal texts in all tables."""
        return hashes_after(text_hashes(self.queries), self.query, self.documents)

    @cached_property
    def repeats(self) -> tuple[tuple[int, int] | None, int]:
        """The first two rows of a repeated pair, if any, and the number of repeated rows."""
        bounds = np.array([0, len(self.query)])
        if len(self.query_spans) == len(self.queries) + 1:  # some queries at a time, which is faster
            spans = np.searchsorted(self.query_spans, np.arange(_CACHED_ROWS, len(self.query), _CACHED_ROWS))
            bounds = np.unique(np.concatenate([bounds, self.query_spans[spans]]))
        slots = np.empty(2**_SLOT_BITS, np.int64)
        if not any(_has_repeat(self.hashes[start:end], slots) for start, end in pairwise(bounds.tolist())):
            return None, 0
        codes = self.pair_codes
        _, first_rows, counts = np.unique(codes, return_index=True, return_counts=True)
        if not (counts > 1).any():
            return None, 0
        first = int(first_rows[counts > 1].min())
        return (first, int(np.flatnonzero(codes == codes[first])[1])), int((counts - 1).sum())

    def one_row_each(self, values: FloatArray | None = None) -> IntArray:
        """Return one row of each pair: the first, or the first with the highest of (n_rows,) values."""
        order = np.arange(len(self.query)) if values is None else np.argsort(-values, kind="stable")
        first: IntArray = np.unique(self.pair_codes[order], return_index=True)[1]
        return np.sort(order[first])

    @property
    def pair_codes(self) -> IntArray:
        """(n_rows,) a number for each pair, equal for equal texts."""
        documents = self.documents.dictionary_encode()
        document: npt.NDArray[np.int32] = documents.indices.to_numpy()
        return self.query.astype(np.int64) * len(documents.dictionary) + document

    @cached_property
    def hash_index(self) -> tuple[Hashes, IntArray, BoolArray, int]:
        """Sorted hashes, their rows, which high bits occur, and the most rows of one hash."""
        order = np.argsort(self.hashes)
        hashes = self.hashes[order]
        occurs = np.zeros(2**_BITS, dtype=bool)
        occurs[_high_bits(hashes, _BITS)] = True
        n_most = int(np.diff(span_starts(hashes), append=len(hashes)).max(initial=0))
        return hashes, order, occurs, n_most

    def places_of(self, queries: pa.Array) -> IntArray:
        """Return the (n,) place of each query among the queries here, -1 if missing."""
        return np.asarray(pc.fill_null(pc.index_in(queries, value_set=self.queries), -1)).astype(np.int64)

    def seeded_hashes(self, rows: IntArray, bits: Hashes) -> Hashes:
        """Return (n,) other hashes of some rows, independent between the bits of different seeds."""
        return _mix(_mix(self.hashes[rows] ^ bits))

    def match(self, table: "QueryDocKeys") -> tuple[IntArray, IntArray]:
        """Return the rows whose pair another table has, and its rows; free the hashes of all rows."""
        hashes, order, occurs, n_most = table.hash_index
        own_hashes = self.hashes
        vars(self).pop("hashes", None)  # 8 bytes a row, which only random orders need again
        theirs = table.places_of(self.queries)
        rows, table_rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for start in range(0, len(self.query), _ROWS):
            own = own_hashes[start : start + _ROWS]
            candidates = np.flatnonzero(occurs.take(_high_bits(own, _BITS)))
            candidates = candidates[np.argsort(own[candidates])]
            own = own[candidates]
            places = np.searchsorted(hashes, own)
            for shift in range(n_most):
                near = np.minimum(places + shift, len(hashes) - 1)
                equal = np.flatnonzero(hashes[near] == own)
                row, table_row = start + candidates[equal], order[near[equal]]
                is_same = theirs[self.query[row]] == table.query[table_row]
                documents = table.documents.take(pa.array(table_row))
                is_same &= np.asarray(pc.equal(self.documents.take(pa.array(row)), documents))
                rows.append(row[is_same])
                table_rows.append(table_row[is_same])
        return np.concatenate(rows), np.concatenate(table_rows)


def _has_repeat(hashes: Hashes, slots: IntArray) -> bool:
    """Return whether two of (n,) hashes are equal.

    Each row writes its number into a slot. A repeat is a row equal to the one that took its slot, or one of two
    equal rows that both lost theirs.
    """
    slot, rows = _high_bits(hashes, _SLOT_BITS), np.arange(len(hashes))
    slots[slot] = rows
    last = slots[slot]
    lost = np.flatnonzero(last != rows)
    losers = np.sort(hashes[lost])
    return bool((hashes[last[lost]] == hashes[lost]).any() or (losers[1:] == losers[:-1]).any())


def _high_bits(hashes: Hashes, n_bits: int) -> IntArray:
    return (hashes >> np.uint64(64 - n_bits)).view(np.int64)


def text_hashes(texts: pa.Array) -> Hashes:
    """Return the (n,) hash of each text."""
    return hashes_after(np.zeros(1, np.uint64), np.zeros(len(texts), np.int32), texts)


def hashes_after(starts: Hashes, start: npt.NDArray[np.int32], texts: pa.Array) -> Hashes:
    """Return the (n,) hash of each text, begun with `starts[start]`."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data or b"", np.uint8)
    hashes = np.empty(len(texts), dtype=np.uint64)
    for first in range(0, len(texts), _CACHED_ROWS):
        rows = slice(first, first + _CACHED_ROWS)
        hashes[rows] = starts[start[rows]]
        end = ends[first : first + _CACHED_ROWS + 1].astype(np.int64)
        _hash_spans(letters[end[0] : end[-1]], end - end[0], hashes[rows])
    return hashes


def _hash_spans(letters: npt.NDArray[np.uint8], ends: IntArray, hashes: Hashes) -> None:
    """Hash the bytes between ends, eight at a time, into (n,) hashes that hold the start values."""
    start, length = ends[:-1], np.diff(ends)
    padded = np.concatenate([letters, np.zeros(_WORD, np.uint8)])
    words = np.ndarray((len(padded) - _WORD + 1,), np.dtype("<u8"), padded, strides=(1,))
    _mix(np.bitwise_xor(hashes, length.view(np.uint64), out=hashes))
    rows: slice | IntArray = slice(None)
    shortest, longest = int(length.min()), int(length.max())
    for offset in range(0, longest, _WORD):
        if offset >= shortest:
            rows = np.flatnonzero(length > offset)
        word = words.take(start[rows] + offset)
        word <<= np.clip(8 * (_WORD + offset - length[rows]), 0, 8 * (_WORD - 1)).view(np.uint64)
        word ^= hashes[rows]
        hashes[rows] = _mix(word)


def _mix(values: Hashes) -> Hashes:
    """Mix the bits of each value, in place."""
    for odd, shift in _MIXING_ROUNDS:
        np.multiply(values, odd, out=values)
        np.bitwise_xor(values, values >> shift, out=values)
    return values
