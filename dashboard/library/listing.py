"""Boards of the library as a table, and lookup by name, label or ID."""

from datetime import UTC
from pathlib import Path

import pandas as pd

from dashboard.library.boards import board_name, make_board
from dashboard.library.records import BoardListing, Record, id_of
from dashboard.library.store import Library
from metrics.errors import TieScopeError, UsageError
from metrics.runs import File, read
from metrics.support.escaping import clean
from metrics.support.wording import count_of

_MOST_NAMES = 5


def boards_table(library: Library, owner: str, *, for_people: bool) -> pd.DataFrame:
    """Return the owner's boards, latest change first: name, id, runs, queries, files, changed, access.

    For people, names are on one line and times short. Runs and queries are missing if an earlier version did
    not store them and a file cannot be read.
    """
    rows = []
    for board in library.boards(owner):
        record = library.find(board.id, owner)
        changed = board.changed.replace(tzinfo=UTC).astimezone()
        rows.append(
            {
                "name": clean(board.name) if for_people else board.name,
                "id": board.id,
                **dict(zip(("runs", "queries"), _counts(record), strict=True)),
                "files": len(record.spec.entries),
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
        f"{count_of(len(paths), 'file')} in {paths[0].parents[1]} that this database does not know. "
        "Names and owners are in the database alone. Keep a file again with: tiescope push FILE --board NAME. "
        "NAME=FILE calls it so, --qrels FILE gives the judgments."
    )
    return "\n".join([heading, *map(_describe_file, paths)])


def _describe_file(path: Path) -> str:
    """Return path, size, rows and columns of an upload."""
    size = f"{path}: {path.stat().st_size:,} bytes"
    try:
        source = read(File.open(path))
    except TieScopeError:
        return f"{size}, which cannot be read by themselves"
    return f"{size}, {count_of(len(source.table), 'row')}: {', '.join(source.header)}"


def find_board(library: Library, name: str, owner: str) -> BoardListing | None:
    """Return the board with this ID, name or label, None if there is none.

    Raises:
        UsageError: several boards have the name.
    """
    own = library.boards(owner)
    matches = (
        [board for board in own if board.id == name]
        or [board for board in own if board.name == board_name(name)]
        or [board for board in own if board.id == id_of(name)]
    )
    if len(matches) > 1:
        ids = ", ".join(board.id for board in matches)
        raise UsageError(f"{len(matches)} boards are called {name!r}. Say which by its id: {ids}.")
    return matches[0] if matches else library.look(id_of(name), owner)


def require_board(library: Library, name: str, owner: str) -> BoardListing:
    """Return the board with this ID, name or label.

    Raises:
        UsageError: there is no such board, or several have the name.
    """
    board = find_board(library, name, owner)
    if board is None:
        names = [repr(listing.name) for listing in library.boards(owner)]
        board_list = f"Boards: {', '.join(names[:_MOST_NAMES])}" if names else "There is none"
        raise UsageError(f"There is no board {name!r}. {board_list}{' ...' * (len(names) > _MOST_NAMES)}.")
    return board


def _counts(record: Record) -> tuple[int | None, int | None]:
    """Return runs and queries of a board, counted if an earlier version did not store them."""
    if record.runs is not None:
        return record.runs, record.queries
    try:
        board = make_board(record.spec, [entry.read() for entry in record.spec.entries])
    except TieScopeError:
        return None, None
    return len(board.runs.tables), board.n_queries
