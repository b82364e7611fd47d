"""Delimited text cut line by line in plain Python: slow, and able to say which line is at fault."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.errors import ReadError
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.text import MAX_LINE, BlockStream, line_too_long, open_text, whole_lines

csv.field_size_limit(MAX_LINE)

NumberedFields = tuple[int, list[str]]
"""A line number, first line 1, and the fields of that line."""


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are cut.

    Attributes:
        delimiter: one character; a space stands for any run of spaces and tabs.
        names: names of the columns; where None, the first line holds them.
        quoted: whether a field may stand in double quotes.
    """

    delimiter: str
    names: tuple[str, ...] | None = None
    quoted: bool = True

    @property
    def spaced(self) -> bool:
        """Whether runs of spaces and tabs separate."""
        return self.delimiter == " "


def header_of(head: bytes, layout: Layout) -> list[str]:
    """Return the fields of the first line that is not blank; none where all are."""
    try:
        return next(_cut(BlockStream([head]), layout), (0, []))[1]
    except csv.Error:
        return []


def rows(file: File, layout: Layout, *, strict: bool = False) -> Iterator[NumberedFields]:
    """Yield each line that is not empty, from the first that is not blank, without comments.

    Args:
        file: what to read.
        layout: how its lines are cut.
        strict: whether a quote that never closes is an error.

    Raises:
        csv.Error: with `strict`, at a quote that never closes.
        ReadError: a field is too long.
    """
    line = 0
    try:
        for line, fields in _cut(open_text(file, strip_lines=layout.spaced), layout, strict=strict):
            if not is_comment(fields[0], len(fields), layout):
                yield line, fields
    except csv.Error as error:
        if "field limit" in str(error):
            raise line_too_long(file, line + 1) from error
        raise


def is_comment(start: str, width: int, layout: Layout) -> bool:
    """Return whether a line is no row: it begins with # and has not as many fields as a row.

    Args:
        start: its first letters.
        width: how many fields it has.
        layout: how it was cut; with a header, a table has no comments.
    """
    return layout.names is not None and start.startswith("#") and width != len(layout.names)


def check_lines(file: File, header: Sequence[str], layout: Layout) -> int:
    """Find the line over whose encoding or number of fields a parser stumbled.

    Args:
        file: what the parser read.
        header: names of its columns.
        layout: how its lines are cut.

    Returns:
        bytes of text, if no line is at fault.

    Raises:
        ReadError: at the first line that is.
    """
    line, size = 1, 0
    for block in whole_lines(file):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line += block.count(b"\n", 0, error.start)
            raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
        line, size = line + block.count(b"\n"), size + len(block)
    if layout.quoted:
        refuse_open_quote(file, layout)
    for line, fields in rows(file, layout):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Mend or remove the line.", line=line)
    return size


def check_quotes(file: File, layout: Layout, n_rows: int) -> None:
    """Raise a ReadError where a quote that does not close has swallowed lines, so that a parser read too few.

    Args:
        file: what the parser read.
        layout: how its lines are cut.
        n_rows: rows that the parser read.
    """
    if not layout.quoted or not any(b'"' in block for block in file.blocks()):
        return
    if n_rows + (not layout.names) != count_lines(file):
        refuse_open_quote(file, layout)


def count_lines(file: File) -> int:
    """Return how many lines a file has, blank ones included."""
    count, last = 0, b"\n"
    for block in file.blocks():
        count += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
        last = block[-1:]
    return count + (last != b"\n")


def refuse_open_quote(file: File, layout: Layout) -> None:
    """Raise a ReadError at a quote that does not close where it should: it swallows what follows."""
    last = 0
    try:
        for last, _ in rows(file, layout, strict=True):  # noqa: B007 the last line read is the point
            pass
    except csv.Error as error:
        following = next((line for line, _ in rows(file, layout) if line > last), last)
        raise ReadError(file.name, "a quote is opened and not closed", "Close it.", line=following) from error


def _cut(stream: io.RawIOBase, layout: Layout, *, strict: bool = False) -> Iterator[NumberedFields]:
    text = io.TextIOWrapper(io.BufferedReader(stream, BLOCK), encoding="utf-8", errors="replace", newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    reader = csv.reader(text, delimiter=layout.delimiter, quoting=quoting, strict=strict)
    n_before, has_begun = 0, False
    for fields in reader:
        has_begun = has_begun or bool("".join(fields).strip())
        if fields and has_begun:
            yield n_before + 1, fields
        n_before = reader.line_num
