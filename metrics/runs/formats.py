"""The formats that can be read, each recognised from content, and the one function that reads them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, recognise
from metrics.runs.delimited import Layout, header_of, read_delimited
from metrics.runs.files import File
from metrics.runs.source import Source

_LINES = 20
_RUN = Layout(" ", ("query_id", "Q0", "doc_id", "rank", "score", "tag"), quoted=False)
_QRELS = Layout(" ", ("query_id", "iteration", "doc_id", "relevance"), quoted=False)
_BEIR = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}


@dataclass(frozen=True)
class Head:
    """The first lines of a file, as recognition sees them."""

    file: File

    @cached_property
    def width(self) -> int:
        """The most frequent number of fields, cut at spaces and tabs."""
        lines = self.file.head.split(b"\n")[:_LINES]
        widths = Counter(len(line.split()) for line in lines if line.strip())
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
        """Column names, if this is a table with a header."""
        return header_of(self.file.head, self.table)


@dataclass(frozen=True)
class Format:
    """A file format: how it is told from others and how it is read."""

    name: str
    summary: str
    recognises: Callable[[Head], bool]
    read: Callable[[Head, Mapping[str, str]], Source]


def _is_table(head: Head) -> bool:
    return {"query_id", "doc_id"} & recognise(head.header).keys() != set() and len(head.header) > 1


def _read_table(head: Head, columns: Mapping[str, str]) -> Source:
    mapping = recognise(head.header, columns)
    name, found = head.file.name, ", ".join(head.header)
    repeated = [column for column, count in Counter(head.header).items() if count > 1]
    if repeated:
        raise ReadError(name, f"two columns are named {repeated[0]!r}", "Rename one.", line=1)
    for needed in ("query_id", "doc_id"):
        if needed not in mapping:
            raise _without(needed, name, found)
    if not {"score", "relevance"} & mapping.keys():
        raise _without("score", name, found)
    return read_delimited(head.file, "table", head.table, mapping, extras=True)


def _is_beir(head: Head) -> bool:
    return [name.casefold() for name in head.header] == list(_BEIR.values())


def _read_beir(head: Head, _: Mapping[str, str]) -> Source:
    return read_delimited(head.file, "beir-qrels", head.table, dict(zip(_BEIR, head.header, strict=True)))


def _without(column: str, file: str, found: str) -> ReadError:
    hint = f"Name the column that holds it {column}."
    return ReadError(file, f"no {column} column among {found}", hint, line=1)


def _read_run(head: Head, _: Mapping[str, str]) -> Source:
    used = {name: name for name in ("query_id", "doc_id", "score")}
    return read_delimited(head.file, "trec-run", _RUN, used)


def _read_qrels(head: Head, _: Mapping[str, str]) -> Source:
    used = {name: name for name in ("query_id", "doc_id", "relevance")}
    return read_delimited(head.file, "trec-qrels", _QRELS, used)


FORMATS: tuple[Format, ...] = (
    Format("beir-qrels", "BEIR judgments: query-id, corpus-id, score.", _is_beir, _read_beir),
    Format(
        "table",
        f"CSV, TSV or semicolon table with a header; columns {', '.join(BY_NAME)}.",
        _is_table,
        _read_table,
    ),
    Format(
        "trec-run",
        "TREC run: query Q0 document rank score tag.",
        lambda h: h.width == len(_RUN.names or ()),
        _read_run,
    ),
    Format(
        "trec-qrels",
        "TREC judgments: query 0 document grade.",
        lambda h: h.width == len(_QRELS.names or ()),
        _read_qrels,
    ),
)
"""Every format that can be read, tried in this order."""


def read(file: File, columns: Mapping[str, str] | None = None) -> Source:
    """Read one file in whatever format its content shows.

    Args:
        file: the file as given.
        columns: our column → the file's, for tables whose header says it otherwise.

    Raises:
        ReadError: no format fits, or the file breaks the one that does.
        UsageError: `columns` names a column that does not exist.
    """
    head = Head(file)
    if columns:
        return _read_table(head, columns)
    for candidate in FORMATS:
        if candidate.recognises(head):
            return candidate.read(head, {})
    first = ", ".join(head.header) if len(head.header) > 1 else f"{head.width} fields"
    hint = (
        "A TREC run has 6 (query Q0 document rank score tag), judgments have 4 (query 0 document grade), "
        "a table has a header with query_id, doc_id and score."
    )
    raise ReadError(file.name, f"not a run, judgments or a table: found {first}", hint, line=1)
