"""What a format says of itself, the first lines it is recognised by, and tables read whole or in blocks."""

import csv
import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, MissingScore, recognise, refuse_many_columns
from metrics.runs.conversion import parse_number, with_plain_type
from metrics.runs.files import BLOCK, MAX_LINE, BlockStream, File, line_too_long, open_text, whole_lines
from metrics.runs.findings import Finding
from metrics.runs.query_doc_keys import Hashes, text_hashes
from metrics.runs.source import Source
from metrics.support.arrays import IntArray, combine_chunks
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


@dataclass(frozen=True, kw_only=True)
class BlockTable(ABC):
    """A file, and what is to be read of it.

    Attributes:
        file: the file as given.
        header: names of its columns.
        mapping: our column → the file's.
        extras: further columns that are read, as numbers.
        omitted: columns that would be read of the whole file, and are not read here.
        missing_score: what is done about a score that is no number.
    """

    file: File
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    extras: tuple[str, ...] = ()
    omitted: frozenset[str] = frozenset()
    missing_score: MissingScore = "error"

    def select(self, columns: Collection[str]) -> Self:
        """Return the table with some columns alone: ours, or further ones by their names."""
        mapping = {ours: theirs for ours, theirs in self.mapping.items() if ours in columns}
        extras = tuple(name for name in self.extras if name in columns)
        omitted = {*self.columns_read, *self.omitted} - {*mapping.values(), *extras}
        return replace(self, mapping=mapping, extras=extras, omitted=frozenset(omitted))

    @property
    def columns_read(self) -> list[str]:
        """Columns of the file that are read."""
        return [*self.mapping.values(), *self.extras]

    @property
    def reported_header(self) -> list[str]:
        """Names of its columns without those left out here."""
        return [name for name in self.header if name not in self.omitted]

    @abstractmethod
    def read(self) -> Source:
        """Read the whole file; a ReadError where it is damaged or too large, or cannot be read."""

    def blocks(self) -> Iterator[Source]:
        """Yield blocks of rows without texts that hold all rows of their queries; one where there is no row.

        Rerankers of one query may take turns in its rows; else a query's rows stand together.

        Raises:
            ReadError: as of `read`, or a query comes again after rows of other queries. Blocks before that
                are right.
        """
        texts = [ours for ours in self.mapping if BY_NAME[ours].kind == "text"]
        slim = self.select([*(self.mapping.keys() - texts), *self.extras])
        ended_queries, n_rows = SeenQueries(self.refuse_repeated_query), 0
        for table, findings in slim.query_tables():
            source = slim.source(table, n_rows, findings)
            ended_queries.add(source.table, n_rows)
            n_rows += len(table)
            yield source

    @abstractmethod
    def query_tables(self) -> Iterator[tuple[pa.Table, Sequence[Finding]]]:
        """Yield the columns read, each table cut where a query ends, with what was found on the way."""

    @abstractmethod
    def source(self, table: pa.Table, n_before: int, findings: Sequence[Finding] = ()) -> Source:
        """Check and convert rows of the file."""

    @abstractmethod
    def refuse_repeated_query(self, ids: list[str], row: int) -> None:
        """Raise a ReadError if a query (of a reranker) has rows before this one."""


BLOCK_BYTES = 2**21
"""Bytes of columns that make a block; eight times as many are twice as fast, and hold 45 MB more."""
Refuse = Callable[[list[str], int], None]
"""Raises a ReadError if a query, and its reranker where the file names any, has rows before this row too."""


class QueryBuffer:
    """Rows that were read and not yet given.

    Attributes:
        last_start: where the last query among them begins, which may go on.
        size: their bytes.
    """

    def __init__(self, schema: pa.Schema, query: str) -> None:
        self._schema, self._query = schema, query
        self._batches: list[pa.RecordBatch] = []
        self._n_rows, self._last_query, self.last_start, self.size = 0, "", 0, 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Append the next rows."""
        if not len(batch):
            return
        spans = pc.run_end_encode(with_plain_type(batch[self._query]), run_end_type=pa.int32())
        if len(spans.values) > 1:
            self.last_start = self._n_rows + spans.run_ends[-2].as_py()
        elif spans.values[0].as_py() != self._last_query:
            self.last_start = self._n_rows
        self._last_query = spans.values[-1].as_py()
        self._batches.append(batch)
        self._n_rows, self.size = self._n_rows + len(batch), self.size + batch.nbytes

    @property
    def is_full(self) -> bool:
        """Whether the whole queries among the rows make a block."""
        return self.size >= BLOCK_BYTES and self.last_start > 0

    @property
    def table(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self._batches, self._schema)

    def take(self) -> pa.Table:
        """Return the rows of whole queries, and hold them no longer."""
        table = self.table
        unfinished = table.slice(self.last_start)
        self._batches, self._n_rows, self.size = unfinished.to_batches(), len(unfinished), unfinished.nbytes
        table, self.last_start = table.slice(0, self.last_start), 0
        return table


class SeenQueries:
    """The queries of each reranker whose rows have ended, as hashes: eight bytes each."""

    def __init__(self, refuse: Refuse) -> None:
        self._refuse = refuse
        self._hashes: dict[str, Hashes] = {}

    def add(self, table: pa.Table, n_before: int) -> None:
        """Add the queries of the next block, after `n_before` rows; a ReadError where one comes again."""
        queries = combine_chunks(table["query_id"])
        query = queries.indices.to_numpy()
        span = np.cumsum(np.diff(query, prepend=-1) != 0)
        for reranker, rows in _rows_by_reranker(table):
            starts = rows[np.diff(span[rows], prepend=0) > 0]
            hashes = text_hashes(queries.dictionary.take(pa.array(query[starts])))
            known_hashes = self._hashes.get(reranker, hashes[:0])
            first = np.unique(query[starts], return_index=True)[1]
            is_repeated = np.isin(hashes, known_hashes) | ~np.isin(np.arange(len(starts)), first)
            for row in starts[is_repeated]:
                ids = [queries[int(row)].as_py()]
                self._refuse(ids + [reranker] * ("reranker" in table.column_names), n_before + int(row))
            self._hashes[reranker] = np.sort(np.concatenate([known_hashes, hashes]), kind="stable")


def _rows_by_reranker(table: pa.Table) -> Iterator[tuple[str, IntArray]]:
    """Yield the rows of each reranker; of one without a name where the file names none."""
    if "reranker" not in table.column_names:
        yield "", np.arange(len(table))
        return
    names = combine_chunks(table["reranker"])
    codes = names.indices.to_numpy()
    for code, name in enumerate(names.dictionary.to_pylist()):
        yield name, np.flatnonzero(codes == code)


def repeated_query(ids: list[str], last: str) -> tuple[str, str]:
    """Return problem and hint of a query that comes again, whose rows had ended on that line or row."""
    of_reranker = "".join(f" of {name!r}" for name in ids[1:])
    problem = f"query {ids[0]!r}{of_reranker} comes again, after its rows ended on {last}"
    return problem, "Sort the file by query, or read it whole (without --stream)."


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
