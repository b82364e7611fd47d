"""Pairs of query and document as 64-bit prints: found twice, or found in the judgments, without a dictionary.

A print is a hash. Equal prints only say where to look; whoever looks compares the texts.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.support.arrays import BoolArray, FloatArray, IntArray, coded, combine_chunks

Hashes = npt.NDArray[np.uint64]

_BITS = 22
"""Size of the table that says which prints do not occur: 2^22 cells."""
_WORD = 8
_ROWS = 2**17
"""Rows taken at once: few enough to stay in the cache."""
_ROUNDS = ((np.uint64(0x9E3779B97F4A7C15), np.uint64(32)), (np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(29)))


@dataclass(frozen=True, eq=False)
class QueryDocKeys:
    """Query and document of each row of a table.

    Attributes:
        queries: (n_queries,) distinct queries in order of appearance.
        query: (n_rows,) query of each row, a place in `queries`; half the size of other places.
        documents: (n_rows,) document of each row.
    """

    queries: pa.Array
    query: npt.NDArray[np.int32]
    documents: pa.Array

    @classmethod
    def of(cls, table: pa.Table) -> "QueryDocKeys":
        """The pairs of a table with query_id, plain or as a dictionary, and doc_id."""
        queries, documents = coded(table["query_id"]), combine_chunks(table["doc_id"].cast(pa.string()))
        found = cls(queries.dictionary, queries.indices.to_numpy(), documents)
        heads = found.query[found.stretches[:-1]]
        used = heads[np.sort(np.unique(heads, return_index=True)[1])]
        if len(used) == len(found.queries) and (used[1:] > used[:-1]).all():
            return found
        place = np.empty(len(found.queries), np.int32)
        place[used] = np.arange(len(used))
        return cls(found.queries.take(pa.array(used)), place[found.query], documents)

    @classmethod
    def none(cls) -> "QueryDocKeys":
        """No pairs at all."""
        return cls(pa.array([], pa.string()), np.empty(0, np.int32), pa.array([], pa.string()))

    @cached_property
    def stretches(self) -> IntArray:
        """(n_stretches + 1,) first row of each stretch of rows with one query, and the end."""
        changes = np.flatnonzero(self.query[1:] != self.query[:-1]) + 1
        return np.concatenate([[0], changes, [len(self.query)]]) if len(self.query) else np.zeros(1, np.int64)

    @cached_property
    def prints(self) -> Hashes:
        """(n_rows,) print of each pair: equal for equal texts, whatever table they are in."""
        return self._prints(0, len(self.query))

    @cached_property
    def _query_prints(self) -> Hashes:
        return text_hashes(self.queries)

    def _prints(self, start: int, end: int) -> Hashes:
        """(n,) print of each row from `start` to before `end`."""
        documents = self.documents.slice(start, end - start)
        return hashes_after(self._query_prints, self.query[start:end], documents)

    def repeats(self) -> tuple[tuple[int, int] | None, int]:
        """The first two rows of one pair, if any pair has two, and how many rows repeat another."""
        if not self._may_repeat:
            return None, 0
        key = self._keys
        _, place, count = np.unique(key, return_index=True, return_counts=True)
        if not (count > 1).any():
            return None, 0
        first = int(place[count > 1].min())
        return (first, int(np.flatnonzero(key == key[first])[1])), int((count - 1).sum())

    @property
    def _may_repeat(self) -> bool:
        """Whether two rows of one query have the same print; looks at some queries at a time where it can."""
        bounds = np.array([0, len(self.query)])
        if len(self.stretches) == len(self.queries) + 1:
            at = np.searchsorted(self.stretches, np.arange(_ROWS, len(self.query), _ROWS))
            bounds = np.unique(np.concatenate([bounds, self.stretches[at]]))
        parts = (np.sort(self._prints(start, end)) for start, end in pairwise(bounds.tolist()))
        return any((part[1:] == part[:-1]).any() for part in parts)

    def kept(self, values: FloatArray | None) -> IntArray:
        """One row of each pair, in order: the first, or the first of the highest value."""
        order = np.arange(len(self.query)) if values is None else np.argsort(-values, kind="stable")
        first: IntArray = np.unique(self._keys[order], return_index=True)[1]
        return np.sort(order[first])

    @property
    def _keys(self) -> IntArray:
        """(n_rows,) a number for each pair, the same for the same texts."""
        documents = self.documents.dictionary_encode()
        document: npt.NDArray[np.int32] = documents.indices.to_numpy()
        return self.query.astype(np.int64) * len(documents.dictionary) + document

    @cached_property
    def by_print(self) -> tuple[Hashes, IntArray, BoolArray, int]:
        """Prints in order, the row of each, which low bits occur, and the most rows of one print."""
        order = np.argsort(self.prints)
        prints = self.prints[order]
        occurs = np.zeros(2**_BITS, dtype=bool)
        occurs[_low(prints)] = True
        starts = np.flatnonzero(np.concatenate([[True], prints[1:] != prints[:-1]])[: len(prints)])
        return prints, order, occurs, int(np.diff(np.append(starts, len(prints))).max(initial=0))

    def among(self, others: "QueryDocKeys") -> tuple[IntArray, IntArray]:
        """Which rows are among the pairs of another table.

        Returns:
            rows found, and the other table's row of each.
        """
        starts = range(0, len(self.query), _ROWS)
        parts = [self._among(start, min(start + _ROWS, len(self.query)), others) for start in starts]
        rows, theirs = zip(*parts, strict=True) if parts else ([np.empty(0, np.int64)],) * 2
        return np.concatenate(rows), np.concatenate(theirs)

    def _among(self, start: int, end: int, others: "QueryDocKeys") -> tuple[IntArray, IntArray]:
        """The same for the rows from `start` to before `end`."""
        prints, order, occurs, most = others.by_print
        own = self._prints(start, end)
        maybe = np.flatnonzero(occurs[_low(own)])
        maybe = maybe[np.argsort(own[maybe])]
        wanted = own[maybe]
        at = np.searchsorted(prints, wanted)
        found, theirs = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for shift in range(most):
            near = np.minimum(at + shift, len(prints) - 1)
            equal = np.flatnonzero(prints[near] == wanted)
            row, other = start + maybe[equal], order[near[equal]]
            same = _same(self.documents, row, others.documents, other)
            same &= _same(self.queries, self.query[row], others.queries, others.query[other])
            found.append(row[same])
            theirs.append(other[same])
        return np.concatenate(found), np.concatenate(theirs)


def _same(
    left: pa.Array, at: npt.NDArray[np.integer], right: pa.Array, other: npt.NDArray[np.integer]
) -> BoolArray:
    """(n,) whether rows of two columns hold the same text."""
    return np.asarray(pc.equal(left.take(pa.array(at)), right.take(pa.array(other))))


def _low(prints: Hashes) -> npt.NDArray[np.uint32]:
    """The low bits of each print."""
    return prints.astype(np.uint32) & np.uint32(2**_BITS - 1)


def shuffled(prints: Hashes, seed: int) -> Hashes:
    """(n,) other prints of the same pairs, unrelated for each seed."""
    start = np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64)
    return _mixed(_mixed(prints ^ start))


def text_hashes(texts: pa.Array) -> Hashes:
    """(n,) print of each text: equal for equal texts."""
    return hashes_after(np.zeros(1, np.uint64), np.zeros(len(texts), np.int32), texts)


def hashes_after(starts: Hashes, start: npt.NDArray[np.int32], texts: pa.Array) -> Hashes:
    """(n,) print of each text, its bytes read eight at a time.

    Args:
        starts: what prints begin with: alike texts of different beginnings have unrelated prints.
        start: (n,) place in `starts` of each text's own.
        texts: (n,) of any length.
    """
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data or b"", np.uint8)
    found = np.empty(len(texts), dtype=np.uint64)
    for at in range(0, len(texts), _ROWS):
        end = ends[at : at + _ROWS + 1].astype(np.int64)
        own = starts[start[at : at + _ROWS]]
        found[at : at + _ROWS] = _prints_of(letters[end[0] : end[-1]], end - end[0], own)
    return found


def _prints_of(letters: npt.NDArray[np.uint8], ends: IntArray, found: Hashes) -> Hashes:
    """(n,) print of each stretch of letters between two ends, from what it begins with on, in place."""
    start, length = ends[:-1], np.diff(ends)
    padded = np.concatenate([letters, np.zeros(_WORD, np.uint8)])
    words = np.ndarray((len(padded) - _WORD + 1,), np.dtype("<u8"), padded, strides=(1,))
    _mixed(np.bitwise_xor(found, length.astype(np.uint64), out=found))
    rows: slice | IntArray = slice(None)
    for at in range(0, int(length.max(initial=0)), _WORD):
        if at:
            rows = np.flatnonzero(length > at)
        unused = np.clip(_WORD - (length[rows] - at), 0, _WORD - 1).astype(np.uint64) * np.uint64(8)
        found[rows] = _mixed(found[rows] ^ (words[start[rows] + at] << unused))
    return found


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit of the values, in place."""
    for odd, shift in _ROUNDS:
        np.multiply(values, odd, out=values)
        np.bitwise_xor(values, values >> shift, out=values)
    return values
