"""Runs from the command line onto a board of the library. No streamlit inside."""

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
"""Times a board is changed again that somebody else changed meanwhile."""


@dataclass(frozen=True)
class FilesToPush:
    """Files that are to be on a board.

    Attributes:
        spec: files and how they are read.
        sources: what each holds.
        view: what a new board is opened with; None: what its files say.
        name: what a board file says the board is called.
        published: results that it is audited against, by a board file.
    """

    spec: BoardSpec
    sources: tuple[Source, ...]
    view: View | None = None
    name: str = ""
    published: Published | None = None


@dataclass(frozen=True)
class PushResult:
    """What became of a push.

    Attributes:
        label: name and number of the board.
        is_new: whether the board is new.
        n_new: uploads the library did not have.
        n_known: uploads it had.
        replaced: files that took another's place.
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
        TieScopeError: a file cannot be read, or a choice concerns none.
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
    """Put files on the board of a name, number or label; on a new one where there is none.

    A file of a name that is there takes its place. The note is of each upload.

    Raises:
        TieScopeError: they do not go together, or cannot be kept.
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
    """Put files on a board; return the board, and the names of those that took another's place."""
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
