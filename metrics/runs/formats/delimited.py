"""Delimited text, parsed by pyarrow; where it fails, the line at fault is found again in plain Python."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import pyarrow as pa
from pyarrow import csv as arrow_csv

from metrics.runs.findings import Finding, found
from metrics.runs.reading.column_builders import Growing, Numbers, Texts, Words
from metrics.runs.reading.columns import BY_NAME
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.lines import (
    Layout,
    count_lines,
    explain,
    is_comment,
    refuse_open_quote,
    rows,
    swallowed,
)
from metrics.runs.reading.source import FileProvenance, Source, build_source, number
from metrics.runs.reading.text import quickest, spaced

LARGEST = 2**31 - 1
"""Largest block the parser takes, in bytes."""
_NUMBERS = ("number", "rank")
_SHARED = ("shared", "word")


@dataclass
class Parser:
    """The lines of a file, parsed in batches.

    Attributes:
        file: the file as given.
        layout: how its lines are cut.
        header: names of its columns.
        mapping: our column → the file's, of those that are read.
        extras: further columns that are read, as numbers.
        comments: lines met that are comments, where they are looked for.
    """

    file: File
    layout: Layout
    header: Sequence[str]
    mapping: Mapping[str, str]
    extras: Sequence[str] = ()
    comments: int = 0

    @property
    def wanted(self) -> list[str]:
        """Columns of the file that are read."""
        return [*self.mapping.values(), *self.extras]

    def types(self, *, text: bool) -> dict[str, pa.DataType]:
        """Column of the file → its type: numbers are float64 unless all is to be text."""
        numbers = {*self.extras, *(name for ours, name in self.mapping.items() if _of(ours, _NUMBERS))}
        return {name: pa.float64() if name in numbers and not text else pa.string() for name in self.header}

    def batches(self, block: int, *, careful: bool) -> Iterator[pa.RecordBatch]:
        """The wanted columns as they stand, from the first row to the last.

        Args:
            block: bytes parsed at once; a row must lie within two.
            careful: leave all as text, and pass over comments and spaces at the ends of lines; the file
                must be UTF-8.

        Raises:
            pa.ArrowInvalid: the parser stumbles; over what, it does not say.
        """
        skipped = 0
        if self.layout.names is None:
            first = list(islice(rows(self.file, self.layout), 2))
            if len(first) == 1:
                return
            skipped = first[1][0] - 1
        self.comments = 0
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=self.header,
                skip_rows=skipped,
                block_size=min(max(block, BLOCK), LARGEST),
                use_threads=False,  # two cores gain a tenth of the whole, and hold a sixth more
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                quote_char='"' if self.layout.quoted else False,
                newlines_in_values=self.layout.quoted,
                invalid_row_handler=self._odd if careful else None,  # it can only be called with UTF-8
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=self.types(text=careful),
                include_columns=self.wanted,
                null_values=[],
                strings_can_be_null=False,
            ),
        }
        spaces = self.layout.spaced
        tidy = spaces and careful
        with spaced(self.file, tidy=True) if tidy else quickest(self.file, single=spaces) as text:
            yield from arrow_csv.open_csv(text, **options)

    def _odd(self, row: arrow_csv.InvalidRow) -> str:
        comment = is_comment(row.text, row.actual_columns, self.layout)
        self.comments += comment
        return "skip" if comment else "error"

    def noted(self) -> list[Finding]:
        """What was met and is no row."""
        if not self.comments:
            return []
        message = f"Lines that begin with #, and are no rows: {self.comments:,}."
        return [found("comments", self.file.name, message, count=self.comments)]


def read_delimited(file: File, format_name: str, layout: Layout, mapping: Mapping[str, str]) -> Source:
    """Read the columns in `mapping` (ours → the file's) of a delimited file, and others that hold numbers.

    Args:
        file: the file as given.
        format_name: name of its format.
        layout: how its lines are cut.
        mapping: our column → the file's.

    Raises:
        ReadError: a line with too few or too many fields, or a value that cannot be read.
    """
    header = names_of(file, layout)
    parser = Parser(file, layout, header, mapping, numeric(file, layout, mapping))
    columns = columns_of(parser)

    @cache
    def lines() -> int:
        return count_lines(file)

    def line_of(row: int) -> int:
        before = row + (not layout.names)
        if lines() == n_rows + (not layout.names):
            return before + 1
        return next(islice(rows(file, layout), before, None))[0]

    def ranks() -> pa.Array | None:
        if not layout.names or "rank" not in header or "rank" in mapping.values():
            return None
        only = {"rank": "rank"}
        found_ranks = build_source(
            columns_of(Parser(file, layout, header, only)), only, origin, format_name, ()
        )
        return found_ranks.table["rank"] if found_ranks.table.num_columns else None

    n_rows = len(next(iter(columns.values())))
    origin = FileProvenance(file.name, line_of, ranks=ranks)
    return build_source(columns, mapping, origin, format_name, header, parser.noted())


def names_of(file: File, layout: Layout) -> tuple[str, ...]:
    """Names of the columns of a file."""
    return layout.names or tuple(next(rows(file, layout), (0, []))[1])


def numeric(file: File, layout: Layout, mapping: Mapping[str, str]) -> list[str]:
    """Named columns beside those mapped whose first value is a number."""
    if layout.names:
        return []
    header = names_of(file, layout)
    first = list(islice(rows(file, layout), 2))[1:]
    values = dict(zip(header, first[0][1], strict=False)) if first else {}
    free = [name for name in values if name not in mapping.values() and name not in BY_NAME]
    return [name for name in free if number(values[name]) is not None]


def columns_of(parser: Parser) -> dict[str, pa.Array]:
    """The wanted columns as they stand.

    Raises:
        ReadError: a line with too few or too many fields.
    """
    file, layout = parser.file, parser.layout
    try:
        columns = _parse(parser, BLOCK, careful=False)
    except pa.ArrowInvalid:
        columns = _parse(parser, explain(file, parser.header, layout) + 1, careful=True)
    n_rows = len(next(iter(columns.values())))
    if layout.quoted and swallowed(file, n_rows + (not layout.names)):
        refuse_open_quote(file, layout)
    return columns


def _parse(parser: Parser, block: int, *, careful: bool) -> dict[str, pa.Array]:
    types = parser.types(text=careful)
    shared = {theirs for ours, theirs in parser.mapping.items() if _of(ours, _SHARED)}
    times = 1.1 * parser.file.size / min(max(block, BLOCK), LARGEST)
    columns = {name: _growing(types[name], name in shared, times) for name in parser.wanted}
    for batch in parser.batches(block, careful=careful):
        for name, column in columns.items():
            column.add(batch[name])
    return {name: column.whole() for name, column in columns.items()}


def _of(ours: str, kinds: Sequence[str]) -> bool:
    """Whether a column of ours is of one of these kinds."""
    return BY_NAME[ours].kind in kinds


def _growing(kind: pa.DataType, shared: bool, times: float) -> Growing:  # noqa: FBT001 private
    """An empty column of a type, with room for so many batches like its first."""
    if shared:
        return Words()
    return Texts(times) if pa.types.is_string(kind) else Numbers(times)
