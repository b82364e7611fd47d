"""Delimited text, parsed by pyarrow; where it fails, the line at fault is found again in plain Python."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.reading.column_builders import CodedTextBuilder, ColumnBuilder, NumberBuilder, TextBuilder
from metrics.runs.reading.columns import BY_NAME
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.lines import Layout, check_lines, check_quotes, is_comment
from metrics.runs.reading.query_buffer import QueryBuffer
from metrics.runs.reading.text import open_for_arrow, open_text

_LARGEST_BLOCK = 2**31 - 1
"""Largest block the parser takes, in bytes."""
_ATTEMPTS = (BLOCK, 2**21, 2**26, _LARGEST_BLOCK)
"""Bytes parsed at once: after the first attempt all is text, and then rows may be longer and longer."""


@dataclass
class CsvParser:
    """Parses the rows of a delimited file, whole or query by query.

    Attributes:
        file: the file as given.
        layout: how its lines are cut.
        header: names of its columns.
        mapping: our column → the file's, of those that are read.
        extras: further columns that are read, as numbers.
        n_skipped: lines before the first row; None where there is no row.
        n_comments: lines met that are comments, where they are looked for.
    """

    file: File
    layout: Layout
    header: Sequence[str]
    mapping: Mapping[str, str]
    extras: Sequence[str] = ()
    n_skipped: int | None = 0
    n_comments: int = 0

    def columns(self) -> dict[str, pa.Array]:
        """Parse all rows: column of the file → its values, as they stand; a ReadError names a wrong line."""
        try:
            columns = self._parse(BLOCK, careful=False)
        except pa.ArrowInvalid:
            columns = self._parse(check_lines(self.file, self.header, self.layout) + 1, careful=True)
        check_quotes(self.file, self.layout, len(next(iter(columns.values()))))
        return columns

    def query_tables(self) -> Iterator[tuple[pa.Table, list[Finding]]]:
        """Parse the rows in blocks, each cut where a query ends; the last comes with the findings.

        Where pyarrow stumbles it begins again, with more care, at the first row not yet given.

        Raises:
            ReadError: a line with too few or too many fields, or too long.
        """
        n_given = 0
        for block_size in _ATTEMPTS:
            careful = block_size > BLOCK
            types = self._types(text=careful)
            schema = pa.schema([(name, types[name]) for name in self._columns_read])
            buffer, n_passed = QueryBuffer(schema, self.mapping["query_id"]), 0
            try:
                for batch in self._batches(block_size, careful=careful):
                    fresh = batch.slice(min(n_given - n_passed, len(batch)))
                    n_passed += len(batch) - len(fresh)
                    buffer.add(fresh)
                    if buffer.is_full:
                        table = buffer.take()
                        n_given, n_passed = n_given + len(table), n_passed + len(table)
                        yield table, []
            except pa.ArrowInvalid:
                if not careful:
                    check_lines(self.file, self.header, self.layout)
                continue
            n_rows = n_given + len(buffer.table)
            yield buffer.table, self.findings()
            check_quotes(self.file, self.layout, n_rows)
            return
        raise ReadError(
            self.file.name, "a row is too long to be read", "Leave out the column that makes it so."
        )

    def findings(self) -> list[Finding]:
        """Return what was met and is no row."""
        if not self.n_comments:
            return []
        message = f"Lines that begin with #, and are no rows: {self.n_comments:,}."
        return [make_finding("comments", self.file.name, message, count=self.n_comments)]

    @property
    def _columns_read(self) -> list[str]:
        return [*self.mapping.values(), *self.extras]

    def _of_kind(self, *kinds: str) -> set[str]:
        """Return the columns of the file that are read as a column of ours of one of these kinds."""
        return {theirs for ours, theirs in self.mapping.items() if BY_NAME[ours].kind in kinds}

    def _types(self, *, text: bool) -> dict[str, pa.DataType]:
        """Return column of the file → its type: numbers are float64 unless all is to be text."""
        numbers = {*self.extras, *self._of_kind("number", "rank")}
        return {name: pa.float64() if name in numbers and not text else pa.string() for name in self.header}

    def _parse(self, block_size: int, *, careful: bool) -> dict[str, pa.Array]:
        types, coded = self._types(text=careful), self._of_kind("shared", "word")
        n_batches = 1.1 * self.file.size / min(max(block_size, BLOCK), _LARGEST_BLOCK)

        def builder(name: str) -> ColumnBuilder:
            if name in coded:
                return CodedTextBuilder()
            return TextBuilder(n_batches) if pa.types.is_string(types[name]) else NumberBuilder(n_batches)

        builders = {name: builder(name) for name in self._columns_read}
        for batch in self._batches(block_size, careful=careful):
            for name, column in builders.items():
                column.add(batch[name])
        return {name: column.finish() for name, column in builders.items()}

    def _batches(self, block_size: int, *, careful: bool) -> Iterator[pa.RecordBatch]:
        """Yield the wanted columns as they stand, from the first row to the last.

        Args:
            block_size: bytes parsed at once; a row must lie within two.
            careful: leave all as text, and pass over comments and spaces at the ends of lines; the file
                must be UTF-8.

        Raises:
            pa.ArrowInvalid: the parser stumbles; over what, it does not say.
        """
        self.n_comments = 0
        if self.n_skipped is None:
            return
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=self.header,
                skip_rows=self.n_skipped,
                block_size=min(max(block_size, BLOCK), _LARGEST_BLOCK),
                use_threads=not careful,  # the next blocks are parsed while columns take up this one
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                quote_char='"' if self.layout.quoted else False,
                newlines_in_values=self.layout.quoted,
                invalid_row_handler=self._skip_other_rows
                if careful
                else None,  # it can only be called with UTF-8
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=self._types(text=careful),
                include_columns=self._columns_read,
                null_values=[],
                strings_can_be_null=False,
            ),
        }
        if careful and self.layout.spaced:
            stream = open_text(self.file, strip_lines=True)
        else:
            stream = open_for_arrow(self.file, single_spaces=self.layout.spaced)
        with stream:
            yield from arrow_csv.open_csv(stream, **options)

    def _skip_other_rows(self, row: arrow_csv.InvalidRow) -> str:
        if self.layout.names is not None and not row.text.strip():  # blank lines that the file begins with
            return "skip"
        comment = is_comment(row.text, row.actual_columns, self.layout)
        self.n_comments += comment
        return "skip" if comment else "error"
