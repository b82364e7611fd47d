"""Adding runs from the command line to a board of the library."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard.library.board_file import View, is_board, load
from dashboard.library.boards import (
    BoardSpec,
    NamedPaths,
    keep_arrangement,
    make_board,
    read_files,
    storable,
)
from dashboard.library.listing import find_board
from dashboard.library.loaded import Published
from dashboard.library.records import Record
from dashboard.library.store import Library
from metrics.errors import LibraryError, UsageError
from metrics.runs import File, Repeated, Source, with_names

_TRIES = 5
"""Attempts if somebody else changes the board."""


@dataclass(frozen=True)
class FilesToPush:
    """Files to put on a board.

    Attributes:
        spec: files and how they are read.
        sources: content of each file.
        view: settings of a new board; None for defaults.
        name: name in a board file.
        published: published results in a board file.
    """

    spec: BoardSpec
    sources: tuple[Source, ...]
    view: View | None = None
    name: str = ""
    published: Published | None = None


@dataclass(frozen=True)
class PushResult:
    """Result of a push.

    Attributes:
        label: name and ID of the board.
        is_new: True for a new board.
        n_new: uploads that the library did not have.
        n_known: uploads that it had.
        replaced: files that were replaced.
    """

    label: str
    is_new: bool
    n_new: int
    n_known: int
    replaced: tuple[str, ...]


def read_files_to_push(
    paths: NamedPaths, qrels: Path | None, columns: Mapping[str, str], repeated: Repeated | None
) -> FilesToPush:
    """Read runs and judgments, or one board file.

    Raises:
        TieScopeError: a file cannot be read, or a column does not exist.
    """
    files = [Path(path) for _, path in with_names(paths)]
    if any(is_board(File(path.name, path)) for path in files):
        if len(files) > 1 or qrels or columns or repeated:
            raise UsageError("A board file holds all of a board: give it alone, without --qrels and --column.")
        imported = load(File.open(files[0]))
        board = imported.board
        return FilesToPush(board.spec, board.sources, imported.view, imported.name, imported.published)
    entries, sources = read_files(paths, qrels, columns)
    pairs = {pair for source in sources for pair in source.mapping.items()}
    if unused := [theirs for ours, theirs in columns.items() if theirs and (ours, theirs) not in pairs]:
        raise UsageError(f"No file has the columns chosen: {', '.join(unused)}.")
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

    Raises:
        TieScopeError: the files do not match or cannot be stored.
    """
    name = name or pushed.name
    spec, sources = storable(library.adopted(pushed.spec), pushed.sources)
    pushed = replace(pushed, spec=spec, sources=sources)
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
