"""A disposable cache of large files in slow formats, as read."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyarrow as pa

from dashboard.library.turns import DEAR_ROWS
from metrics.errors import UsageError
from metrics.runs import FORMATS, File, MissingScore, Source, read
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding
from metrics.runs.writing import whole_file

ENDING = ".cache"
_KEY = b"tiescope"
_HASH = 12
_SLOW = {known.name for known in FORMATS if known.open_blocks is None}
"""Formats that are parsed in Python: a million rows of JSON lines take 6 s, of TREC or CSV 0.2 s."""
_DAMAGES = (OSError, ValueError, LookupError, TypeError, pa.ArrowException)


def cache_path(path: Path, columns: Mapping[str, str], missing_score: MissingScore) -> Path:
    """Return the cache file for a choice of columns and this version."""
    choice = json.dumps([_version(), sorted(columns.items()), missing_score])
    return path.with_suffix(f".{sha256(choice.encode()).hexdigest()[:_HASH]}{ENDING}")


def remember(path: Path, source: Source) -> None:
    """Cache the content of a large file in a slow format; ignore disks that cannot be written."""
    if source.format not in _SLOW or len(source.table) < DEAR_ROWS or path.exists():
        return
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other files need not pay

    description = {
        "format": source.format,
        "mapping": dict(source.mapping),
        "header": list(source.header),
        "noted": [asdict(one) for one in source.noted],
        "missing_score": source.missing_score,
        "tie_order": source.tie_order,
        "unit": source.origin.unit,
        "first": first_line(source),
    }
    table = source.table.replace_schema_metadata({_KEY: json.dumps(description)})
    with suppress(OSError, UsageError):
        for other in path.parent.glob(f"{path.stem.partition('.')[0]}.*{ENDING}"):
            other.unlink()  # one alone, so that no choice of columns fills the disk
        with whole_file(path) as stream:
            parquet.write_table(table, stream, compression="zstd")


def recall(path: Path, file: File, columns: Mapping[str, str], missing_score: MissingScore) -> Source | None:
    """Return the cached content of a file, None if it is missing or damaged."""
    if not path.exists():
        return None
    from pyarrow import parquet  # noqa: PLC0415 as above

    try:
        table = parquet.read_table(path).combine_chunks()
        plain = json.loads(table.schema.metadata[_KEY])
        noted = tuple(replace(Finding(**one), file=file.name) for one in plain.pop("noted"))
        first, unit, header = plain.pop("first"), plain.pop("unit"), tuple(plain.pop("header"))

        @cache
        def origin() -> FileProvenance:
            return read(file, columns, missing_score=missing_score).origin

        def line_of(row: int) -> int:
            return first + row if first is not None else origin().line_of(row)

        table = table.replace_schema_metadata(None)
        return Source(
            FileProvenance(file.name, line_of, unit), table=table, header=header, noted=noted, **plain
        )
    except _DAMAGES:
        return None


def first_line(source: Source) -> int | None:
    """Return the line of the first row if rows are consecutive."""
    line_of, n_rows = source.origin.line_of, len(source.table)
    first = line_of(0)
    is_contiguous = all(line_of(row) == first + row for row in (min(1, n_rows - 1), n_rows - 1))
    return first if is_contiguous else None


@cache
def _version() -> str:
    """Return the program's version; caches of other versions are not used."""
    try:
        return version("tiescope")
    except PackageNotFoundError:
        return ""
