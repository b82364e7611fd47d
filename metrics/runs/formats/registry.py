"""The formats that can be read, each recognised from content, and the one function that reads them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.findings import found
from metrics.runs.formats.json_records import read_array, read_lines, read_nested
from metrics.runs.formats.parquet import MAGIC, Parquet
from metrics.runs.reading.blocks import Delimited
from metrics.runs.reading.columns import BY_NAME, Choice, check_header, check_width, recognise
from metrics.runs.reading.files import File
from metrics.runs.reading.lines import Layout, header_of, rows
from metrics.runs.reading.source import Source
from metrics.support.memory import one_allocator

_LINES = 20
_DIGITS = 10
_RUN = Layout(" ", ("query_id", "Q0", "doc_id", "rank", "score", "tag"), quoted=False)
_QRELS = Layout(" ", ("query_id", "iteration", "doc_id", "relevance"), quoted=False)
_RANKED = Layout(" ", ("query_id", "doc_id", "rank"), quoted=False)
_BEIR = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}


@dataclass(frozen=True)
class Head:
    """The first lines of a file, as recognition sees them."""

    file: File

    @cached_property
    def lines(self) -> list[list[bytes]]:
        """Fields of the first lines, cut at spaces and tabs; no blank lines, no comments."""
        cut = [fields for line in self.file.head.split(b"\n")[:_LINES] if (fields := line.split())]
        return [fields for fields in cut if not fields[0].startswith(b"#")] or cut

    @cached_property
    def width(self) -> int:
        """The most frequent number of fields, cut at spaces and tabs."""
        widths = Counter(map(len, self.lines))
        return max(widths, key=lambda width: widths[width], default=0)

    @cached_property
    def table(self) -> Layout:
        """The layout of a table with a header: the delimiter that shows the most columns we know."""
        layouts = [Layout(mark) for mark in ",\t;|"]
        first = self.file.head.split(b"\n", 1)[0]

        def known(layout: Layout) -> tuple[int, int]:
            return len(recognise(header_of(self.file.head, layout))), first.count(layout.delimiter.encode())

        return max(layouts, key=known)

    @cached_property
    def header(self) -> list[str]:
        """Column names, if this is a table with a header; however long its line."""
        if b"\n" in self.file.head:
            return header_of(self.file.head, self.table)
        return next(rows(self.file, self.table), (0, []))[1]


Reader = Callable[[Head, Choice], Source]
"""Reads one format, with the columns the user chose."""
Cutter = Callable[[Head, Choice], Delimited | Parquet]
"""The same for what can be read in blocks: says what is to be read, whole or in blocks."""


@dataclass(frozen=True)
class Format:
    """A file format: how it is told from others and how it is read; `cut` where it can be read in blocks."""

    name: str
    summary: str
    recognises: Callable[[Head], bool]
    read: Reader
    cut: Cutter | None = None


def _cut(name: str, summary: str, recognises: Callable[[Head], bool], cut: Cutter) -> Format:
    return Format(name, summary, recognises, lambda head, choice: cut(head, choice).read(), cut)


def _is_ranked(head: Head) -> bool:
    """Three fields, the last of which counts up by one in the first list."""
    if head.width != len(_RANKED.names or ()) or any(len(line) != head.width for line in head.lines[:-1]):
        return False
    first = [line[2] for line in head.lines if line[0] == head.lines[0][0] and len(line) == head.width]
    if not all(rank.isdigit() and len(rank) < _DIGITS for rank in first):
        return False
    ranks = [int(rank) for rank in first]
    return ranks[0] in (0, 1) and all(after - before == 1 for before, after in pairwise(ranks))


def _is_table(head: Head) -> bool:
    return {"query_id", "doc_id"} & recognise(head.header).keys() != set() and len(head.header) > 1


def _table(head: Head, choice: Choice) -> Delimited:
    check_width(head.file.name, head.header)
    mapping = recognise(head.header, choice.among(head.header))
    check_header(head.file.name, head.header, mapping)
    return Delimited(head.file, "table", head.table, mapping)


def _is_beir(head: Head) -> bool:
    return [name.casefold() for name in head.header] == list(_BEIR.values())


def _beir(head: Head, choice: Choice) -> Delimited:
    usual = dict(zip(_BEIR, head.header, strict=True))
    mapping = recognise(head.header, choice.among(head.header, usual))
    check_header(head.file.name, head.header, mapping)
    return Delimited(head.file, "beir-qrels", head.table, mapping)


def _fixed(name: str, layout: Layout, used: tuple[str, ...]) -> Cutter:
    """For lines without a header."""
    names = layout.names or ()

    def fixed(head: Head, choice: Choice) -> Delimited:
        wanted = choice.among(names, {column: column for column in used})
        mapping = {ours: theirs for ours, theirs in recognise(names, wanted).items() if ours in wanted}
        check_header(head.file.name, names, mapping)
        return Delimited(head.file, name, layout, mapping)

    return fixed


def _ranked(head: Head, choice: Choice) -> Delimited:
    usual = {"query_id": "query_id", "doc_id": "doc_id", "score": "rank"}
    names = _RANKED.names or ()
    mapping = recognise(names, choice.among(names, usual))
    check_header(head.file.name, names, mapping)
    return Delimited(head.file, "ranked", _RANKED, mapping, _ranks_as_scores)


def _ranks_as_scores(source: Source) -> Source:
    """The source, its scores minus the ranks where ranks are all there is."""
    if source.mapping.get("score") != "rank":
        return source
    at = source.table.column_names.index("score")
    table = source.table.set_column(at, "score", pc.negate(source.table["score"]))
    message = "The file gives ranks and no scores: the score is minus the rank, so ties cannot show."
    note = found("ranks-as-scores", source.file, message, count=len(table))
    return replace(source, table=table, noted=(*source.noted, note))


def _begins(pattern: bytes) -> Callable[[Head], bool]:
    start = re.compile(rb"\s*" + pattern)
    return lambda head: start.match(head.file.head) is not None


def _is_parquet(head: Head) -> bool:
    """The mark at both ends, or at the start of what is no text."""
    start = head.file.head
    return start.startswith(MAGIC) and (b"\0" in start or head.file.ends_with(MAGIC))


FORMATS: tuple[Format, ...] = (
    _cut(
        "parquet",
        "Parquet table; columns as in a CSV table.",
        _is_parquet,
        lambda head, choice: Parquet.of(head.file, choice),
    ),
    Format(
        "json",
        "JSON records: [{query_id, doc_id, score, ...}, ...].",
        _begins(rb'\[\s*(?:[{\]]|(?:-?\d|"|true|false|null)[^\s,]*\s*[,\]])'),
        lambda head, choice: read_array(head.file, choice),
    ),
    Format(
        "nested-json",
        "JSON by query and document: {query: {document: score}}, grades if all are whole numbers.",
        _begins(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{'),
        lambda head, choice: read_nested(head.file, choice),
    ),
    Format(
        "jsonl",
        "JSON, one record a line.",
        _begins(rb'\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)'),
        lambda head, choice: read_lines(head.file, choice),
    ),
    _cut("beir-qrels", "BEIR judgments: query-id, corpus-id, score.", _is_beir, _beir),
    _cut(
        "table",
        f"CSV, TSV or semicolon table with a header; columns {', '.join(BY_NAME)}.",
        _is_table,
        _table,
    ),
    _cut(
        "trec-run",
        "TREC run: query Q0 document rank score tag.",
        lambda head: head.width == len(_RUN.names or ()),
        _fixed("trec-run", _RUN, ("query_id", "doc_id", "score")),
    ),
    _cut(
        "trec-qrels",
        "TREC judgments: query 0 document grade.",
        lambda head: head.width == len(_QRELS.names or ()),
        _fixed("trec-qrels", _QRELS, ("query_id", "doc_id", "relevance")),
    ),
    _cut("ranked", "MS MARCO run: query document rank.", _is_ranked, _ranked),
)
"""Every format that can be read, tried in this order."""


@one_allocator
def read(file: File, columns: Mapping[str, str] | None = None, *, strict: bool = True) -> Source:
    """Read one file in whatever format its content shows.

    Args:
        file: the file as given.
        columns: our column → the file's, where recognition would choose another or none.
        strict: whether a chosen column must exist; else what does not is left to recognition.

    Raises:
        ReadError: no format fits, or the file breaks the one that does.
        UsageError: `columns` names a column that does not exist.
    """
    head, choice = Head(file), Choice(columns or {}, strict)
    return _format_of(head, choice).read(head, choice)


def open_blocks(file: File, columns: Mapping[str, str] | None = None) -> Delimited | Parquet:
    """One file to be read in blocks; a chosen column it lacks is left to recognition.

    Raises:
        ReadError: no format fits, or one that is read whole.
    """
    head, choice = Head(file), Choice(columns or {}, strict=False)
    known = _format_of(head, choice)
    if known.cut is None:
        hint = "Give a TREC run, a CSV, TSV or Parquet table, or read it whole, into memory."
        raise ReadError(file.name, f"{known.name} cannot be read in blocks", hint)
    return known.cut(head, choice)


def unread(file: File, source: Source) -> dict[str, pa.Array]:
    """The columns of a file that its source leaves out, as text; without those that cannot be read so.

    Args:
        file: the file as given.
        source: what was read of it.

    Raises:
        ReadError: the file has changed, and its header cannot be read.
    """
    cut = next(one.cut for one in FORMATS if one.name == source.format)
    delimited = cut(Head(file), Choice(source.mapping)) if cut is not None else None
    found: dict[str, pa.Array] = {}
    for name in source.unused:
        with suppress(ReadError):
            if isinstance(delimited, Delimited):
                found[name] = delimited.words(name)
            else:
                found[name] = read(file, {**source.mapping, "query_text": name}).table["query_text"]
    return found


def _format_of(head: Head, choice: Choice) -> Format:
    if not _is_parquet(head):
        head.file.refuse_binary()
    for candidate in FORMATS:
        if candidate.recognises(head):
            return candidate
    if choice.among(head.header) and len(head.header) > 1:
        return next(one for one in FORMATS if one.name == "table")
    first = ", ".join(head.header) if len(head.header) > 1 else f"{head.width} fields"
    hint = (
        "A TREC run has 6 (query Q0 document rank score tag), judgments have 4 (query 0 document grade), "
        "an MS MARCO run has 3 (query document rank, from 1), "
        "a table has a header with query_id, doc_id and score."
    )
    raise ReadError(head.file.name, f"not a run, judgments or a table: found {first}", hint, line=1)
