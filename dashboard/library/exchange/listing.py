"""Boards of the library as a table, and found by what a person calls them. No streamlit inside."""

from datetime import UTC
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dashboard.library.boards import BoardSpec
from dashboard.library.names import board_name
from dashboard.library.storage.records import BoardListing, id_of
from dashboard.library.storage.stored_upload import StoredUpload
from dashboard.library.store import Library
from metrics.errors import LibraryError, UsageError
from metrics.support.escaping import clean
from metrics.support.wording import count_of

_MOST_NAMES = 5


def boards_table(library: Library, owner: str, *, for_people: bool) -> pd.DataFrame:
    """Return somebody's boards, the one changed last first.

    Args:
        library: where they are.
        owner: whose.
        for_people: whether names are on one line and times short; else they are exact.

    Returns:
        columns name, id, runs, queries, files, changed (local time) and access; runs and queries are left out
        where a file cannot be read.
    """
    rows = []
    for board in library.boards(owner):
        spec = library.find(board.id, owner).spec
        changed = board.changed.replace(tzinfo=UTC).astimezone()
        rows.append(
            {
                "name": clean(board.name) if for_people else board.name,
                "id": board.id,
                **dict(zip(("runs", "queries"), _counts(spec), strict=True)),
                "files": len(spec.entries),
                "changed": f"{changed:%Y-%m-%d %H:%M}" if for_people else changed.isoformat(timespec="seconds"),
                "access": board.access,
            }
        )
    table = pd.DataFrame(rows, columns=["name", "id", "runs", "queries", "files", "changed", "access"])
    return table.astype({"runs": "Int64", "queries": "Int64", "files": "Int64"})


def describe_unknown_files(library: Library) -> str:
    """Return what is to be said of uploads that the database does not know; "" where there are none."""
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
    """Return path, size, rows and columns of a Parquet, as far as it can be read."""
    from pyarrow import parquet  # noqa: PLC0415 as below

    size = f"{path}: {path.stat().st_size:,} bytes"
    try:
        footer = parquet.read_metadata(path)
    except (OSError, pa.ArrowException):
        return f"{size}, damaged"
    return f"{size}, {count_of(footer.num_rows, 'row')}: {', '.join(footer.schema.names)}"


def find_board(library: Library, name: str, owner: str) -> BoardListing | None:
    """Return the board of an id, name or label; None where there is none.

    Args:
        library: where to look.
        name: id, name or label.
        owner: who asks.

    Raises:
        UsageError: several have the name.
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
    """Return the board of an id, name or label.

    Args:
        library: where to look.
        name: id, name or label.
        owner: who asks.

    Raises:
        UsageError: there is none, or several have the name.
    """
    board = find_board(library, name, owner)
    if board is None:
        names = [repr(listing.name) for listing in library.boards(owner)]
        board_list = f"Boards: {', '.join(names[:_MOST_NAMES])}" if names else "There is none"
        raise UsageError(f"There is no board {name!r}. {board_list}{' ...' * (len(names) > _MOST_NAMES)}.")
    return board


def _counts(spec: BoardSpec) -> tuple[int | None, int | None]:
    """Return the runs of a board, and the queries of its judgments, else of all its runs, by their columns."""
    files = [entry.file for entry in spec.entries if isinstance(entry.file, StoredUpload)]
    try:
        runs = [_lists(file) for file in files if "score" in file.reading.mapping]
        judged = [_lists(file)["query_id"] for file in files if "score" not in file.reading.mapping]
    except (LibraryError, OSError, pa.ArrowException):
        return None, None
    n_runs = sum(len(pc.unique(lists["reranker"])) for lists in runs)
    queries = judged or [_of_rerankers(lists, spec)["query_id"] for lists in runs]
    n_queries = len(pc.unique(pa.chunked_array([chunk for column in queries for chunk in column.chunks])))
    return len({now for _, now in spec.names}) if spec.names else n_runs, n_queries


def _of_rerankers(lists: pa.Table, spec: BoardSpec) -> pa.Table:
    """Return the lists of those rerankers that a board has."""
    if not spec.names:
        return lists
    return lists.filter(pc.is_in(lists["reranker"], pa.array([before for before, _ in spec.names])))


def _lists(file: StoredUpload) -> pa.Table:
    """Return the reranker and query of each list of a file."""
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other commands need not pay

    mapping = file.reading.mapping
    names = {ours: mapping[ours] for ours in ("reranker", "query_id") if ours in mapping}
    file.verify()
    with file.open_parquet() as stream, parquet.ParquetFile(stream) as table:
        read = table.read(list(names.values()))
    columns = {ours: read[theirs].cast(pa.string()) for ours, theirs in names.items()}
    columns.setdefault("reranker", pa.array([file.stem] * len(read), pa.string()))
    return pa.table(columns).group_by(["reranker", "query_id"]).aggregate([])
