"""Delimited text cut line by line in plain Python: slow, and able to say which line is at fault."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.errors import ReadError
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.text import MAX_LINE, Text, as_given, spaced, too_long, whole_lines

csv.field_size_limit(MAX_LINE)


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
    """Fields of the first line that is not blank; none where all are."""
    try:
        return next(_cut(Text([head]), layout), (0, []))[1]
    except csv.Error:
        return []


def rows(file: File, layout: Layout, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not empty, from the first that is not blank; no comments.

    Raises:
        csv.Error: with `strict`, at a quote that never closes.
        ReadError: a field is too long.
    """
    found = _cut(spaced(file, tidy=True) if layout.spaced else as_given(file), layout, strict=strict)
    line = 0
    try:
        for line, fields in found:
            if not is_comment(fields[0], len(fields), layout):
                yield line, fields
    except csv.Error as error:
        if "field limit" in str(error):
            raise too_long(file, line + 1) from error
        raise


def is_comment(start: str, width: int, layout: Layout) -> bool:
    """Whether a line is no row: it begins with # and has not as many fields as a row."""
    return layout.names is not None and start.startswith("#") and width != len(layout.names)


def explain(file: File, header: Sequence[str], layout: Layout) -> int:
    """Raise a ReadError if the shape or the encoding of a line is what the parser stumbled over.

    Returns:
        bytes of text.
    """
    at, size = 1, 0
    for block in whole_lines(file):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = at + block.count(b"\n", 0, error.start)
            raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
        at, size = at + block.count(b"\n"), size + len(block)
    if layout.quoted:
        refuse_open_quote(file, layout)
    for line, fields in rows(file, layout):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Mend or remove the line.", line=line)
    return size


def swallowed(file: File, records: int) -> bool:
    """Whether there are quotes, and another number of records than of lines."""
    return any(b'"' in block for block in file.blocks()) and records != count_lines(file)


def count_lines(file: File) -> int:
    """Lines of a file, blank ones included."""
    lines, last = 0, b"\n"
    for block in file.blocks():
        lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
        last = block[-1:]
    return lines + (last != b"\n")


def refuse_open_quote(file: File, layout: Layout) -> None:
    """Raise a ReadError at a quote that does not close where it should: it swallows what follows."""
    line = 0
    try:
        for line, _ in rows(file, layout, strict=True):  # noqa: B007 the last line read is the point
            pass
    except csv.Error as error:
        after = next((at for at, _ in rows(file, layout) if at > line), line)
        raise ReadError(file.name, "a quote is opened and not closed", "Close it.", line=after) from error


def _cut(stream: io.RawIOBase, layout: Layout, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    text = io.TextIOWrapper(io.BufferedReader(stream, BLOCK), encoding="utf-8", errors="replace", newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    found = csv.reader(text, delimiter=layout.delimiter, quoting=quoting, strict=strict)
    before, begun = 0, False
    for fields in found:
        begun = begun or bool("".join(fields).strip())
        if fields and begun:
            yield before + 1, fields
        before = found.line_num
