"""What a format says of itself, and the first lines of a file that it is recognised by."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from metrics.runs.formats.block_table import BlockTable
from metrics.runs.reading.columns import ColumnChoice, recognise, refuse_many_columns
from metrics.runs.reading.conversion import parse_number
from metrics.runs.reading.files import File
from metrics.runs.reading.lines import Layout, header_of, rows
from metrics.runs.reading.source import Source
from metrics.support.cached import cached_property

_LINES = 20
"""Lines that are looked at."""
_MOST_FIELDS = 6
"""Fields of a line of a run, which has the most of all files without a header."""


@dataclass(frozen=True)
class Head:
    """The first lines of a file, as recognition sees them."""

    file: File

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
