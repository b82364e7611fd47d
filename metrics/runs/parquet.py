"""Parquet tables: only the columns that are read, a batch at a time, within the limit."""

import re
from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, Choice, check_header, check_width, recognise
from metrics.runs.files import File
from metrics.runs.source import Origin, Source, source_of

MAGIC = b"PAR1"
_ROWS = 2**16
_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(file: File, choice: Choice) -> Source:
    """Read a Parquet table.

    Raises:
        ReadError: damaged, too large, or a value that cannot be read; names the row.
    """
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

    try:
        with _bytes_of(file) as given, parquet.ParquetFile(given, read_dictionary=_texts(given)) as table:
            schema = table.schema_arrow
            header = [name for name in schema.names if not _INDEX.fullmatch(name)]
            check_width(file.name, header)
            mapping = recognise(header, choice.among(header))
            check_header(file.name, header, mapping)
            wanted = [*mapping.values(), *_numeric(schema, header, mapping)]
            raw = _table(file, table.iter_batches(_ROWS, columns=wanted), schema, wanted)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ReadError(file.name, "damaged Parquet file", "Write it again.") from error
    origin = Origin(file.name, lambda row: row + 1, "row")
    return source_of(raw, mapping, origin, "parquet", header)


def unpacked_size(column: pa.Array) -> int:
    """Bytes of a column once every row holds its own text or number."""
    size: int = max(column.nbytes, 8 * len(column))
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


def _bytes_of(file: File) -> pa.NativeFile:
    return pa.BufferReader(b"".join(file.blocks())) if file.packed else file.given()


def _texts(given: pa.NativeFile) -> list[str]:
    """Columns of texts; leaves the file as if nothing was read of it."""
    from pyarrow import parquet  # noqa: PLC0415 as above

    names = [field.name for field in parquet.read_schema(given) if pa.types.is_string(field.type)]
    given.seek(0)
    return names


def _numeric(schema: pa.Schema, header: list[str], mapping: Mapping[str, str]) -> list[str]:
    """Columns of numbers beside those mapped."""
    names = [name for name in header if name not in mapping.values() and name not in BY_NAME]
    free = [schema.field(name) for name in names]
    return [field.name for field in free if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)]


def _table(
    file: File, batches: Iterable[pa.RecordBatch], schema: pa.Schema, wanted: list[str]
) -> dict[str, pa.ChunkedArray]:
    """The wanted columns; stops where they grow past the limit, whatever the file says of its size."""
    kept, size = [], 0
    for batch in batches:
        kept.append(batch)
        size += sum(unpacked_size(column) for column in batch.columns)
        file.refuse_too_large(size)
        batch.validate(full=True)
    table = pa.Table.from_batches(kept, pa.schema([schema.field(name) for name in wanted]))
    return dict(zip(wanted, table.columns, strict=True))
