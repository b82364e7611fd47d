"""Floor 1: runs and judgments."""

from typing import TYPE_CHECKING

from metrics.runs.columns import COLUMNS, MissingScore
from metrics.runs.files import File
from metrics.runs.findings import KINDS
from metrics.runs.formats.format import FORMATS, FORMATS_BY_NAME, Format
from metrics.runs.formats.frames import Nested
from metrics.runs.formats.letor import with_predictions
from metrics.runs.from_paths import (
    Table,
    Tables,
    as_judgments,
    as_run,
    check,
    check_files,
    distinct_file_names,
    is_judgments,
    may_be_either,
    read_runs,
    read_table,
    with_names,
)
from metrics.runs.joining import Repeated
from metrics.runs.model import Runs
from metrics.runs.source import Source

if TYPE_CHECKING:
    from metrics.runs.formats.registry import open_run, read


def __getattr__(name: str) -> object:
    """Import the readers of files on first use, because dictionaries and frames do not need them."""
    if name not in ("open_run", "read"):
        raise AttributeError(f"module 'metrics.runs' has no attribute {name!r}")
    from metrics.runs.formats import registry  # noqa: PLC0415 many formats, for files alone

    return getattr(registry, name)


__all__ = [
    "COLUMNS",
    "FORMATS",
    "FORMATS_BY_NAME",
    "KINDS",
    "File",
    "Format",
    "MissingScore",
    "Nested",
    "Repeated",
    "Runs",
    "Source",
    "Table",
    "Tables",
    "as_judgments",
    "as_run",
    "check",
    "check_files",
    "distinct_file_names",
    "is_judgments",
    "may_be_either",
    "open_run",
    "read",
    "read_runs",
    "read_table",
    "with_names",
    "with_predictions",
]
