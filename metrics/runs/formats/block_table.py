"""A file that can be read whole or in blocks of whole queries: as much at once as memory is wanted for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.columns import BY_NAME, MissingScore
from metrics.runs.conversion import with_plain_type
from metrics.runs.files import File
from metrics.runs.findings import Finding
from metrics.runs.query_doc_keys import Hashes, text_hashes
from metrics.runs.source import Source
from metrics.support.arrays import IntArray, combine_chunks


@dataclass(frozen=True, kw_only=True)
class BlockTable(ABC):
    """A file, and what is to be read of it.

    Attributes:
        file: the file as given.
        header: names of its columns.
        mapping: our column → the file's.
        extras: further columns that are read, as numbers.
        omitted: columns that would be read of the whole file, and are not read here.
        missing_score: what is done about a score that is no number.
    """

    file: File
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    extras: tuple[str, ...] = ()
    omitted: frozenset[str] = frozenset()
    missing_score: MissingScore = "error"

    def select(self, columns: Collection[str]) -> Self:
        """Return the table with some columns alone: ours, or further ones by their names."""
        mapping = {ours: theirs for ours, theirs in self.mapping.items() if ours in columns}
        extras = tuple(name for name in self.extras if name in columns)
        omitted = {*self.columns_read, *self.omitted} - {*mapping.values(), *extras}
        return replace(self, mapping=mapping, extras=extras, omitted=frozenset(omitted))

    @property
    def columns_read(self) -> list[str]:
        """Columns of the file that are read."""
        return [*self.mapping.values(), *self.extras]

    @property
    def reported_header(self) -> list[str]:
        """Names of its columns without those left out here."""
        return [name for name in self.header if name not in self.omitted]

    @abstractmethod
    def read(self) -> Source:
        """Read the whole file; a ReadError where it is damaged or too large, or cannot be read."""

    def blocks(self) -> Iterator[Source]:
        """Yield blocks of rows without texts that hold all rows of their queries; one where there is no row.

        Rerankers of one query may take turns in its rows; else a query's rows stand together.

        Raises:
            ReadError: as of `read`, or a query comes again after rows of other queries. Blocks before that
                are right.
        """
        texts = [ours for ours in self.mapping if BY_NAME[ours].kind == "text"]
        slim = self.select([*(self.mapping.keys() - texts), *self.extras])
        ended_queries, n_rows = SeenQueries(self.refuse_repeated_query), 0
        for table, findings in slim.query_tables():
            source = slim.source(table, n_rows, findings)
            ended_queries.add(source.table, n_rows)
            n_rows += len(table)
            yield source

    @abstractmethod
    def query_tables(self) -> Iterator[tuple[pa.Table, Sequence[Finding]]]:
        """Yield the columns read, each table cut where a query ends, with what was found on the way."""

    @abstractmethod
    def source(self, table: pa.Table, n_before: int, findings: Sequence[Finding] = ()) -> Source:
        """Check and convert rows of the file."""

    @abstractmethod
    def refuse_repeated_query(self, ids: list[str], row: int) -> None:
        """Raise a ReadError if a query (of a reranker) has rows before this one."""


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
