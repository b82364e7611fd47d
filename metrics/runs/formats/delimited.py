"""Delimited text: what TREC files and tables with a header have in common."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice
from metrics.runs.conversion import has_tiny_numbers, parse_number
from metrics.runs.files import BLOCK, FileProvenance, open_for_arrow, open_text
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.block_table import BlockTable, QueryBuffer, repeated_query
from metrics.runs.formats.format import (
    Format,
    Head,
    Layout,
    check_lines,
    check_quotes,
    count_lines,
    is_comment,
    rows,
)
from metrics.runs.source import Source, build_source
from metrics.support.arrays import IntArray, repeated
from metrics.support.cached import cached_property

_GROWTH = 1.5
"""How many times the room there was is made where there is too little."""
_LARGEST_BLOCK = 2**31 - 1
"""Largest block the parser takes, in bytes."""
_ATTEMPTS = (BLOCK, 2**21, 2**26, _LARGEST_BLOCK)
"""Bytes parsed at once: after the first attempt all is text, and then rows may be longer and longer."""


def unchanged(source: Source) -> Source:
    """Return the source as it is."""
    return source


@dataclass(frozen=True, kw_only=True)
class DelimitedTable(BlockTable):
    """A delimited file, and what is to be read of it.

    Attributes:
        format: name of its format.
        layout: how its lines are cut.
        n_skipped: lines before the first row; None where there is no row.
        finish: what is done to what was read.
    """

    format: str
    layout: Layout
    n_skipped: int | None = 0
    finish: Callable[[Source], Source] = unchanged

    def read(self) -> Source:
        """Read the whole file; a ReadError names a line with too few or too many fields, or a wrong value."""
        columns, findings = self._parse()
        origin = self.provenance(len(next(iter(columns.values()))))
        return self._finished(columns, origin, findings, self._texts_at)

    def provenance(self, n_rows: int) -> FileProvenance:
        """Return where its rows stand, given how many there are."""

        @cache
        def has_a_row_a_line() -> bool:
            return count_lines(self.file) == n_rows + self._n_header_rows

        def line_of(row: int) -> int:
            return row + self._n_header_rows + 1 if has_a_row_a_line() else self._line_of(row)

        return FileProvenance(self.file.name, line_of, ranks=self._ranks)

    def values(self) -> dict[str, pa.Array]:
        """Return column of the file → its values, as they stand; a ReadError names a wrong line."""
        return self._parse()[0]

    def column_text(self, name: str) -> pa.Array:
        """Read one column of the file as text, whatever it is read as otherwise."""
        return replace(self, mapping={"segment": name}, extras=()).values()[name]

    def query_tables(self) -> Iterator[tuple[pa.Table, Sequence[Finding]]]:
        """Yield the columns read, each table cut where a query ends; the last with what was met beside rows.

        Where pyarrow stumbles it begins again, with more care, at the first row not yet given.

        Raises:
            ReadError: a line with too few or too many fields, or too long.
        """
        n_given = 0
        for block_size in _ATTEMPTS:
            careful = block_size > BLOCK
            buffer, n_passed = QueryBuffer(self._schema(text=careful), self.mapping["query_id"]), 0
            comments = Counter[str]()
            try:
                for batch in self._batches(block_size, comments, careful=careful):
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
            yield buffer.table, self._findings(comments)
            check_quotes(self.file, self.layout, n_rows)
            return
        raise ReadError(
            self.file.name, "a row is too long to be read", "Leave out the column that makes it so."
        )

    def source(self, table: pa.Table, n_before: int, findings: Sequence[Finding] = ()) -> Source:
        """Check and convert rows of the file.

        Args:
            table: rows as the parser gives them.
            n_before: rows of the file before them.
            findings: what was found while they were read.

        Returns:
            The rows, converted, with where each stands in the file.
        """
        origin = FileProvenance(self.file.name, partial(self._line_of, n_before=n_before))
        columns = {name: table[name] for name in self.columns_read}
        return self._finished(columns, origin, findings, partial(self._texts_onward, n_before))

    def refuse_repeated_query(self, ids: list[str], row: int) -> None:
        """Raise a ReadError if a query has rows before this one; arguments as of `BlockTable`."""
        places = [self.header.index(self.mapping[ours]) for ours in ("query_id", "reranker")[: len(ids)]]
        before_last = last = None
        for line, fields in islice(rows(self.file, self.layout), row + 1 + self._n_header_rows):
            if [fields[place] for place in places] == ids:
                before_last, last = last, line
        if before_last is not None:
            raise ReadError(self.file.name, *repeated_query(ids, f"line {before_last}"), line=last)

    @property
    def _n_header_rows(self) -> int:
        return int(self.layout.names is None)

    def _parse(self) -> tuple[dict[str, pa.Array], list[Finding]]:
        """Parse all rows: column of the file → its values, as they stand, and what was met beside rows."""
        comments = Counter[str]()
        try:
            columns = self._build(BLOCK, comments, careful=False)
        except pa.ArrowInvalid:
            block_size = check_lines(self.file, self.header, self.layout) + 1
            columns = self._build(block_size, comments, careful=True)
        check_quotes(self.file, self.layout, len(next(iter(columns.values()))))
        return columns, self._findings(comments)

    def _build(self, block_size: int, comments: Counter[str], *, careful: bool) -> dict[str, pa.Array]:
        """Put each column together from its batches; arguments as of `_batches`."""
        n_batches = 1.1 * self.file.size / min(max(block_size, BLOCK), _LARGEST_BLOCK)
        shared = {theirs for ours, theirs in self.mapping.items() if BY_NAME[ours].kind in ("shared", "word")}
        builders: dict[str, NumberBuilder | TextBuilder | CodedTextBuilder] = {}
        for field in self._schema(text=careful):
            if field.name in shared:
                builders[field.name] = CodedTextBuilder()
            else:
                is_text = pa.types.is_string(field.type)
                builders[field.name] = TextBuilder(n_batches) if is_text else NumberBuilder(n_batches)
        for batch in self._batches(block_size, comments, careful=careful):
            for name, builder in builders.items():
                builder.add(batch[name])
        return {name: builder.finish() for name, builder in builders.items()}

    def _findings(self, comments: Counter[str]) -> list[Finding]:
        if not comments:
            return []
        message = f"Lines that begin with #, and are no rows: {comments.total():,}."
        return [make_finding("comments", self.file.name, message, count=comments.total())]

    def _schema(self, *, text: bool) -> pa.Schema:
        """Return the columns read: numbers are float64 unless all is to be text."""
        kinds = {theirs: BY_NAME[ours].kind for ours, theirs in self.mapping.items()}
        kinds |= dict.fromkeys(self.extras, "number")
        return pa.schema(
            (name, pa.float64() if kind in ("number", "rank") and not text else pa.string())
            for name, kind in kinds.items()
        )

    def _batches(self, block_size: int, comments: Counter[str], *, careful: bool) -> Iterator[pa.RecordBatch]:
        """Yield the columns read, as they stand, from the first row to the last.

        Raises:
            pa.ArrowInvalid: the parser stumbles; over what, it does not say.
        """
        if self.n_skipped is None:
            return

        def skip_other_rows(row: arrow_csv.InvalidRow) -> str:
            if self.layout.names is not None and not row.text.strip():  # blank lines that the file begins with
                return "skip"
            if not is_comment(row.text, row.actual_columns, self.layout):
                return "error"
            comments["#"] += 1
            return "skip"

        schema = self._schema(text=careful)
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=self.header,
                skip_rows=self.n_skipped,
                block_size=min(max(block_size, BLOCK), _LARGEST_BLOCK),
                use_threads=not careful,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                quote_char='"' if self.layout.quoted else False,
                newlines_in_values=self.layout.quoted,
                invalid_row_handler=skip_other_rows if careful else None,  # it can only be called with UTF-8
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=schema, include_columns=schema.names, null_values=[], strings_can_be_null=False
            ),
        }
        if careful and self.layout.spaced:
            stream = open_text(self.file, strip_lines=True)
        else:
            stream = open_for_arrow(self.file, single_spaces=self.layout.spaced)
        with stream:
            yield from arrow_csv.open_csv(stream, **options)

    def _finished(
        self,
        columns: dict[str, pa.Array],
        origin: FileProvenance,
        findings: Sequence[Finding],
        texts_at: Callable[[str, IntArray], Sequence[str]],
    ) -> Source:
        def texts_of(name: str, rows: IntArray, *, only_tiny: bool) -> Sequence[str]:
            return [] if only_tiny and not self._has_tiny_numbers else texts_at(name, rows)

        source = build_source(
            columns,
            self.mapping,
            origin,
            self.format,
            self.reported_header,
            findings,
            self.missing_score,
            texts_of,
        )
        return self.finish(source if self.layout.names else source.note_unused())

    @cached_property
    def _has_tiny_numbers(self) -> bool:
        return has_tiny_numbers(self.file)

    @cached_property
    def _open_rows(self) -> dict[str, Iterator[tuple[int, list[str]]]]:
        """Column → the rows of the file that `_texts_onward` has not passed."""
        return {}

    def _texts_at(self, name: str, rows: IntArray) -> list[str]:
        """Return a column as the file writes it, in some rows."""
        texts: list[str] = self.column_text(name).take(pa.array(rows)).to_pylist()
        return texts

    def _texts_onward(self, n_before: int, name: str, places: IntArray) -> list[str]:
        """Return the same of rows after those asked for before; rows are counted from `n_before`."""
        place = self.header.index(name)
        if name not in self._open_rows:
            fields = (fields for _, fields in islice(rows(self.file, self.layout), self._n_header_rows, None))
            self._open_rows[name] = enumerate(fields)
        wanted = set((places + n_before).tolist())
        texts = (fields[place] for row, fields in self._open_rows[name] if row in wanted)
        return list(islice(texts, len(wanted)))

    def _line_of(self, row: int, n_before: int = 0) -> int:
        return next(islice(rows(self.file, self.layout), n_before + row + self._n_header_rows, None))[0]

    def _ranks(self) -> pa.Array | None:
        """Return the ranks that lines without a header state, where they are not read."""
        if not self.layout.names or "rank" not in self.header or "rank" in self.mapping.values():
            return None
        table = replace(self, mapping={"rank": "rank"}, extras=())
        origin = FileProvenance(self.file.name, self._line_of)
        ranks = build_source(dict(table.values()), table.mapping, origin, self.format, ())
        return ranks.table["rank"] if ranks.table.num_columns else None


def open_table(
    head: Head, choice: ColumnChoice, format_name: str, usual: Callable[[Sequence[str]], Mapping[str, str]]
) -> DelimitedTable:
    """Open a table with a header.

    Args:
        head: its first lines.
        choice: columns the user chose.
        format_name: name of its format.
        usual: header → our column → the file's, where the choice leaves it free.

    Returns:
        The open table, whose rows are yet to be read.

    Raises:
        ReadError: the columns of a run or of judgments are not there.
    """
    header, line, values = head_row(head)
    mapping = choice.mapping(head.file.name, header, usual(header))
    return DelimitedTable(
        file=head.file,
        header=header,
        mapping=mapping,
        extras=_number_columns(header, values, mapping),
        format=format_name,
        layout=head.layout,
        n_skipped=None if line is None else line - 1,
        missing_score=choice.missing_score,
    )


def head_row(head: Head) -> tuple[tuple[str, ...], int | None, list[str]]:
    """Return the header of a table, the line of its first row, None where there is no row, and its fields."""
    first = list(islice(rows(head.file, head.layout), 2))
    header = tuple(first[0][1]) if first else ()
    line, values = first[1] if len(first) > 1 else (None, [])
    return header, line, values


def _number_columns(
    header: Sequence[str], values: Sequence[str], mapping: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the columns beside those mapped whose value in the first row is a number."""
    first = dict(zip(header, values, strict=False))
    free = [name for name in first if name not in mapping.values() and name not in BY_NAME]
    return tuple(name for name in free if parse_number(first[name]) is not None)


def table_format(
    name: str,
    summary: str,
    example: str,
    recognises: Callable[[Head], bool],
    usual: Callable[[Sequence[str]], Mapping[str, str]] = lambda _: {},
) -> Format:
    """Declare a format of tables with a header.

    Args:
        name: as `Format`.
        summary: as `Format`.
        example: as `Format`.
        recognises: as `Format`.
        usual: header → our column → the file's, where recognition by name would not find it.

    Returns:
        The record for `FORMATS`.
    """

    def open_file(head: Head, choice: ColumnChoice) -> DelimitedTable:
        return open_table(head, choice, name, usual)

    return Format(
        name, summary, example, recognises, lambda head, choice: open_file(head, choice).read(), open_file
    )


def fixed_format(
    name: str,
    summary: str,
    example: str,
    columns: tuple[str, ...],
    usual: Mapping[str, str],
    *,
    delimiter: str = " ",
    recognises: Callable[[Head], bool] | None = None,
    finish: Callable[[Source], Source] = unchanged,
) -> Format:
    """Declare a format of lines without a header, whose fields stand in no quotes.

    Args:
        name: as `Format`.
        summary: as `Format`.
        example: as `Format`.
        columns: names of its fields.
        usual: our column → the field it is read from, unless the user chooses another.
        delimiter: what separates the fields, as `Layout`.
        recognises: as `Format`; by the number of fields unless given.
        finish: what is done to what was read.

    Returns:
        The record for `FORMATS`.
    """
    layout = Layout(delimiter, columns, quoted=False)

    def open_file(head: Head, choice: ColumnChoice) -> DelimitedTable:
        mapping = choice.mapping(head.file.name, columns, usual, only_usual=True)
        return DelimitedTable(
            file=head.file,
            header=columns,
            mapping=mapping,
            format=name,
            layout=layout,
            finish=finish,
            missing_score=choice.missing_score,
        )

    def read_file(head: Head, choice: ColumnChoice) -> Source:
        try:
            return open_file(head, choice).read()
        except ReadError as error:
            if error.line == 1 and head.may_name_columns:
                error.with_columns(head.header, {})
            raise

    return Format(
        name,
        summary,
        example,
        recognises or (lambda head: head.width_cut_at(delimiter) == len(columns)),
        read_file,
        open_file,
        has_header=False,
    )


class _Buffer:
    """An array that grows at its end; memory that nothing was written to costs nothing."""

    def __init__(self, dtype: npt.DTypeLike, times: float) -> None:
        self._array: npt.NDArray[Any] = np.empty(0, dtype)
        self._times = times
        self.n = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        end = self.n + len(values)
        if end > len(self._array):
            larger = np.empty(int(max(end, self.n * _GROWTH, end * self._times)), self._array.dtype)
            larger[: self.n] = self._array[: self.n]
            self._array, self._times = larger, 1
        self._array[self.n : end] = values
        self.n = end

    @property
    def values(self) -> npt.NDArray[Any]:
        return self._array[: self.n]


class NumberBuilder:
    """Builds a column of float64 numbers."""

    def __init__(self, times: float) -> None:
        """Make room for `times` the first piece, when it comes."""
        self._numbers = _Buffer(np.float64, times)

    def add(self, piece: pa.Array) -> None:
        """Append the next numbers."""
        self._numbers.append(piece.to_numpy())

    def finish(self) -> pa.Array:
        """Return all numbers."""
        return pa.Array.from_buffers(pa.float64(), self._numbers.n, [None, pa.py_buffer(self._numbers.values)])


class TextBuilder:
    """Builds a column of texts that are mostly distinct."""

    def __init__(self, times: float) -> None:
        """Make room for `times` the first piece, when it comes."""
        self._letters, self._ends = _Buffer(np.uint8, times), _Buffer(np.int32, times)
        self._ends.append(np.zeros(1, np.int32))

    def add(self, piece: pa.Array) -> None:
        """Append the next texts."""
        _, offsets, letters = piece.buffers()
        ends = np.frombuffer(offsets, np.int32)[piece.offset : piece.offset + len(piece) + 1]
        self._ends.append(ends[1:] + np.int32(self._letters.n - ends[0]))
        self._letters.append(np.frombuffer(letters or b"", np.uint8)[ends[0] : ends[-1]])

    def finish(self) -> pa.Array:
        """Return all texts."""
        buffers = [None, pa.py_buffer(self._ends.values), pa.py_buffer(self._letters.values)]
        return pa.Array.from_buffers(pa.string(), self._ends.n - 1, buffers)


class CodedTextBuilder:
    """Builds a column of texts that are mostly the same as the one before, as a dictionary."""

    def __init__(self) -> None:
        self._distinct, self._lengths = TextBuilder(1), _Buffer(np.int64, 1)

    def add(self, piece: pa.Array) -> None:
        """Append the next texts."""
        runs = pc.run_end_encode(piece, run_end_type=pa.int32())
        self._distinct.add(runs.values)
        self._lengths.append(np.diff(runs.run_ends.to_numpy(), prepend=0))

    def finish(self) -> pa.Array:
        """Return all texts as places among the distinct ones."""
        return repeated(self._distinct.finish(), self._lengths.values)
