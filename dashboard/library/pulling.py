"""A board of the library as files that every tool reads. No streamlit inside."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from dashboard.library.board_file import ENDING, export
from dashboard.library.boards import Board, make_board
from dashboard.library.loaded import Published
from dashboard.library.records import Record
from metrics.errors import UsageError
from metrics.runs import COLUMNS, File
from metrics.runs.joining import subtopic_rows
from metrics.runs.writing import whole_file
from metrics.support.escaping import clean

QRELS = "qrels"
"""Name of the judgments, without its ending."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
_LONGEST = 150
_PARQUET_HINT = "Pull it as Parquet."

Write = Callable[[IO[bytes]], None]
"""Writes one file."""


def as_parquet(record: Record) -> dict[str, Write]:
    """Map file names to what writes them: a Parquet of each upload with runs of the board, and judgments.

    Columns are under our names, rerankers and rows as the board has them: repeated rows are left out already.

    Raises:
        TieScopeError: the board cannot be read.
    """
    board = _read(record)
    names = _names(board)
    tables = {f"{name}.parquet": _with_names(board, rerankers) for name, rerankers in names.items()}
    if board.runs.qrels is not None:
        tables[f"{QRELS}.parquet"] = board.runs.qrels
    return {name: _parquet_of(subtopic_rows(table)) for name, table in tables.items()}


def as_trec(record: Record) -> dict[str, Write]:
    """Map file names to what writes them: a TREC run of each reranker, and qrels.

    Raises:
        UsageError: a name or an id has spaces, or the judgments are in the tables and differ.
        TieScopeError: the board cannot be read.
    """
    board = _read(record)
    lines = {
        f"{stem}.trec": _run_lines(name, table)
        for stem, (name, table) in zip(safe_names(board.runs.tables), board.runs.tables.items(), strict=True)
    }
    lines[f"{QRELS}.txt"] = _qrels_lines(board)
    return {name: _lines_of(each) for name, each in lines.items()}


def as_board_file(record: Record, published: Published | None) -> dict[str, Write]:
    """Map file names to what writes them: the board as one file, with the published results kept with it."""
    (name,) = safe_names([record.name])
    return {f"{name}{ENDING}": lambda stream: export(record, stream, published=published)}


FORMS: Mapping[str, Callable[[Record, Published | None], dict[str, Write]]] = {
    "parquet": lambda record, _: as_parquet(record),
    "trec": lambda record, _: as_trec(record),
    "tiescope": as_board_file,
}
"""How a board can be written."""


def pull(
    record: Record, folder: Path, form: str, *, force: bool, published: Published | None = None
) -> list[Path]:
    """Write a board into a folder; returns the files.

    Raises:
        UsageError: a file is there, or cannot be written.
        TieScopeError: the board cannot be read.
    """
    writers = {folder / name: write for name, write in FORMS[form](record, published).items()}
    existing = [path for path in writers if os.path.lexists(path)]
    if existing and not force:
        raise UsageError(f"{existing[0]} is there already. Choose another folder, or --force to write over it.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UsageError(f"{folder}: this is a file. Name a folder.") from error
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror or error}).") from error
    for path, write in writers.items():
        with whole_file(path) as stream:
            write(stream)
    return list(writers)


def safe_names(names: Iterable[str]) -> list[str]:
    """Return names for files on every system: none twice, in whatever case, and none for judgments."""
    used_stems, stems = {QRELS}, []
    for name in names:
        stem = _safe(name)
        tries = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        stems.append(next(one for one in tries if one.casefold() not in used_stems))
        used_stems.add(stems[-1].casefold())
    return stems


def _safe(name: str) -> str:
    plain = re.sub(r'[\\/:*?"<>|]', "-", unicodedata.normalize("NFC", clean(name)))
    plain = plain.encode()[:_LONGEST].decode(errors="ignore").strip(". -") or "run"
    return f"_{plain}" if plain.split(".")[0].casefold() in _RESERVED else plain


def _read(record: Record) -> Board:
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


def _names(board: Board) -> dict[str, list[str]]:
    """Name of a file → its rerankers on the board; one alone gives the file its name."""
    stems, rerankers = [], []
    for source in board.sources:
        of_file = [name for name, where in board.runs.origins.items() if where.origin is source.origin]
        if of_file:
            stems.append(of_file[0] if len(of_file) == 1 else File(source.file, b"").stem)
            rerankers.append(of_file)
    return dict(zip(safe_names(stems), rerankers, strict=True))


def _with_names(board: Board, rerankers: list[str]) -> pa.Table:
    """Return the rows of some rerankers, with who ranked them."""
    tables = []
    for name in rerankers:
        table = board.runs.tables[name]
        rerankers_column = pa.array([name]).take(pa.array([0] * len(table))).dictionary_encode()
        tables.append(table.add_column(0, COLUMNS[0].name, rerankers_column))
    return pa.concat_tables(tables).unify_dictionaries()


def _parquet_of(table: pa.Table) -> Write:
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other commands need not pay

    return lambda stream: parquet.write_table(table, stream, compression="zstd")


def _lines_of(lines: Iterable[str]) -> Write:
    return lambda stream: stream.writelines(line.encode() for line in lines)


def _run_lines(name: str, table: pa.Table) -> list[str]:
    """Return lines `query Q0 document rank score name`, row by row, scores no longer than need be."""
    _refuse_spaces([name], "reranker")
    ranks: dict[str, int] = {}
    lines = []
    for query, document, score in _rows(table, "score"):
        ranks[query] = ranks.get(query, 0) + 1
        lines.append(f"{query} Q0 {document} {ranks[query]} {score!r} {name}\n")
    return lines


def _qrels_lines(board: Board) -> list[str]:
    """Return lines `query 0 document grade`, or `query subtopic document grade`."""
    judged = board.runs.qrels
    if judged is None:
        tables = [_judgments(table) for table in board.runs.tables.values()]
        if any(table != tables[0] for table in tables):
            problem = "The judgments are in the tables, and each reranker has others"
            raise UsageError(f"{problem}: as qrels they would give other values. {_PARQUET_HINT}")
        judged = tables[0]
    judged = subtopic_rows(judged)
    subtopics = ["0"] * len(judged)
    if "subtopic" in judged.column_names:
        subtopics = pc.fill_null(judged["subtopic"], "0").to_pylist()
        _refuse_spaces(dict.fromkeys(subtopics), "subtopic")
    return [
        f"{query} {subtopic} {document} {f'{grade!r}'.removesuffix('.0')}\n"
        for subtopic, (query, document, grade) in zip(subtopics, _rows(judged, "relevance"), strict=True)
    ]


def _judgments(table: pa.Table) -> pa.Table:
    """Return the judgments of one reranker's rows, in an order of their own."""
    table = subtopic_rows(table)
    texts = [name for name in ("query_id", "doc_id", "subtopic") if name in table.column_names]
    columns = {name: table[name].cast(pa.string()) for name in texts}
    judged = pa.table({**columns, "relevance": table["relevance"]})
    return judged.sort_by([(name, "ascending") for name in texts])


def _rows(table: pa.Table, value: str) -> Iterator[tuple[str, str, float]]:
    """Yield query, document and value of each row; UsageError at an id that TREC files cannot say."""
    queries, documents = (table[name].cast(pa.string()).to_pylist() for name in ("query_id", "doc_id"))
    _refuse_spaces(dict.fromkeys(queries), "query", odd="#[{")
    _refuse_spaces(dict.fromkeys(documents), "document")
    return zip(queries, documents, table[value].to_pylist(), strict=True)


def _refuse_spaces(names: Iterable[str], kind: str, odd: str = "") -> None:
    """Raise a UsageError at a name that is not one word, whichever tool cuts the line; or that begins oddly."""
    for name in names:
        if name.split() != [name] or name[0] in odd or "\0" in name or "\ufeff" in name:
            hint = f"TREC files cannot say that. {_PARQUET_HINT}"
            raise UsageError(f"There is a {kind} called {clean(name)!r}: {hint}")
