"""What a format is: how it is recognised by its first lines, and how its files are opened and read."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mode
from typing import Literal, NamedTuple

from metrics.errors import ReadError
from metrics.runs.columns import ColumnChoice, MissingScore, recognise, refuse_many_columns
from metrics.runs.conversion import parse_number
from metrics.runs.files import BLOCK, MAX_LINE, BlockStream, File, line_too_long, open_text, whole_lines
from metrics.runs.formats.shapes import outline
from metrics.runs.source import Source
from metrics.support.cached import cached_property

csv.field_size_limit(MAX_LINE)

NumberedFields = tuple[int, list[str]]
"""A line number, first line 1, and the fields of that line."""


class Cut(NamedTuple):
    """How lines are cut into fields: at a delimiter, below a header or without one.

    Fields below a header may be quoted. Blanks around fields of lines without a header do not count.
    """

    delimiter: str
    has_header: bool = True

    def open(self, file: File) -> io.RawIOBase:
        """Open the text for pyarrow; lines of unpacked files with a header may have any length."""
        if self.has_header:
            return open_text(file) if file.packed else BlockStream(file.blocks())
        return open_text(file, self.delimiter)


def rows(file: File, cut: Cut, width: int = 0, *, strict: bool = False) -> Iterator[NumberedFields]:
    """Yield the fields of each line from the first that is not blank, without empty lines and comments.

    Lines of a file without a header that begin with # and do not have `width` fields are comments.

    Raises:
        csv.Error: with `strict`, a quote is not closed.
        ReadError: a field is too long.
    """
    line = 0
    try:
        stream = open_text(file, "" if cut.has_header else cut.delimiter)
        for line, fields in split_lines(stream, cut, strict=strict):
            if cut.has_header or not (fields[0].startswith("#") and len(fields) != width):
                yield line, fields
    except csv.Error as error:
        if "field limit" in str(error):
            raise line_too_long(file, line + 1) from error
        raise


def split_lines(stream: io.RawIOBase, cut: Cut, *, strict: bool = False) -> Iterator[NumberedFields]:
    """Yield the fields of each line of a stream, as `rows`; a csv.Error for a field that is too long."""
    text = io.TextIOWrapper(io.BufferedReader(stream, BLOCK), encoding="utf-8", errors="replace", newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if cut.has_header else csv.QUOTE_NONE
    reader = csv.reader(text, delimiter=cut.delimiter, quoting=quoting, strict=strict)
    n_before, has_begun = 0, False
    for fields in reader:
        has_begun = has_begun or bool("".join(fields).strip())
        if fields and has_begun:
            yield n_before + 1, fields
        n_before = reader.line_num


def check_lines(file: File, header: Sequence[str], cut: Cut) -> int:
    """Check the encoding, the quotes and the number of fields of all lines; return the size of the text.

    Raises:
        ReadError: names the first bad line.
    """
    line, size = 1, 0
    for block in whole_lines(file):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line += block.count(b"\n", 0, error.start)
            raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
        line, size = line + block.count(b"\n"), size + len(block)
    if cut.has_header:
        _refuse_open_quote(file, cut)
    for line, fields in rows(file, cut, len(header)):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Correct or remove the line.", line=line)
    return size


def check_quotes(file: File, cut: Cut, n_rows: int) -> None:
    """Raise a ReadError if a quote of a table that is not closed has swallowed lines."""
    if any(b'"' in block for block in file.blocks()) and n_rows + 1 != count_lines(file):
        _refuse_open_quote(file, cut)


def count_lines(file: File) -> int:
    """Return the number of lines, including blank ones."""
    count, last = 0, b"\n"
    for block in file.blocks():
        count += block.count(b"\n")
        last = block[-1:]
    return count + (last != b"\n")


def _refuse_open_quote(file: File, cut: Cut) -> None:
    last = 0
    try:
        for last, _ in rows(file, cut, strict=True):  # noqa: B007 the last line read is the point
            pass
    except csv.Error as error:
        following = next((line for line, _ in rows(file, cut) if line > last), last)
        raise ReadError(
            file.name, "a quotation mark is opened and not closed", "Close it.", line=following
        ) from error


_LINES = 20
"""First lines that recognition looks at."""
_MOST_FIELDS = 6
"""Fields of a line of a TREC run, the most of all formats without a header."""


@dataclass(frozen=True)
class Head:
    """The first lines of a file, as recognition sees them."""

    file: File

    @property
    def is_parquet(self) -> bool:
        """True if Parquet's mark is at the start of binary content."""
        return self.file.head.startswith(b"PAR1") and b"\0" in self.file.head

    @property
    def is_json(self) -> bool:
        """True if the file starts like a JSON array or object."""
        return self.file.head.lstrip().startswith((b"[", b"{"))

    @cached_property
    def outline(self) -> tuple[object, bool]:
        """The JSON value that the file begins with, as far as the head holds it, and whether more follows."""
        return outline(self.file.head)

    @cached_property
    def lines(self) -> list[list[bytes]]:
        """Fields of the first lines, split at spaces and tabs, without blank lines and comments."""
        return self.split(None)

    @property
    def width(self) -> int:
        """The most frequent number of fields, split at spaces and tabs."""
        return mode(map(len, self.lines))

    def split(self, delimiter: bytes | None) -> list[list[bytes]]:
        """Split the first lines at a delimiter, without blank lines and comments."""
        lines = [line.split(delimiter) for line in self.file.head.split(b"\n")[:_LINES] if line.strip()]
        return [fields for fields in lines if not fields[0].startswith(b"#")] or lines

    @property
    def cut(self) -> Cut:
        """How a table with a header is cut: at the delimiter that gives the most columns we know."""
        return Cut(self._table[0])

    @property
    def header(self) -> list[str]:
        """Column names of a table with a header; a ReadError if there are too many."""
        return self._table[1]

    @cached_property
    def _table(self) -> tuple[str, list[str]]:
        first, *others = self.file.head.split(b"\n", 1)
        if others and not any(mark in first for mark in (b",", b"\t", b";", b"|", b'"')):  # most runs
            return ",", [first.decode("utf-8", "replace")]
        headers: dict[str, list[str]] = {}
        for delimiter in ",\t;|":
            try:
                stream = BlockStream([self.file.head])
                headers[delimiter] = next(split_lines(stream, Cut(delimiter)), (0, []))[1]
            except csv.Error:
                headers[delimiter] = []
        delimiter = max(headers, key=lambda mark: (len(recognise(headers[mark])), first.count(mark.encode())))
        names = headers[delimiter]
        if not others:  # a line longer than the head
            names = next(rows(self.file, Cut(delimiter)), (0, []))[1]
            refuse_many_columns(self.file.name, names)
        return delimiter, names

    @property
    def ends_in_a_number(self) -> bool:
        """True if the first line looks like a run or judgments: short, with a number in its last two fields."""
        fields = self.header
        return len(fields) <= _MOST_FIELDS and any(parse_number(field) is not None for field in fields[-2:])

    @property
    def may_name_columns(self) -> bool:
        """True if the first line may be a header: as many fields as other lines, and not like a run."""
        n_columns = len(self.header)
        if n_columns <= 1 or self.ends_in_a_number:
            return False
        return mode(map(len, self.split(self.cut.delimiter.encode()))) == n_columns


@dataclass(frozen=True, kw_only=True)
class FileTable(ABC):
    """A file whose columns are known before its rows are read, and the columns to read from it.

    Attributes:
        file: the file.
        header: names of its columns.
        mapping: our column → the file's.
        extras: further score columns to read.
        missing_score: handling of documents without a numeric score.
    """

    file: File
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    extras: tuple[str, ...] = ()
    missing_score: MissingScore = "error"

    @property
    def columns_read(self) -> list[str]:
        """Columns of the file to read."""
        return [*self.mapping.values(), *self.extras]

    @abstractmethod
    def read(self) -> Source:
        """Read the whole file; a ReadError if it is damaged, too large or not readable."""


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: as in `Source.format`.
        summary: one line for people.
        example: three lines of such a file; for a binary format, Python code that writes one.
        recognises: tests the head of a file.
        read: reads a file with the user's choice of columns.
        open: opens a file before its rows are read; None if its columns are known only from its rows.
        has_header: the file names its columns.
        scores_may_be_grades: its numbers may be scores or grades.
        tie_order: how the software that the format belongs to breaks ties.
    """

    name: str
    summary: str
    example: str
    recognises: Callable[[Head], bool]
    read: Callable[[Head, ColumnChoice], Source]
    open: Callable[[Head, ColumnChoice], FileTable] | None = None
    has_header: bool = True
    scores_may_be_grades: bool = False
    tie_order: str = "input"
