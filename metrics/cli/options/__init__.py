"""Options that commands share."""

from metrics.cli.options.reading import (
    Columns,
    MissingScore,
    NamedPath,
    ReadingOptions,
    Repeated,
    parse_columns,
)
from metrics.cli.options.shared import (
    FOR_PEOPLE,
    NAME_HELP,
    Measures,
    OutputFormat,
    Precision,
    Qrels,
    RelevantFrom,
    RunPath,
    RunPaths,
    TableOutput,
    TiebreakBy,
    Traditional,
    parse_run,
    with_shared_options,
)

__all__ = [
    "FOR_PEOPLE",
    "NAME_HELP",
    "Columns",
    "Measures",
    "MissingScore",
    "NamedPath",
    "OutputFormat",
    "Precision",
    "Qrels",
    "ReadingOptions",
    "RelevantFrom",
    "Repeated",
    "RunPath",
    "RunPaths",
    "TableOutput",
    "TiebreakBy",
    "Traditional",
    "parse_columns",
    "parse_run",
    "with_shared_options",
]
