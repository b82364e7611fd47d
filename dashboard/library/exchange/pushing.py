"""Runs from the command line onto a board of the library. No streamlit inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard.library.boards import BoardSpec, keep_arrangement, make_board, read_files
from dashboard.library.exchange.board_file import is_board, load
from dashboard.library.exchange.contents import View
from dashboard.library.exchange.listing import find_board
from dashboard.library.names import storable
from dashboard.library.storage.records import BoardListing, Record
from dashboard.library.store import Library
from metrics.errors import LibraryError, UsageError
from metrics.runs import File, Repeated, Source

_TRIES = 5
"""Times a board is changed again that somebody else changed meanwhile."""


@dataclass(frozen=True)
class Given:
    """What is to be on a board.

    Attributes:
        spec: files and how they are read.
        sources: what each holds.
        view: what a new board is opened with.
        name: what a board file says the board is called.
    """

    spec: BoardSpec
    sources: tuple[Source, ...]
    view: View
    name: str = ""


@dataclass(frozen=True)
class Pushed:
    """What came of it.

    Attributes:
        label: name and number of the board.
        made: whether it is new.
        new: uploads the library did not have.
        known: uploads it had.
        replaced: files that took another's place.
    """

    label: str
    made: bool
    new: int
    known: int
    replaced: tuple[str, ...]


def read_files_to_push(
    paths: Sequence[Path], qrels: Path | None, columns: Mapping[str, str], repeated: Repeated | None
) -> Given:
    """Runs and judgments, or one board file.

    Args:
        paths: runs, or the board file alone.
        qrels: judgments.
        columns: our column → the files', where they have it.
        repeated: what is done about a document twice in one list; None: refused, or as the board says.

    Raises:
        TieScopeError: a file cannot be read, or a choice concerns none.
    """
    if any(is_board(File(path.name, path)) for path in paths):
        if len(paths) > 1 or qrels or columns or repeated:
            raise UsageError("A board file holds all of a board: give it alone, without --qrels and --column.")
        board = load(File.open(paths[0]))
        return Given(board.board.spec, board.board.sources, board.view, board.name)
    entries, sources = read_files(paths, qrels, columns)
    used = {(ours, theirs) for source in sources for ours, theirs in source.mapping.items()}
    if unused := [theirs for ours, theirs in columns.items() if theirs and (ours, theirs) not in used]:
        raise UsageError(f"No file has the columns chosen: {', '.join(unused)}.")
    return Given(BoardSpec(entries, repeated or "error"), sources, {})


def push(
    library: Library,
    given: Given,
    name: str = "",
    owner: str = "",
    *,
    repeated: Repeated | None = None,
    note: str = "",
) -> Pushed:
    """Put files on the board of a name; on a new one where there is none.

    Args:
        library: where to keep them.
        given: the files; one of a name that is there takes its place.
        name: of the board, its number or its label; "" for a board file: as that says.
        owner: whose it is.
        repeated: what the board does about a document twice in one list; None: as it does.
        note: what is said of each upload.

    Raises:
        TieScopeError: they do not go together, or cannot be kept.
    """
    name = name or given.name
    spec, sources = storable(given.spec, given.sources)
    given = replace(given, spec=library.recognised(spec, owner), sources=sources)
    before = {one.sha256 for one in library.uploads(owner)}
    replaced: tuple[str, ...] = ()
    for left in reversed(range(_TRIES)):
        there = find_board(library, name, owner) if name else None
        try:
            if there is None:
                record = _made(library, given, name, owner)
            else:
                record, replaced = _joined(library, library.find(there.id, owner), given, owner, repeated)
            break
        except LibraryError:
            if not left or not _is_changed(library, name, owner, there):
                raise
    names = {file.name for file in _files(given.spec)}
    pushed = {file.sha256 for file in _files(record.spec) if file.name in names}
    for sha256 in pushed if note else ():
        library.describe(sha256, note, owner)
    return Pushed(record.label, there is None, len(pushed - before), len(pushed & before), replaced)


def _files(spec: BoardSpec) -> list[File]:
    return [entry.file for entry in spec.entries]


def _made(library: Library, given: Given, name: str, owner: str) -> Record:
    board = make_board(given.spec, given.sources)
    return library.keep(board, owner, name=name, view=given.view, single=bool(name))


def _joined(
    library: Library, record: Record, given: Given, owner: str, repeated: Repeated | None
) -> tuple[Record, tuple[str, ...]]:
    """The board with the files given, and the names of those that took another's place."""
    there = {entry.file.name: entry.digest for entry in record.spec.entries}
    spec = record.spec.with_files(given.spec)
    spec = replace(spec, repeated=repeated or record.spec.repeated)
    if spec.repeated == record.spec.repeated and all(
        there.get(entry.file.name) == entry.digest for entry in given.spec.entries
    ):
        return record, ()
    read_already = dict(zip((entry.key for entry in given.spec.entries), given.sources, strict=True))
    sources = [read_already.get(entry.key) or entry.read() for entry in spec.entries]
    board = keep_arrangement(make_board(spec, sources), record.spec)
    changed = [
        entry.file.name
        for entry in given.spec.entries
        if there.get(entry.file.name, entry.digest) != entry.digest
    ]
    return library.revise(record.id, record.version, board, owner), tuple(changed)


def _is_changed(library: Library, name: str, owner: str, there: BoardListing | None) -> bool:
    return bool(name) and find_board(library, name, owner) != there
