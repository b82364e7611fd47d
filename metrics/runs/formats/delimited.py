"""Delimited text: how lines are cut into fields, and TREC files and tables that are cut so."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from statistics import mode
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, recognise, refuse_many_columns
from metrics.runs.files import (
    BLOCK,
    MAX_LINE,
    BlockStream,
    File,
    FileProvenance,
    line_too_long,
    open_text,
    whole_lines,
)
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.format import LINE_FORMATS, FileTable, Format
from metrics.runs.source import Source, build_source, parse_number, parse_ranks
from metrics.support.cached import cached_property
from metrics.support.columns import coded_runs

csv.field_size_limit(MAX_LINE)

NumberedFields = tuple[int, list[str]]
"""A line number, first line 1, and the fields of that line."""


class Cut(NamedTuple):
    """How lines are cut into fields: at a delimiter, below a header or without one.

    Fields below a header may be quoted. Blanks around fields of lines without a header do not count.
    """

    delimiter: str
    has_header: bool = True


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

    @cached_property
    def lines(self) -> list[list[bytes]]:
        """Fields of the first lines, split at spaces and tabs, without blank lines and comments."""
        return self.split(None)

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


_WHOLE_BLOCK = 4 * BLOCK
"""Bytes parsed at once: faster than `BLOCK`."""
_LARGEST_BLOCK = _MAX_TEXT = 2**31 - 1
"""Largest block of the parser, in bytes."""
_FIRST_ROWS = 100
"""Rows that are searched for the first value of a column."""


@dataclass(frozen=True, kw_only=True)
class DelimitedTable(FileTable):
    """A delimited file, and the columns to read from it.

    Attributes:
        format: name of its format.
        cut: how its lines are cut.
        n_skipped: lines before the first row; None for a table without rows.
        texts: further columns to read as text.
    """

    format: str
    cut: Cut
    n_skipped: int | None = 0
    texts: tuple[str, ...] = ()

    def read(self) -> Source:
        """Read the whole file; a ReadError names a line with too few or too many fields, or a wrong value."""
        columns, findings = self._parse()
        origin = self.provenance(len(next(iter(columns.values()))))
        source = build_source(
            columns, self.mapping, origin, self.format, self.header, findings, self.missing_score
        )
        return source.note_unused() if self.cut.has_header else source

    def provenance(self, n_rows: int) -> FileProvenance:
        """Return where the rows stand, given their number."""

        @cache
        def has_a_row_a_line() -> bool:
            return count_lines(self.file) == n_rows + self.cut.has_header

        def line_of(row: int) -> int:
            if has_a_row_a_line():
                return row + self.cut.has_header + 1
            lines = rows(self.file, self.cut, len(self.header))
            return next(islice(lines, row + self.cut.has_header, None))[0]

        first, tag = Head(self.file).split(self.cut.delimiter.strip(" ").encode() or None)[0], ""
        if self.format == "trec-run" and len(first) == len(self.header):
            tag = first[-1].decode("utf-8", "replace").strip()
        return FileProvenance(self.file.name, line_of, ranks=self._ranks, tag=tag)

    def values(self) -> dict[str, pa.Array]:
        """Return the file's columns before conversion; a ReadError names a wrong line."""
        return self._parse()[0]

    def _parse(self) -> tuple[dict[str, pa.Array], list[Finding]]:
        """Return the file's columns before conversion, and findings of comments."""
        try:
            columns, n_comments = self._build(_WHOLE_BLOCK, careful=False)
        except pa.ArrowInvalid:
            block_size = check_lines(self.file, self.header, self.cut) + 1
            columns, n_comments = self._build(block_size, careful=True)
        if self.cut.has_header:
            check_quotes(self.file, self.cut, len(next(iter(columns.values()))))
        if not n_comments:
            return columns, []
        message = f"Comment lines (starting with #) skipped: {n_comments:,}."
        return columns, [make_finding("comments", self.file.name, message, count=n_comments)]

    def _build(self, block_size: int, *, careful: bool) -> tuple[dict[str, pa.Array], int]:
        """Return the columns before conversion, and the number of comments; a pa.ArrowInvalid on failure.

        Numbers become float64, or text with `careful`.
        """
        n_comments = 0

        def skip_other_rows(row: arrow_csv.InvalidRow) -> str:
            nonlocal n_comments
            is_comment = row.text.startswith("#")
            if self.cut.has_header or (row.text.strip() and not is_comment):  # blank lines at the start
                return "error"
            n_comments += is_comment
            return "skip"

        kinds: dict[str, str] = {theirs: BY_NAME[ours].kind for ours, theirs in self.mapping.items()}
        kinds |= dict.fromkeys(self.extras, "number") | dict.fromkeys(self.texts, "text")
        schema = pa.schema(
            (name, pa.float64() if kind in ("number", "rank") and not careful else pa.string())
            for name, kind in kinds.items()
        )
        shared = {name: list[pa.Array]() for name, kind in kinds.items() if kind in ("shared", "word")}
        plain = {name: _Values(self.file.name) for name in kinds.keys() - shared}
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=self.header,
                skip_rows=self.n_skipped or 0,
                block_size=min(max(block_size, BLOCK), _LARGEST_BLOCK),
                use_threads=not careful,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.cut.delimiter,
                quote_char='"' if self.cut.has_header else False,
                newlines_in_values=self.cut.has_header,
                invalid_row_handler=skip_other_rows if careful else None,  # it can only be called with UTF-8
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=schema, include_columns=schema.names, null_values=[], strings_can_be_null=False
            ),
        }
        if self.n_skipped is not None:
            is_any_length = self.cut.has_header and not self.file.packed
            delimiter = "" if self.cut.has_header else self.cut.delimiter
            text = BlockStream(self.file.blocks()) if is_any_length else open_text(self.file, delimiter)
            with text as stream:
                for batch in arrow_csv.open_csv(stream, **options):
                    for name, runs in shared.items():  # texts that mostly equal the one before
                        runs.append(pc.run_end_encode(batch[name], run_end_type=pa.int32()))
                    for name, column in plain.items():
                        column.add(batch[name])
        arrays = {
            name: coded_runs(shared[name]) if name in shared else plain[name].joined(schema.field(name).type)
            for name in kinds
        }
        return arrays, n_comments

    def _ranks(self) -> pa.Array | None:
        """Return the ranks that lines without a header state, unless they are read anyway."""
        if self.cut.has_header or "rank" not in self.header or "rank" in self.mapping.values():
            return None
        column = replace(self, mapping={"rank": "rank"}, extras=()).values()["rank"]
        return parse_ranks(column)


class _Values:
    """A column that grows in place, without nulls: chunks joined at the end take twice the memory."""

    def __init__(self, file: str) -> None:
        self._file, self._bytes, self._ends = file, bytearray(), bytearray(4)

    def add(self, piece: pa.Array) -> None:
        """Append numbers or texts."""
        if not pa.types.is_string(piece.type):
            self._bytes += piece.to_numpy().data
            return
        _, offsets, letters = piece.buffers()
        ends = np.frombuffer(offsets, np.int32)[piece.offset : piece.offset + len(piece) + 1]
        if len(self._bytes) + int(ends[-1] - ends[0]) > _MAX_TEXT:
            raise ReadError(self._file, "a column has more than 2 GB of text", "Split the file by query.")
        self._ends += (ends[1:] + np.int32(len(self._bytes) - ends[0])).data
        self._bytes += memoryview(letters or b"")[ends[0] : ends[-1]]

    def joined(self, kind: pa.DataType) -> pa.Array:
        """Return all values."""
        values, ends = pa.py_buffer(self._bytes), pa.py_buffer(self._ends)
        if pa.types.is_string(kind):
            return pa.Array.from_buffers(kind, len(self._ends) // 4 - 1, [None, ends, values])
        return pa.Array.from_buffers(kind, len(self._bytes) // 8, [None, values])


def line_format(head: Head) -> str:
    """Return the format of lines without a header, by the first lines; empty for other files."""
    n_queries = sum(len(fields) > 1 and fields[1].startswith(b"qid:") for fields in head.lines)
    if 2 * n_queries > len(head.lines):
        return "letor"
    width = mode(map(len, head.lines))
    for candidate in LINE_FORMATS:
        n = len(candidate.fields)
        if candidate.fields[2] != "rank":
            is_recognised = width == n or _is_tabbed(head, n)
        else:
            is_recognised = width == n and _counts_up(head.lines, n)
        if is_recognised:
            return candidate.name
    numbers = (parse_number(b" ".join(fields).decode("utf-8", "replace")) for fields in head.lines)
    return "predictions" if len(head.lines) > 1 and all(number is not None for number in numbers) else ""


def _is_tabbed(head: Head, width: int) -> bool:
    """Return whether tabs separate the fields of the first lines, and a field holds spaces."""
    lines = head.split(b"\t")
    has_spaces = any(b" " in field.strip() for fields in lines for field in fields)
    has_numbers = any(parse_number(field.decode("utf-8", "replace")) is not None for field in lines[0][-2:])
    return has_spaces and has_numbers and all(len(fields) == width for fields in lines[:-1] or lines)


_MAX_DIGITS = 9
"""Most digits of a rank."""


def _counts_up(lines: Sequence[Sequence[bytes]], width: int) -> bool:
    """Return whether the third of so many fields counts up by one in the first list, unlike in judgments."""
    full_lines = [line for line in lines if len(line) == width]
    iterations = {line[1].lower() for line in full_lines} if width == 4 else {b""}  # noqa: PLR2004 of judgments
    if len(full_lines) < len(lines) - 1 or iterations <= {b"0", b"q0"}:
        return False
    fields = [line[2] for line in full_lines if line[0] == full_lines[0][0]]
    if not all(field.isdigit() and len(field) <= _MAX_DIGITS for field in fields):
        return False
    ranks = [int(field) for field in fields]
    return ranks[0] in (0, 1) and all(after - before == 1 for before, after in pairwise(ranks))


def open_lines(head: Head, of: Format, choice: ColumnChoice) -> DelimitedTable:
    """Open a file without a header; errors as in `ColumnChoice.mapping`."""
    mapping = dict(of.mapping)
    if choice.columns:
        mapping = choice.mapping(head.file.name, of.fields, {**dict.fromkeys(BY_NAME, ""), **of.mapping})
    if "rank" == of.mapping.get("score") == mapping.get("score"):
        mapping = {"rank" if ours == "score" else ours: theirs for ours, theirs in mapping.items()}
    return DelimitedTable(
        file=head.file,
        header=of.fields,
        mapping=mapping,
        format=of.name,
        cut=Cut("\t" if _is_tabbed(head, len(of.fields)) else " ", has_header=False),
        missing_score=choice.missing_score,
    )


def read_lines(head: Head, of: Format, choice: ColumnChoice) -> Source:
    """Read a file without a header; a ReadError says if its first line is one."""
    try:
        return open_lines(head, of, choice).read()
    except ReadError as error:
        if error.line == 1 and head.may_name_columns:
            error.with_columns(head.header, {})
        first = [field.decode("utf-8", "replace") for field in head.lines[0]]
        if error.line == 1 and recognise(first):
            problem, hint = f"line 1 is a header ({', '.join(first)})", "Delete it: these files have none."
            raise ReadError(head.file.name, problem, hint) from error
        raise
