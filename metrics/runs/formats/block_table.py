"""A file that can be read whole or in blocks of whole queries: as much at once as memory is wanted for."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from metrics.runs.findings import Finding
from metrics.runs.reading.columns import BY_NAME, MissingScore
from metrics.runs.reading.files import File
from metrics.runs.reading.query_buffer import SeenQueries
from metrics.runs.reading.source import Source


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
        """Check and convert rows of the file.

        Args:
            table: the columns read, as they stand.
            n_before: rows of the file before them.
            findings: what was found on the way.

        Returns:
            The rows, converted, with where each stands in the file.
        """

    @abstractmethod
    def refuse_repeated_query(self, ids: list[str], row: int) -> None:
        """Raise a ReadError if a query (of a reranker) has rows before this one."""
