"""Comma-, tab- or otherwise separated tables."""

import csv
import io

from metrics.errors import ReadError
from metrics.studies.audit.published.grids import Grid

DELIMITERS = "\t,;|"
_SNIFFED = 65_536
"""Letters in which the delimiter is looked for."""


def read_delimited(name: str, text: str) -> list[Grid]:
    """Return the table of a file of separated values.

    Args:
        name: of the file.
        text: all of it.

    Raises:
        ReadError: it is no such file.
    """
    head = text[:_SNIFFED]
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(head, DELIMITERS)
    except csv.Error:
        dialect = csv.excel
        dialect.delimiter = next((mark for mark in DELIMITERS if mark in head.split("\n", 1)[0]), ",")
    reader = csv.reader(io.StringIO(text, newline=""), dialect)
    try:
        return [Grid(name, [(reader.line_num, cells) for cells in reader])]
    except csv.Error as error:
        raise ReadError(name, f"no table: {error}", "Export it again.", line=reader.line_num) from error
