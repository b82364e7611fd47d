"""Parquet tables: only the columns that are read, a batch at a time, within the limit."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, Choice, check_header, recognise
from metrics.runs.files import File
from metrics.runs.source import Origin, Source, source_of

MAGIC = b"PAR1"
_ROWS = 2**16


def read_parquet(file: File, choice: Choice) -> Source:
    """Read a Parquet table.

    Raises:
        ReadError: damaged, too large, or a value that cannot be read; names the row.
    """
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

    try:
        with parquet.ParquetFile(_bytes_of(file)) as table:
            schema = table.schema_arrow
            mapping = recognise(schema.names, choice.among(schema.names))
            check_header(file.name, schema.names, mapping)
            wanted = [*mapping.values(), *_numeric(schema, mapping)]
            raw = _table(file, table.iter_batches(_ROWS, columns=wanted), schema, wanted)
    except (OSError, pa.ArrowException) as error:
        raise ReadError(file.name, "damaged Parquet file", "Write it again.") from error
    origin = Origin(file.name, lambda row: row + 1, "row")
    return source_of(raw, mapping, origin, "parquet", schema.names)


def _bytes_of(file: File) -> pa.NativeFile:
    return pa.BufferReader(b"".join(file.blocks())) if file.packed else file.given()


def _numeric(schema: pa.Schema, mapping: Mapping[str, str]) -> list[str]:
    """Columns of numbers beside those mapped."""
    free = (field for field in schema if field.name not in mapping.values() and field.name not in BY_NAME)
    return [field.name for field in free if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)]


def _table(
    file: File, batches: Iterable[pa.RecordBatch], schema: pa.Schema, wanted: list[str]
) -> dict[str, pa.ChunkedArray]:
    """The wanted columns; stops where they grow past the limit, whatever the file says of its size."""
    kept, size = [], 0
    for batch in batches:
        kept.append(batch)
        size += batch.nbytes
        file.refuse_too_large(size)
    table = pa.Table.from_batches(kept, pa.schema([schema.field(name) for name in wanted]))
    return dict(zip(wanted, table.columns, strict=True))
