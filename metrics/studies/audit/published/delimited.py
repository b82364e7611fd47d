"""Comma-, tab- or otherwise separated tables, and those whose columns are aligned by spaces."""

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
_MAX_ALIGNED, _MAX_WIDTH = 2**20, 2_000
"""Letters of an aligned table, and of a line of it, that are looked at."""
_GAP = re.compile(r"\S {2,}\S")
_WORD = re.compile(r"\S+")
_COLUMN = re.compile(r"x+(?: x+)*")


def read_delimited(name: str, text: str) -> list[Grid]:
    """Return the table of a file of separated values, all its text; a ReadError where it is none."""
    head = text[:_HEAD].splitlines(keepends=True)[:_HEAD_LINES]
    delimiter, n_parted = _delimiter(head)
    if 2 * n_parted < sum(map(bool, map(str.strip, head))) and (rows := _aligned(text[:_MAX_ALIGNED])):
        return [Grid(name, rows)]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [
            Grid(name, [(reader.line_num, [_plain(cell) for cell in cells]) for cells in reader], delimiter)
        ]
    except csv.Error as error:
        raise ReadError(name, f"no table: {error}", "Export it again.", line=reader.line_num) from error


def _aligned(text: str) -> list[tuple[int, list[str]]]:
    """Return line and cells of each row of a table whose columns are two spaces apart, as pandas prints it.

    A line of a title, without such a space, is no row, nor is one of dashes.
    """
    rows = enumerate(text.splitlines(), 1)
    lines = [(number, line) for number, line in rows if _GAP.search(line) and line.strip("-=+ ")]
    width = max((len(line) for _, line in lines), default=0)
    if width > _MAX_WIDTH:
        return []
    is_filled = [False] * width
    for _, line in lines:
        for match in _WORD.finditer(line):
            is_filled[match.start() : match.end()] = [True] * (match.end() - match.start())
    spans = [match.span() for match in _COLUMN.finditer("".join(" x"[filled] for filled in is_filled))]
    return [(number, [_plain(line[start:end]) for start, end in spans]) for number, line in lines if spans[1:]]


def _plain(cell: str) -> str:
    """Return the text of a cell without what makes all of it bold, in Markdown or LaTeX."""
    if match := _BOLD.fullmatch(cell.strip()):
        return match[2] + match[3]
    return _COMMAND.sub(r"\1", _COMMAND.sub(r"\1", cell)) if "\\" in cell else cell


def _delimiter(lines: Sequence[str]) -> tuple[str, int]:
    """Return what parts most of the first lines into equally many cells, the more the better, and how many."""

    def agreement(mark: str) -> tuple[int, int]:
        widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=mark) if len(cells) > 1)
        width, n_lines = widths.most_common(1)[0] if widths else (0, 0)
        return n_lines, width

    delimiter = max(DELIMITERS, key=agreement)
    return delimiter, agreement(delimiter)[0]
