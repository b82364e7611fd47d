"""Comma-, tab- or otherwise separated tables."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from metrics.errors import ReadError
from metrics.studies.audit.published.grids import Grid

DELIMITERS = "\t,;|"
_BOLD = re.compile(r"(\*\*|__)(.+)\1([^\w*]*)")
_COMMAND = re.compile(r"\\(?:textbf|textit|underline|emph|mathbf)\{([^{}]*)\}")
_HEAD, _HEAD_LINES = 65_536, 20
"""Letters and lines in which the delimiter is looked for."""


def read_delimited(name: str, text: str) -> list[Grid]:
    """Return the table of a file of separated values, all its text; a ReadError where it is none."""
    head = text[:_HEAD].splitlines(keepends=True)[:_HEAD_LINES]
    delimiter = _delimiter(head)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [
            Grid(name, [(reader.line_num, [_plain(cell) for cell in cells]) for cells in reader], delimiter)
        ]
    except csv.Error as error:
        raise ReadError(name, f"no table: {error}", "Export it again.", line=reader.line_num) from error


def _plain(cell: str) -> str:
    """Return the text of a cell without what makes all of it bold, in Markdown or LaTeX."""
    if match := _BOLD.fullmatch(cell.strip()):
        return match[2] + match[3]
    return _COMMAND.sub(r"\1", _COMMAND.sub(r"\1", cell)) if "\\" in cell else cell


def _delimiter(lines: Sequence[str]) -> str:
    """Return what parts most of the first lines into equally many cells, the more the better."""

    def agreement(mark: str) -> tuple[int, int]:
        widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=mark) if len(cells) > 1)
        width, n_lines = widths.most_common(1)[0] if widths else (0, 0)
        return n_lines, width

    return max(DELIMITERS, key=agreement)
