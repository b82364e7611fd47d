"""Parquet tables, read whole or by row groups; only the columns that are needed."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedIOBase
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice
from metrics.runs.files import File, FileProvenance
from metrics.runs.formats.format import FileTable
from metrics.runs.formats.json_records import records_source
from metrics.runs.formats.shapes import may_list_documents
from metrics.runs.source import Source, build_source

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData, ParquetFile

MAX_FOOTER = 2**24
"""Largest footer, in bytes: it is parsed at once and takes ten times as many."""
_BATCH_ROWS = 2**16
MAX_NESTED_VALUES = 10_000_000
"""Most values of a table with lists, whose rows become records."""
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True, kw_only=True)
class ParquetTable(FileTable):
    """A Parquet table, and the columns to read from it.

    Attributes:
        texts: names of its text columns.
        groups: number of rows of each row group.
        omitted: columns left out by `select`.
    """

    texts: tuple[str, ...]
    groups: tuple[int, ...]
    omitted: frozenset[str] = frozenset()

    @classmethod
    def open(cls, file: File, choice: ColumnChoice) -> "ParquetTable":
        """Read the schema of a file; a ReadError if it is damaged, or not a run or judgments."""
        with _open_parquet(file) as parquet:
            schema, metadata = parquet.schema_arrow, parquet.metadata
            groups = tuple(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
        header = tuple(name for name in schema.names if not _PANDAS_INDEX.fullmatch(name))
        mapping = choice.mapping(file.name, header)
        return cls(
            file=file,
            header=header,
            mapping=mapping,
            extras=_number_columns(schema, header, mapping),
            texts=tuple(field.name for field in schema if pa.types.is_string(field.type)),
            groups=groups,
            missing_score=choice.missing_score,
        )

    def read(self) -> Source:
        """Read the whole table, within the limit; a ReadError names the row that cannot be read."""
        with _open_parquet(self.file, self.texts) as parquet:  # a text that many rows share is stored once
            self.file.refuse_too_large(declared_size(parquet.metadata, self.columns_read))
            batches = self._within_limit(parquet.iter_batches(_BATCH_ROWS, columns=self.columns_read))
            return self.source(pa.Table.from_batches(batches, self._schema(parquet)))

    def select(self, columns: Collection[str]) -> "ParquetTable":
        """Return the table with some columns only: ours, or further ones by their names."""
        mapping = {ours: theirs for ours, theirs in self.mapping.items() if ours in columns}
        extras = tuple(name for name in self.extras if name in columns)
        omitted = {*self.columns_read, *self.omitted} - {*mapping.values(), *extras}
        return replace(self, mapping=mapping, extras=extras, omitted=frozenset(omitted))

    def rows(self, first: int, end: int) -> Source:
        """Read the rows from `first` to before `end`."""
        coded = [name for ours, name in self.mapping.items() if BY_NAME[ours].kind in ("shared", "word")]
        ends = np.cumsum(self.groups, dtype=np.int64)
        first_group, last_group = np.searchsorted(ends, [first, end - 1], "right").tolist()
        groups = range(first_group, min(last_group + 1, len(ends)))
        with _open_parquet(self.file, coded) as parquet:
            table = parquet.read_row_groups(groups, self.columns_read, use_threads=False)
        n_before = int(ends[first_group - 1]) if first_group else 0
        table = table.slice(first - n_before, end - first)
        table.validate(full=True)
        return self.source(table, first)

    def source(self, table: pa.Table, n_before: int = 0) -> Source:
        """Check and convert rows of the file."""
        origin = FileProvenance(self.file.name, partial(add, n_before + 1), "row")
        columns = {name: table[name] for name in self.columns_read}
        header = [name for name in self.header if name not in self.omitted]
        source = build_source(
            columns, self.mapping, origin, "parquet", header, missing_score=self.missing_score
        )
        return source.note_unused()

    def _schema(self, parquet: "ParquetFile") -> pa.Schema:
        return pa.schema([parquet.schema_arrow.field(name) for name in self.columns_read])

    def _within_limit(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches, up to the limit of the file, whatever size it declares."""
        size = 0
        for batch in batches:
            size += sum(unpacked_size(column) for column in batch.columns)
            self.file.refuse_too_large(size)
            batch.validate(full=True)
            yield batch


def read_parquet(file: File, choice: ColumnChoice) -> Source:
    """Read a table; lists of documents as in JSON."""
    with _open_parquet(file) as parquet:
        schema = parquet.schema_arrow
        nested = [field.name for field in schema if pa.types.is_nested(field.type)]
        if not nested or not may_list_documents(set(schema.names) - set(nested)):
            return ParquetTable.open(file, choice).read()
        file.refuse_too_large(declared_size(parquet.metadata, schema.names))
        n_values, records = 0, list[dict[str, object]]()
        for batch in parquet.iter_batches(_BATCH_ROWS):
            n_values += sum(count_values(column) for column in batch.columns)
            if n_values > MAX_NESTED_VALUES:
                problem = f"lists of more than {MAX_NESTED_VALUES:,} values"
                raise ReadError(file.name, problem, "Write one row per document.")
            batch.validate(full=True)
            records += batch.to_pylist()
    return records_source(records, FileProvenance(file.name, partial(add, 1), "row"), "parquet", choice)


def count_values(column: pa.Array) -> int:
    """Return the number of values of a column, including those inside lists and structures."""
    if pa.types.is_struct(column.type):
        return len(column) + sum(map(count_values, column.flatten()))
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return len(column) + count_values(column.flatten())
    return len(column)


def declared_size(metadata: "FileMetaData", columns: Collection[str]) -> int:
    """Return a lower bound of `unpacked_size` of some columns from the footer of the file.

    Single columns are not asked for their sizes: if their metadata are damaged, pyarrow ends the process.
    """
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    n_encoded = sum(group.total_byte_size for group in groups) if len(columns) == metadata.num_columns else 0
    n_rows: int = metadata.num_rows
    return max(n_encoded, n_rows * 8 * len(columns))


def unpacked_size(column: pa.Array) -> int:
    """Return the bytes of a column if each row stored its own value."""
    size: int = max(column.nbytes, 8 * len(column))
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


@contextmanager
def _open_parquet(file: File, coded: Sequence[str] = ()) -> "Iterator[ParquetFile]":
    """Open the file, the text columns `coded` as dictionaries; a ReadError if it is damaged."""
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

    try:
        stream = pa.BufferReader(b"".join(file.blocks())) if file.packed else file.given()
        refuse_large_footer(file, stream)
        with stream, parquet.ParquetFile(stream, read_dictionary=list(coded)) as table:
            yield table
    except MemoryError as error:
        raise ReadError(file.name, "its rows do not fit into memory", "Write smaller row groups.") from error
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ReadError(file.name, "damaged Parquet file", "Write it again.") from error


def refuse_large_footer(file: File, stream: pa.NativeFile | BufferedIOBase) -> None:
    """Raise a ReadError if a file declares too many columns and row groups."""
    stream.seek(-8, 2)
    if MAX_FOOTER < int.from_bytes(stream.read(4), "little") < stream.tell():
        problem = f"the metadata of columns and row groups exceeds {MAX_FOOTER / 2**20:.0f} MB"
        raise ReadError(file.name, problem, "Write larger row groups, or fewer columns.")
    stream.seek(0)


def _number_columns(schema: pa.Schema, header: Sequence[str], mapping: Mapping[str, str]) -> tuple[str, ...]:
    names = [name for name in header if name not in mapping.values() and name not in BY_NAME]
    fields = [schema.field(name) for name in names]
    return tuple(
        field.name for field in fields if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    )
