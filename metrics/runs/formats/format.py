"""What a format says of itself, and the first lines of a file that it is recognised by.

Lines are cut in plain Python here: slow, and able to say which line is at fault.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.errors import ReadError
from metrics.runs.columns import ColumnChoice, recognise, refuse_many_columns
from metrics.runs.conversion import parse_number
from metrics.runs.files import BLOCK, MAX_LINE, BlockStream, File, line_too_long, open_text, whole_lines
from metrics.runs.formats.block_table import BlockTable
from metrics.runs.source import Source
from metrics.support.cached import cached_property

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
    """Return whether a line is no row: it begins with # and has not as many fields as a row."""
    return layout.names is not None and start.startswith("#") and width != len(layout.names)


def check_lines(file: File, header: Sequence[str], layout: Layout) -> int:
    """Find the line over whose encoding or number of fields a parser stumbled.

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
    """Raise a ReadError where a quote that does not close has swallowed lines."""
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


_PARQUET = b"PAR1"
_LINES = 20
"""Lines that are looked at."""
_MOST_FIELDS = 6
"""Fields of a line of a run, which has the most of all files without a header."""


@dataclass(frozen=True)
class Head:
    """The first lines of a file, as recognition sees them."""

    file: File

    @property
    def is_parquet(self) -> bool:
        """Whether the mark of Parquet stands at both ends, or at the start of what is no text."""
        start = self.file.head
        return start.startswith(_PARQUET) and (b"\0" in start or self.file.ends_with(_PARQUET))

    @property
    def is_json(self) -> bool:
        """Whether the file begins as an array or an object of JSON does."""
        return self.file.head.lstrip().startswith((b"[", b"{"))

    @cached_property
    def lines(self) -> list[list[bytes]]:
        """Fields of the first lines, cut at spaces and tabs; no blank lines, no comments."""
        return self._cut(None)

    @cached_property
    def width(self) -> int:
        """The most frequent number of fields, cut at spaces and tabs."""
        return _usual_width(self.lines)

    def width_cut_at(self, delimiter: str) -> int:
        """Return the most frequent number of fields, cut at a delimiter; a space stands as in `Layout`."""
        return self.width if delimiter == " " else _usual_width(self._cut(delimiter.encode()))

    def _cut(self, delimiter: bytes | None) -> list[list[bytes]]:
        lines = [line for line in self.file.head.split(b"\n")[:_LINES] if line.strip()]
        cut = [line.split(delimiter) for line in lines]
        return [fields for fields in cut if not fields[0].startswith(b"#")] or cut

    @cached_property
    def layout(self) -> Layout:
        """The layout of a table with a header: the delimiter that shows the most columns we know."""
        first = self.file.head.split(b"\n", 1)[0]

        def n_columns(layout: Layout) -> tuple[int, int]:
            return len(recognise(self._headers[layout])), first.count(layout.delimiter.encode())

        return max(self._headers, key=n_columns)

    @cached_property
    def header(self) -> list[str]:
        """Column names of a table with a header, however long its line; a ReadError where too many."""
        if b"\n" in self.file.head:
            return self._headers[self.layout]
        names = next(rows(self.file, self.layout), (0, []))[1]
        refuse_many_columns(self.file.name, names)
        return names

    @property
    def ends_in_a_number(self) -> bool:
        """Whether one of the last two fields of the first line is a number, in a line as short as a run's."""
        fields = self.header
        return len(fields) <= _MOST_FIELDS and any(parse_number(field) is not None for field in fields[-2:])

    @property
    def may_name_columns(self) -> bool:
        """Whether the first line may be a header: cut as most lines are, and none of a run."""
        n_columns = len(self.header)
        return (
            n_columns > 1
            and not self.ends_in_a_number
            and self.width_cut_at(self.layout.delimiter) == n_columns
        )

    @cached_property
    def _headers(self) -> dict[Layout, list[str]]:
        """Layout → the header it would give."""
        layouts = [Layout(delimiter) for delimiter in ",\t;|"]
        return {layout: header_of(self.file.head, layout) for layout in layouts}


def _usual_width(lines: list[list[bytes]]) -> int:
    widths = Counter(map(len, lines))
    return max(widths, key=lambda width: widths[width], default=0)


@dataclass(frozen=True)
class Format:
    """A file format: how it is told from others, how it is read, and what it can.

    Attributes:
        name: as `Source.format` says it.
        summary: one line for people.
        example: three lines of such a file; of a binary one, of Python that writes it.
        recognises: whether a file that begins so is of this format.
        read: reads a file, with the columns the user chose.
        open_blocks: opens a file that is then read in blocks; None where the format is read whole.
        has_header: whether the file names its columns; else what is not read of them is nobody's loss.
        scores_may_be_grades: whether the file does not say which of the two its numbers are.
        tie_order: the treatment that such files get from the software they are written for.
    """

    name: str
    summary: str
    example: str
    recognises: Callable[[Head], bool]
    read: Callable[[Head, ColumnChoice], Source]
    open_blocks: Callable[[Head, ColumnChoice], BlockTable] | None = None
    has_header: bool = True
    scores_may_be_grades: bool = False
    tie_order: str = "input"
