"""Whole queries of rows that come batch by batch: held until the last row is there; none comes again."""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.query_doc_keys import Hashes, text_hashes
from metrics.runs.reading.source import simple
from metrics.support.arrays import IntArray, whole

HELD = 2**21
"""Bytes of columns that make a block; eight times as many are twice as fast, and hold 45 MB more."""
Refuse = Callable[[list[str], int], None]
"""Raises a ReadError if a query, and its reranker where the file names any, has rows before this row too."""


class QueryBuffer:
    """Rows that were read and not yet given.

    Attributes:
        cut: where the last query among them begins, which may go on.
        size: their bytes.
    """

    def __init__(self, schema: pa.Schema, query: str) -> None:
        self._schema, self._query = schema, query
        self._batches: list[pa.RecordBatch] = []
        self._rows, self._last, self.cut, self.size = 0, "", 0, 0

    def add(self, batch: pa.RecordBatch) -> None:
        """The next rows."""
        if not len(batch):
            return
        stretches = pc.run_end_encode(simple(batch[self._query]), run_end_type=pa.int32())
        if len(stretches.values) > 1:
            self.cut = self._rows + stretches.run_ends[-2].as_py()
        elif stretches.values[0].as_py() != self._last:
            self.cut = self._rows
        self._last = stretches.values[-1].as_py()
        self._batches.append(batch)
        self._rows, self.size = self._rows + len(batch), self.size + batch.nbytes

    @property
    def is_full(self) -> bool:
        """Whether the whole queries among them make a block."""
        return self.size >= HELD and self.cut > 0

    @property
    def table(self) -> pa.Table:
        """All of them."""
        return pa.Table.from_batches(self._batches, self._schema)

    def take(self) -> pa.Table:
        """Those of whole queries, which are held no longer."""
        table = self.table
        rest = table.slice(self.cut)
        self._batches, self._rows, self.size = rest.to_batches(), len(rest), rest.nbytes
        table, self.cut = table.slice(0, self.cut), 0
        return table


class SeenQueries:
    """The queries of each reranker whose rows have ended, as prints: eight bytes each."""

    def __init__(self, refuse: Refuse) -> None:
        self._refuse = refuse
        self._prints: dict[str, Hashes] = {}

    def add(self, table: pa.Table, before: int) -> None:
        """The next block, so many rows of the file before it.

        Raises:
            ReadError: a query comes again.
        """
        queries = whole(table["query_id"])
        query = queries.indices.to_numpy()
        stretch = np.cumsum(np.diff(query, prepend=-1) != 0)
        for reranker, own in _by_reranker(table):
            heads = own[np.diff(stretch[own], prepend=0) > 0]
            prints = text_hashes(queries.dictionary.take(pa.array(query[heads])))
            first = np.unique(query[heads], return_index=True)[1]
            again = np.isin(prints, self._prints.get(reranker, prints[:0]))
            again |= ~np.isin(np.arange(len(heads)), first)
            for row in heads[again]:
                named = [reranker] if "reranker" in table.column_names else []
                self._refuse([queries[int(row)].as_py(), *named], before + int(row))
            known = np.concatenate([self._prints.get(reranker, prints[:0]), prints])
            self._prints[reranker] = np.sort(known, kind="stable")


def _by_reranker(table: pa.Table) -> Iterator[tuple[str, IntArray]]:
    """The rows of each reranker; of one without a name where the file names none."""
    if "reranker" not in table.column_names:
        yield "", np.arange(len(table))
        return
    names = whole(table["reranker"])
    codes = names.indices.to_numpy()
    for code, name in enumerate(names.dictionary.to_pylist()):
        yield name, np.flatnonzero(codes == code)


def comes_again(ids: list[str], ended: str) -> tuple[str, str]:
    """Problem and hint of a query that comes again, whose rows had ended on that line or row."""
    of = "".join(f" of {name!r}" for name in ids[1:])
    problem = f"query {ids[0]!r}{of} comes again, after its rows ended on {ended}"
    return problem, "Sort the file by query, or read it whole (without --stream)."
