"""Parquet tables: only the columns that are read, a batch at a time; whole, in blocks, or by row groups."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.reading.columns import BY_NAME, Choice, check_header, check_width, recognise
from metrics.runs.reading.files import File
from metrics.runs.reading.query_buffer import QueryBuffer, SeenQueries, comes_again
from metrics.runs.reading.source import FileProvenance, Source, build_source

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

MAGIC = b"PAR1"
_ROWS = 2**16
_MOST = 2**28
"""Bytes of so many rows without texts, at most, where a file is read in blocks."""
_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Parquet:
    """A Parquet table, and what is to be read of it.

    Attributes:
        file: the file as given.
        header: names of its columns.
        mapping: our column → the file's.
        extras: columns of numbers beside those.
        texts: columns of text.
        groups: rows of each row group.
    """

    file: File
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    extras: tuple[str, ...]
    texts: tuple[str, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, file: File, choice: Choice) -> "Parquet":
        """What a file holds.

        Raises:
            ReadError: damaged, or without the columns of a run or of judgments.
        """
        with _opened(file) as table:
            schema, groups = table.schema_arrow, range(table.num_row_groups)
            n_rows = tuple(table.metadata.row_group(at).num_rows for at in groups)
        header = tuple(name for name in schema.names if not _INDEX.fullmatch(name))
        check_width(file.name, header)
        mapping = recognise(header, choice.among(header))
        check_header(file.name, header, mapping)
        texts = tuple(field.name for field in schema if pa.types.is_string(field.type))
        return cls(file, header, mapping, _numeric(schema, header, mapping), texts, n_rows)

    def only(self, columns: Collection[str]) -> "Parquet":
        """The same with some columns alone: ours, or further ones by their names."""
        kept = {ours: theirs for ours, theirs in self.mapping.items() if ours in columns}
        extras = tuple(name for name in self.extras if name in columns)
        left = {*self.mapping.values(), *self.extras} - {*kept.values(), *extras}
        header = tuple(name for name in self.header if name not in left)
        return replace(self, mapping=kept, header=header, extras=extras)

    def read(self) -> Source:
        """The whole table, within the limit.

        Raises:
            ReadError: damaged, too large, or a value that cannot be read; names the row.
        """
        with _opened(self.file, self.texts) as table:  # one long text in many rows is one text in memory
            batches = self._within_limit(table.iter_batches(_ROWS, columns=self._wanted))
            return self._source(pa.Table.from_batches(batches, _narrowed(table.schema_arrow, self._wanted)))

    def rows(self, first: int, end: int) -> Source:
        """The rows from `first` to before `end`; as many as memory is there for.

        Raises:
            ReadError: damaged, or a value that cannot be read; names the row.
        """
        shared = [name for ours, name in self.mapping.items() if BY_NAME[ours].kind in ("shared", "word")]
        ends = np.cumsum(self.groups, dtype=np.int64)
        here, past = np.searchsorted(ends, [first, end - 1], "right").tolist()
        with _opened(self.file, shared) as table:
            found = table.read_row_groups(
                range(here, min(past + 1, len(ends))), self._wanted, use_threads=False
            )
        before = int(ends[here - 1]) if here else 0
        found = found.slice(first - before, end - first)
        found.validate(full=True)
        return self._source(found, first)

    def blocks(self) -> Iterator[Source]:
        """The table in blocks that hold all rows of their queries, without texts; one where there is no row.

        Rerankers of one query may take turns in its rows; else a query's rows stand together.

        Raises:
            ReadError: as above, or a query comes again after rows of other queries. Blocks before that
                are right.
        """
        texts = {theirs for ours, theirs in self.mapping.items() if BY_NAME[ours].kind == "text"}
        mapping = {ours: theirs for ours, theirs in self.mapping.items() if theirs not in texts}
        header = tuple(name for name in self.header if name not in texts)
        slim = replace(self, mapping=mapping, header=header)
        ended, at = SeenQueries(slim._refuse_again), 0  # noqa: SLF001 its own
        for table in slim._whole_queries():  # noqa: SLF001 its own
            source = slim._source(table, at)  # noqa: SLF001 its own
            ended.add(source.table, at)
            at += len(table)
            yield source

    def _whole_queries(self) -> Iterator[pa.Table]:
        """The wanted columns block by block, each cut where a query ends."""
        with _opened(self.file, self.texts) as table:  # as in read
            held = QueryBuffer(_narrowed(table.schema_arrow, self._wanted), self.mapping["query_id"])
            for batch in table.iter_batches(_ROWS, columns=self._wanted, use_threads=False):
                if sum(map(unpacked_size, batch.columns)) > _MOST:
                    problem = f"{_ROWS:,} rows take more than {_MOST / 2**20:.0f} MB"
                    raise ReadError(self.file.name, problem, "Write shorter ids.")
                batch.validate(full=True)
                held.add(batch)
                if held.is_full:
                    yield held.take()
            yield held.table

    def _refuse_again(self, ids: list[str], row: int) -> None:
        names = ("query_id", "reranker")[: len(ids)]
        slim, at, ended = self.only(names), 0, None
        with _opened(self.file) as table:
            for batch in table.iter_batches(_ROWS, columns=slim._wanted, use_threads=False):  # noqa: SLF001
                found = slim._source(pa.Table.from_batches([batch.slice(0, row - at)])).table  # noqa: SLF001
                same = [
                    pc.equal(found[ours].cast(pa.string()), name) for ours, name in zip(names, ids, strict=True)
                ]
                rows = pc.indices_nonzero(pc.and_(same[0], same[-1]))
                ended = at + rows[-1].as_py() if len(rows) else ended
                at += len(batch)
                if at >= row:
                    break
        if ended is not None:
            problem, hint = comes_again(ids, f"row {ended + 1}")
            raise ReadError(self.file.name, problem, hint, line=row + 1, unit="row")

    @property
    def _wanted(self) -> list[str]:
        return [*self.mapping.values(), *self.extras]

    def _source(self, table: pa.Table, before: int = 0) -> Source:
        """Rows as they were read, so many rows of the file before them."""
        origin = FileProvenance(self.file.name, partial(_row_of, before), "row")
        columns = {name: table[name] for name in self._wanted}
        return build_source(columns, self.mapping, origin, "parquet", self.header)

    def _within_limit(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; stops where they grow past the limit, whatever the file says of its size."""
        size = 0
        for batch in batches:
            size += sum(unpacked_size(column) for column in batch.columns)
            self.file.refuse_too_large(size)
            batch.validate(full=True)
            yield batch


def unpacked_size(column: pa.Array) -> int:
    """Bytes of a column once every row holds its own text or number."""
    size: int = max(column.nbytes, 8 * len(column))
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


@contextmanager
def _opened(file: File, coded: Sequence[str] = ()) -> "Iterator[ParquetFile]":
    """The file; columns of texts in `coded` come as dictionaries.

    Raises:
        ReadError: damaged, there or while it is read.
    """
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

    try:
        whole = replace(file, endless=False)  # what is packed is unpacked in memory, so within the limit
        given = pa.BufferReader(b"".join(whole.blocks())) if file.packed else file.given()
        with given, parquet.ParquetFile(given, read_dictionary=list(coded)) as table:
            yield table
    except MemoryError as error:
        raise ReadError(file.name, "its rows do not fit into memory", "Write smaller row groups.") from error
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ReadError(file.name, "damaged Parquet file", "Write it again.") from error


def _row_of(before: int, row: int) -> int:
    return before + row + 1


def _narrowed(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in names])


def _numeric(schema: pa.Schema, header: Sequence[str], mapping: Mapping[str, str]) -> tuple[str, ...]:
    """Columns of numbers beside those mapped."""
    names = [name for name in header if name not in mapping.values() and name not in BY_NAME]
    free = [schema.field(name) for name in names]
    return tuple(
        field.name for field in free if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    )
