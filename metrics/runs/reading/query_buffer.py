"""Whole queries of rows that come batch by batch: held until the last row is there; none comes again."""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.query_doc_keys import Hashes, text_hashes
from metrics.runs.reading.conversion import with_plain_type
from metrics.support.arrays import IntArray, combine_chunks

BLOCK_BYTES = 2**21
"""Bytes of columns that make a block; eight times as many are twice as fast, and hold 45 MB more."""
Refuse = Callable[[list[str], int], None]
"""Raises a ReadError if a query, and its reranker where the file names any, has rows before this row too."""


class QueryBuffer:
    """Rows that were read and not yet given.

    Attributes:
        last_start: where the last query among them begins, which may go on.
        size: their bytes.
    """

    def __init__(self, schema: pa.Schema, query: str) -> None:
        self._schema, self._query = schema, query
        self._batches: list[pa.RecordBatch] = []
        self._n_rows, self._last_query, self.last_start, self.size = 0, "", 0, 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Append the next rows."""
        if not len(batch):
            return
        spans = pc.run_end_encode(with_plain_type(batch[self._query]), run_end_type=pa.int32())
        if len(spans.values) > 1:
            self.last_start = self._n_rows + spans.run_ends[-2].as_py()
        elif spans.values[0].as_py() != self._last_query:
            self.last_start = self._n_rows
        self._last_query = spans.values[-1].as_py()
        self._batches.append(batch)
        self._n_rows, self.size = self._n_rows + len(batch), self.size + batch.nbytes

    @property
    def is_full(self) -> bool:
        """Whether the whole queries among the rows make a block."""
        return self.size >= BLOCK_BYTES and self.last_start > 0

    @property
    def table(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self._batches, self._schema)

    def take(self) -> pa.Table:
        """Return the rows of whole queries, and hold them no longer."""
        table = self.table
        unfinished = table.slice(self.last_start)
        self._batches, self._n_rows, self.size = unfinished.to_batches(), len(unfinished), unfinished.nbytes
        table, self.last_start = table.slice(0, self.last_start), 0
        return table


class SeenQueries:
    """The queries of each reranker whose rows have ended, as hashes: eight bytes each."""

    def __init__(self, refuse: Refuse) -> None:
        self._refuse = refuse
        self._hashes: dict[str, Hashes] = {}

    def add(self, table: pa.Table, n_before: int) -> None:
        """Add the queries of the next block, after `n_before` rows; a ReadError where one comes again."""
        queries = combine_chunks(table["query_id"])
        query = queries.indices.to_numpy()
        span = np.cumsum(np.diff(query, prepend=-1) != 0)
        for reranker, rows in _rows_by_reranker(table):
            starts = rows[np.diff(span[rows], prepend=0) > 0]
            hashes = text_hashes(queries.dictionary.take(pa.array(query[starts])))
            known_hashes = self._hashes.get(reranker, hashes[:0])
            first = np.unique(query[starts], return_index=True)[1]
            is_repeated = np.isin(hashes, known_hashes) | ~np.isin(np.arange(len(starts)), first)
            for row in starts[is_repeated]:
                ids = [queries[int(row)].as_py()]
                self._refuse(ids + [reranker] * ("reranker" in table.column_names), n_before + int(row))
            self._hashes[reranker] = np.sort(np.concatenate([known_hashes, hashes]), kind="stable")


def _rows_by_reranker(table: pa.Table) -> Iterator[tuple[str, IntArray]]:
    """Yield the rows of each reranker; of one without a name where the file names none."""
    if "reranker" not in table.column_names:
        yield "", np.arange(len(table))
        return
    names = combine_chunks(table["reranker"])
    codes = names.indices.to_numpy()
    for code, name in enumerate(names.dictionary.to_pylist()):
        yield name, np.flatnonzero(codes == code)


def repeated_query(ids: list[str], last: str) -> tuple[str, str]:
    """Return problem and hint of a query that comes again, whose rows had ended on that line or row."""
    of_reranker = "".join(f" of {name!r}" for name in ids[1:])
    problem = f"query {ids[0]!r}{of_reranker} comes again, after its rows ended on {last}"
    return problem, "Sort the file by query, or read it whole (without --stream)."
