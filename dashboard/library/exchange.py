"""Boards from the command line: list them, push files to them, and pull them as files other tools read."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from functools import partial
from itertools import count
from operator import methodcaller
from pathlib import Path
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dashboard.library.board_file import ENDING, View, export, is_board, load
from dashboard.library.boards import (
    Board,
    BoardSpec,
    NamedPaths,
    board_name,
    keep_arrangement,
    make_board,
    read_files,
)
from dashboard.library.loaded import Published
from dashboard.library.records import BoardListing, Record, id_of
from dashboard.library.store import Library
from metrics.errors import LibraryError, TieScopeError, UsageError
from metrics.runs import COLUMNS, File, Repeated, Source, read, with_names
from metrics.runs.joining import subtopic_rows
from metrics.runs.writing import whole_file
from metrics.support.escaping import clean
from metrics.support.wording import count_of

# list

_MOST_NAMES = 5


def boards_table(library: Library, owner: str, *, for_people: bool) -> pd.DataFrame:
    """Return the owner's boards, latest change first: name, id, runs, queries, files, changed, access.

    For people, names are on one line and times short. Runs and queries are missing if an earlier version wrote
    the board.
    """
    rows = []
    for board in library.boards(owner):
        changed = board.changed.replace(tzinfo=UTC).astimezone()
        rows.append(
            {
                "name": clean(board.name) if for_people else board.name,
                "id": board.id,
                "runs": board.runs,
                "queries": board.queries,
                "files": len(library.find(board.id, owner).spec.entries),
                "changed": f"{changed:%Y-%m-%d %H:%M}" if for_people else changed.isoformat(timespec="seconds"),
                "access": board.access,
            }
        )
    table = pd.DataFrame(rows, columns=["name", "id", "runs", "queries", "files", "changed", "access"])
    return table.astype({"runs": "Int64", "queries": "Int64", "files": "Int64"})


def describe_unknown_files(library: Library) -> str:
    """Return a message about uploads that the database does not list, or an empty text."""
    paths = library.unknown_files()
    if not paths:
        return ""
    heading = (
        f"{paths[0].parents[1]} holds {count_of(len(paths), 'file')} that the library's database does not "
        "list, so the files' names and owners are unknown. To add a file to the library again: tiescope push "
        "FILE --board NAME. Write NAME=FILE to name a run, and --qrels FILE for judgments."
    )
    return "\n".join([heading, *map(_describe_file, paths)])


def _describe_file(path: Path) -> str:
    """Return path, size, rows and columns of an upload."""
    size = f"{path}: {path.stat().st_size:,} bytes"
    try:
        source = read(File.open(path))
    except TieScopeError:
        return f"{size}, cannot be read as a single file"
    return f"{size}, {count_of(len(source.table), 'row')}: {', '.join(source.header)}"


def find_board(library: Library, name: str, owner: str) -> BoardListing | None:
    """Return the board with this ID, name or label, None if there is none."""
    own = library.boards(owner)
    matches = (
        [board for board in own if board.id == name]
        or [board for board in own if board.name == board_name(name)]
        or [board for board in own if board.id == id_of(name)]
    )
    if len(matches) > 1:
        ids = ", ".join(board.id for board in matches)
        raise UsageError(f"{len(matches)} boards are called {name!r}. Choose one by its ID: {ids}.")
    return matches[0] if matches else library.look(id_of(name), owner)


def require_board(library: Library, name: str, owner: str) -> BoardListing:
    """Return the board with this ID, name or label."""
    board = find_board(library, name, owner)
    if board is None:
        names = [repr(listing.name) for listing in library.boards(owner)]
        board_list = f"Boards: {', '.join(names[:_MOST_NAMES])}" if names else "The library is empty"
        raise UsageError(
            f"The library has no board {name!r}. {board_list}{' ...' * (len(names) > _MOST_NAMES)}."
        )
    return board


# push

_TRIES = 5
"""Attempts if somebody else changes the board."""


@dataclass(frozen=True)
class FilesToPush:
    """Files to put on a board."""

    spec: BoardSpec  # files and how they are read
    sources: tuple[Source, ...]  # content of each file
    view: View | None = None  # settings of a new board; None for defaults
    name: str = ""  # name in a board file
    published: Published | None = None  # published results in a board file


@dataclass(frozen=True)
class PushResult:
    """Result of a push."""

    label: str  # name and ID of the board
    is_new: bool  # True for a new board
    n_new: int  # uploads that the library did not have
    n_known: int  # uploads that it had
    replaced: tuple[str, ...]  # files that were replaced


def read_files_to_push(
    paths: NamedPaths, qrels: Path | None, columns: Mapping[str, str], repeated: Repeated | None
) -> FilesToPush:
    """Read runs and judgments, or one board file."""
    files = [Path(path) for _, path in with_names(paths)]
    if any(is_board(File(path.name, path)) for path in files):
        if len(files) > 1 or qrels or columns or repeated:
            raise UsageError(
                "A board file contains a complete board. Push it alone, without --qrels and --column."
            )
        imported = load(File.open(files[0]))
        board = imported.board
        return FilesToPush(board.spec, board.sources, imported.view, imported.name, imported.published)
    entries, sources = read_files(paths, qrels, columns)
    pairs = {pair for source in sources for pair in source.mapping.items()}
    if unused := [theirs for ours, theirs in columns.items() if theirs and (ours, theirs) not in pairs]:
        raise UsageError(f"No file has the chosen columns: {', '.join(unused)}.")
    return FilesToPush(BoardSpec(entries, repeated or "error"), sources)


def push(
    library: Library,
    pushed: FilesToPush,
    name: str = "",
    owner: str = "",
    *,
    repeated: Repeated | None = None,
    note: str = "",
) -> PushResult:
    """Put files on the board of a name, ID or label, or on a new board.

    A file replaces one of the same name. The note applies to each upload.
    """
    name = name or pushed.name
    pushed = replace(pushed, spec=library.adopted(pushed.spec))
    before = {upload.sha256 for upload in library.uploads(owner)}
    replaced: tuple[str, ...] = ()
    for tries_left in reversed(range(_TRIES)):
        listing = find_board(library, name, owner) if name else None
        try:
            if listing is None:
                board = make_board(pushed.spec, pushed.sources)
                record = library.keep(board, owner, name=name, view=pushed.view, single=bool(name))
            else:
                record, replaced = _join(library, library.find(listing.id, owner), pushed, owner, repeated)
            break
        except LibraryError:
            if not tries_left or not name or find_board(library, name, owner) == listing:
                raise
    names = {file.name for file in _files(pushed.spec)}
    sha256s = {file.sha256 for file in _files(record.spec) if file.name in names}
    for sha256 in sha256s if note else ():
        library.describe(sha256, note, owner)
    if pushed.published:
        library.publish(record.id, pushed.published, owner)
    return PushResult(record.label, listing is None, len(sha256s - before), len(sha256s & before), replaced)


def _files(spec: BoardSpec) -> list[File]:
    return [entry.file for entry in spec.entries]


def _join(
    library: Library, record: Record, pushed: FilesToPush, owner: str, repeated: Repeated | None
) -> tuple[Record, tuple[str, ...]]:
    """Put files on a board; return the board and the replaced file names."""
    before = {entry.file.name: entry.digest for entry in record.spec.entries}
    spec = record.spec.with_files(pushed.spec)
    spec = replace(spec, repeated=repeated or record.spec.repeated)
    changed = [entry for entry in pushed.spec.entries if before.get(entry.file.name) != entry.digest]
    if spec.repeated == record.spec.repeated and not changed:
        return record, ()
    known_sources = dict(zip((entry.key for entry in pushed.spec.entries), pushed.sources, strict=True))
    sources = [known_sources.get(entry.key) or entry.read() for entry in spec.entries]
    board = keep_arrangement(make_board(spec, sources), record.spec)
    replaced = tuple(entry.file.name for entry in changed if entry.file.name in before)
    return library.revise(record.id, record.version, board, owner), replaced


# pull

QRELS = "qrels"
"""Name of the judgments file, without suffix."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
_LONGEST = 150
_PARQUET_HINT = "Pull the board as Parquet."

Write = Callable[[IO[bytes]], object]
"""Writes one file."""


def pull(
    record: Record, folder: Path, form: str, *, force: bool, published: Published | None = None
) -> list[Path]:
    """Write a board into a folder; return the files.

    `parquet` gives a table for each upload with runs, and the judgments, with our column names and without
    repeated rows; `trec` a run for each reranker, and qrels; `tiescope` a board file with published results.
    """
    writers: dict[str, Write]
    if form == "tiescope":
        (name,) = safe_names([record.name])
        writers = {f"{name}{ENDING}": partial(export, record, published=published)}
    else:
        board = make_board(record.spec, [entry.read() for entry in record.spec.entries])
        writers = _parquet_writers(board) if form == "parquet" else _trec_writers(board)
    paths = {folder / name: write for name, write in writers.items()}
    if not force and (existing := [path for path in paths if os.path.lexists(path)]):
        raise UsageError(f"{existing[0]} already exists. Choose another folder, or overwrite it with --force.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UsageError(f"{folder}: this is a file. Choose a folder.") from error
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror or error}).") from error
    for path, write in paths.items():
        with whole_file(path) as stream:
            write(stream)
    return list(paths)


def safe_names(names: Iterable[str]) -> list[str]:
    """Return unique file names that are valid on every system and ignore case."""
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


def _parquet_writers(board: Board) -> dict[str, Write]:
    """Return file name → writer of a Parquet; a file with a single reranker has its name."""
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other commands need not pay

    stems, tables = [], []
    for source in board.sources:
        names = [name for name, where in board.runs.origins.items() if where.key is source.origin.key]
        if names:
            stems.append(names[0] if len(names) == 1 else File(source.file, b"").stem)
            tables.append(_with_names({name: board.runs.tables[name] for name in names}))
    files = {f"{stem}.parquet": table for stem, table in zip(safe_names(stems), tables, strict=True)}
    if board.runs.qrels is not None:
        files[f"{QRELS}.parquet"] = board.runs.qrels
    return {
        name: partial(parquet.write_table, subtopic_rows(table), compression="zstd")
        for name, table in files.items()
    }


def _with_names(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the rows of some rerankers with a reranker column."""
    named_tables = []
    for name, table in tables.items():
        column = pa.DictionaryArray.from_arrays(pa.repeat(0, len(table)), pa.array([name]))
        named_tables.append(table.add_column(0, COLUMNS[0].name, column))
    return pa.concat_tables(named_tables).unify_dictionaries()


def _trec_writers(board: Board) -> dict[str, Write]:
    """Return file name → writer of a TREC run or qrels."""
    tables = board.runs.tables
    lines = {
        f"{stem}.trec": _run_lines(name, tables[name])
        for stem, name in zip(safe_names(tables), tables, strict=True)
    }
    lines[f"{QRELS}.txt"] = _qrels_lines(board)
    return {name: methodcaller("writelines", map(str.encode, of_file)) for name, of_file in lines.items()}


def _run_lines(name: str, table: pa.Table) -> list[str]:
    """Return lines `query Q0 document rank score name` with the shortest exact scores."""
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
            raise UsageError(
                "Judgments differ between rerankers. A qrels file holds one set of judgments for all "
                f"rerankers, so exporting qrels would change the scores. {_PARQUET_HINT}"
            )
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
    """Return the judgments in one reranker's rows, sorted."""
    table = subtopic_rows(table)
    texts = [name for name in ("query_id", "doc_id", "subtopic") if name in table.column_names]
    columns = {name: table[name].cast(pa.string()) for name in texts}
    judged = pa.table({**columns, "relevance": table["relevance"]})
    return judged.sort_by([(name, "ascending") for name in texts])


def _rows(table: pa.Table, value: str) -> Iterator[tuple[str, str, float]]:
    """Yield query, document and value of each row; UsageError for IDs that TREC files cannot express."""
    queries, documents = (table[name].cast(pa.string()).to_pylist() for name in ("query_id", "doc_id"))
    _refuse_spaces(dict.fromkeys(queries), "query", odd="#[{")
    _refuse_spaces(dict.fromkeys(documents), "document")
    return zip(queries, documents, table[value].to_pylist(), strict=True)


def _refuse_spaces(names: Iterable[str], kind: str, odd: str = "") -> None:
    """Raise a UsageError for names that are not one word or start with a special character."""
    for name in names:
        if name.split() != [name] or name[0] in odd or "\0" in name or "\ufeff" in name:
            hint = f"TREC files do not support such names. {_PARQUET_HINT}"
            raise UsageError(f"There is a {kind} called {clean(name)!r}. {hint}")
