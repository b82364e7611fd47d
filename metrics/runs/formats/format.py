"""What a format is: how it is recognised by its first lines, and tables that are read whole or in blocks."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mode
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
from metrics.support.arrays import combine_chunks
from metrics.support.cached import cached_property

csv.field_size_limit(MAX_LINE)

NumberedFields = tuple[int, list[str]]
"""A line number, first line 1, and the fields of that line."""


SPACES = " "
"""Delimiter of files without a header: any run of spaces and tabs. Other delimiters are one character."""


def rows(file: File, delimiter: str, width: int, *, strict: bool = False) -> Iterator[NumberedFields]:
    """Yield the fields of each line from the first that is not blank, without empty lines and comments.

    Lines of a file without a header that begin with # and do not have `width` fields are comments.

    Raises:
        csv.Error: with `strict`, a quote is not closed.
        ReadError: a field is too long.
    """
    line = 0
    try:
        for line, fields in _split(
            open_text(file, single_spaces=delimiter == SPACES), delimiter, strict=strict
        ):
            if not (delimiter == SPACES and fields[0].startswith("#") and len(fields) != width):
                yield line, fields
    except csv.Error as error:
        if "field limit" in str(error):
            raise line_too_long(file, line + 1) from error
        raise


def _split(stream: io.RawIOBase, delimiter: str, *, strict: bool = False) -> Iterator[NumberedFields]:
    text = io.TextIOWrapper(io.BufferedReader(stream, BLOCK), encoding="utf-8", errors="replace", newline="")
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == SPACES else csv.QUOTE_MINIMAL
    reader = csv.reader(text, delimiter=delimiter, quoting=quoting, strict=strict)
    n_before, has_begun = 0, False
    for fields in reader:
        has_begun = has_begun or bool("".join(fields).strip())
        if fields and has_begun:
            yield n_before + 1, fields
        n_before = reader.line_num


def check_lines(file: File, header: Sequence[str], delimiter: str) -> int:
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
    if delimiter != SPACES:
        _refuse_open_quote(file, delimiter)
    for line, fields in rows(file, delimiter, len(header)):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Correct or remove the line.", line=line)
    return size


def check_quotes(file: File, delimiter: str, n_rows: int) -> None:
    """Raise a ReadError if a quote of a table that is not closed has swallowed lines."""
    if any(b'"' in block for block in file.blocks()) and n_rows + 1 != count_lines(file):
        _refuse_open_quote(file, delimiter)


def count_lines(file: File) -> int:
    """Return the number of lines, including blank ones."""
    count, last = 0, b"\n"
    for block in file.blocks():
        count += block.count(b"\n")
        last = block[-1:]
    return count + (last != b"\n")


def _refuse_open_quote(file: File, delimiter: str) -> None:
    last = 0
    try:
        for last, _ in rows(file, delimiter, 0, strict=True):  # noqa: B007 the last line read is the point
            pass
    except csv.Error as error:
        following = next((line for line, _ in rows(file, delimiter, 0) if line > last), last)
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
    def lines(self) -> list[list[bytes]]:
        """Fields of the first lines, split at spaces and tabs, without blank lines and comments."""
        return self._split(None)

    @property
    def width(self) -> int:
        """The most frequent number of fields, split at spaces and tabs."""
        return mode(map(len, self.lines))

    def _split(self, delimiter: bytes | None) -> list[list[bytes]]:
        lines = [line.split(delimiter) for line in self.file.head.split(b"\n")[:_LINES] if line.strip()]
        return [fields for fields in lines if not fields[0].startswith(b"#")] or lines

    @property
    def delimiter(self) -> str:
        """The delimiter of a table with a header: the one that gives the most columns we know."""
        return self._table[0]

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
                headers[delimiter] = next(_split(BlockStream([self.file.head]), delimiter), (0, []))[1]
            except csv.Error:
                headers[delimiter] = []
        delimiter = max(headers, key=lambda mark: (len(recognise(headers[mark])), first.count(mark.encode())))
        names = headers[delimiter]
        if not others:  # a line longer than the head
            names = next(rows(self.file, delimiter, 0), (0, []))[1]
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
        return mode(map(len, self._split(self.delimiter.encode()))) == n_columns


@dataclass(frozen=True, kw_only=True)
class BlockTable(ABC):
    """A file, and the columns to read from it, whole or in blocks.

    Attributes:
        file: the file.
        header: names of its columns.
        mapping: our column → the file's.
        extras: further score columns to read.
        omitted: columns left out by `select`.
        missing_score: handling of documents without a numeric score.
    """

    file: File
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    extras: tuple[str, ...] = ()
    omitted: frozenset[str] = frozenset()
    missing_score: MissingScore = "error"

    def select(self, columns: Collection[str]) -> Self:
        """Return the table with some columns only: ours, or further ones by their names."""
        mapping = {ours: theirs for ours, theirs in self.mapping.items() if ours in columns}
        extras = tuple(name for name in self.extras if name in columns)
        omitted = {*self.columns_read, *self.omitted} - {*mapping.values(), *extras}
        return replace(self, mapping=mapping, extras=extras, omitted=frozenset(omitted))

    @property
    def columns_read(self) -> list[str]:
        """Columns of the file to read."""
        return [*self.mapping.values(), *self.extras]

    @property
    def reported_header(self) -> list[str]:
        """Names of the columns without those left out by `select`."""
        return [name for name in self.header if name not in self.omitted]

    @abstractmethod
    def read(self) -> Source:
        """Read the whole file; a ReadError if it is damaged, too large or not readable."""

    def blocks(self) -> Iterator[Source]:
        """Yield blocks of whole queries, without texts; a single empty block for an empty table.

        Rerankers may alternate within a query. Otherwise the rows of a query must be contiguous.

        Raises:
            ReadError: as `read`, or a query appears again after rows of other queries.
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
        """Yield the columns read in tables of whole queries, with findings of reading."""

    @abstractmethod
    def source(self, table: pa.Table, n_before: int, findings: Sequence[Finding] = ()) -> Source:
        """Check and convert rows of the file."""

    def refuse_repeated_query(self, ids: list[str], row: int) -> None:
        """Raise a ReadError if a query, and its reranker if named, has rows before this one."""
        names = ("query_id", "reranker")[: len(ids)]
        keys, n_before, last = self.select(names), 0, None
        for table, _ in keys.query_tables():
            source = keys.source(table, n_before)
            is_same = [
                pc.equal(source.table[ours].cast(pa.string()), name)
                for ours, name in zip(names, ids, strict=True)
            ]
            places = pc.indices_nonzero(pc.and_(is_same[0], is_same[-1])).to_numpy()
            before = places[places < row - n_before]
            last = source.origin.line_of(int(before[-1])) if len(before) else last
            if row < n_before + len(table):
                break
            n_before += len(table)
        if last is not None:
            of_reranker = "".join(f" of {name!r}" for name in ids[1:])
            unit = source.origin.unit
            problem = (
                f"rows of query {ids[0]!r}{of_reranker} are not consecutive: they ended on {unit} {last} and "
                "continue here"
            )
            raise source.origin.error(
                row - n_before, problem, "Sort the file by query, or read it whole (without --stream)."
            )


BLOCK_BYTES = 2**21
"""Bytes of a block; 16 MB would be twice as fast and hold 45 MB more."""


class QueryBuffer:
    """Rows that wait for the end of their query.

    Attributes:
        last_start: first row of the last query, which may go on.
        size: bytes of the rows.
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
        """True if the whole queries fill a block."""
        return self.size >= BLOCK_BYTES and self.last_start > 0

    @property
    def table(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self._batches, self._schema)

    def take(self) -> pa.Table:
        """Remove and return the rows of whole queries."""
        table = self.table
        unfinished = table.slice(self.last_start)
        self._batches, self._n_rows, self.size = unfinished.to_batches(), len(unfinished), unfinished.nbytes
        table, self.last_start = table.slice(0, self.last_start), 0
        return table


class SeenQueries:
    """Hashes of the queries whose rows have ended, by reranker.

    Args:
        refuse: raises a ReadError if a query (and reranker) has rows before this one.
    """

    def __init__(self, refuse: Callable[[list[str], int], None]) -> None:
        self._refuse = refuse
        self._hashes: dict[str, Hashes] = {}

    def add(self, table: pa.Table, n_before: int) -> None:
        """Add the queries of the next block; a ReadError if one appeared before."""
        queries = combine_chunks(table["query_id"])
        query = queries.indices.to_numpy()
        span = np.cumsum(np.diff(query, prepend=-1) != 0)
        has_rerankers = "reranker" in table.column_names
        owner, names = np.zeros(len(table), np.int32), [""]
        if has_rerankers:
            rerankers = combine_chunks(table["reranker"])
            owner, names = rerankers.indices.to_numpy(), rerankers.dictionary.to_pylist()
        for code, reranker in enumerate(names):
            rows = np.flatnonzero(owner == code)
            starts = rows[np.diff(span[rows], prepend=0) > 0]
            hashes = text_hashes(queries.dictionary.take(pa.array(query[starts])))
            seen_hashes = self._hashes.get(reranker, hashes[:0])
            first = np.unique(query[starts], return_index=True)[1]
            is_repeated = np.isin(hashes, seen_hashes) | ~np.isin(np.arange(len(starts)), first)
            for row in starts[is_repeated]:
                ids = [queries[int(row)].as_py()]
                self._refuse(ids + [reranker] * has_rerankers, n_before + int(row))
            self._hashes[reranker] = np.sort(np.concatenate([seen_hashes, hashes]), kind="stable")


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: as in `Source.format`.
        summary: one line for people.
        example: three lines of such a file; for a binary format, Python code that writes one.
        recognises: tests the head of a file.
        read: reads a file with the user's choice of columns.
        open_blocks: opens a file to be read in blocks; None if the format is read whole.
        has_header: the file names its columns.
        scores_may_be_grades: its numbers may be scores or grades.
        tie_order: how the software that the format belongs to breaks ties.
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
