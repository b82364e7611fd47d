"""Rows of the library's tables, read and written within somebody's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec, Columns, Entry
from dashboard.library.names import clean
from dashboard.library.storage.parquets import Parquets
from dashboard.library.storage.records import Listed, Record, Upload
from dashboard.library.storage.schema import FORGOTTEN, board_files, boards, shelves, uploads
from dashboard.library.storage.stored_upload import Profile, Reading
from metrics.errors import LibraryError
from metrics.runs import Source

LISTED = [boards.c[name] for name in Listed.__dataclass_fields__]
"""Columns of a board in a list."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def is_deleted(column: sa.ColumnElement[datetime]) -> sa.ColumnElement[bool]:
    """Of the time something was deleted: whether it was, and can be brought back."""
    return column >= now() - FORGOTTEN


def record(connection: sa.Connection, parquets: Parquets, board_id: str, owner: str) -> Record:
    """A board that this visitor may open.

    Raises:
        LibraryError: there is none.
    """
    alive = (boards.c.id == clean(board_id)) & boards.c.deleted.is_(None)
    row = connection.execute(sa.select(boards).where(alive)).mappings().first()
    if row is None or not (listed := _listed(row)).may_see(owner):
        raise LibraryError("The library has no such board, or it is not shared with you.")
    asked = (
        sa.select(board_files, uploads.c.size, uploads.c.kept_sha256)
        .join(uploads, uploads.c.sha256 == board_files.c.sha256)
        .where(board_files.c.board_id == row["id"])
        .order_by(board_files.c.position)
    )
    entries = tuple(
        Entry(
            parquets.kept(one.sha256, one.name, one.size, Reading.loaded(one.reading), one.kept_sha256),
            _pairs(one.columns),
        )
        for one in connection.execute(asked)
    )
    names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
    return Record(**vars(listed), recipe=BoardSpec(entries, row["repeated"], names), view=row["view"])


def _listed(row: sa.RowMapping) -> Listed:
    return Listed(**{name: row[name] for name in Listed.__dataclass_fields__})


def _pairs(listed: Sequence[Sequence[str]]) -> Columns:
    return tuple((ours, theirs) for ours, theirs in listed)


def content(recipe: BoardSpec) -> dict[str, Any]:
    """What a row of `boards` says of a recipe."""
    names = None if recipe.names is None else [list(pair) for pair in recipe.names]
    return {"digest": recipe.digest, "repeated": recipe.repeated, "names": names}


def write_files(connection: sa.Connection, board_id: str, board: Board) -> None:
    """The files of a board, in order."""
    rows = [
        {
            "board_id": board_id,
            "position": at,
            "sha256": entry.file.sha256,
            "name": entry.file.name,
            "columns": [list(pair) for pair in entry.columns],
            "reading": Reading.of(source).plain(),
        }
        for at, (entry, source) in enumerate(zip(board.recipe.entries, board.sources, strict=True))
    ]
    connection.execute(board_files.insert(), rows)


def digests(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, str]:
    """sha256 of the Parquet of each of these uploads that is kept."""
    asked = sa.select(uploads.c.sha256, uploads.c.kept_sha256).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: row.kept_sha256 for row in connection.execute(asked)}


def readings(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, Reading]:
    """What each of these uploads was read as by whoever kept it first."""
    asked = sa.select(uploads.c.sha256, uploads.c.reading).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: Reading.loaded(row.reading) for row in connection.execute(asked)}


def upload_values(entry: Entry, source: Source) -> dict[str, Any]:
    """What a row of `uploads` says of a file, but for its Parquet."""
    return {
        "sha256": entry.file.sha256,
        "kind": source.kind,
        "rows": len(source.table),
        "size": entry.file.size,
        "reading": Reading.of(source).plain(),
        "profile": asdict(Profile.of(source)),
        "added": now(),
    }


def write_upload(connection: sa.Connection, values: dict[str, Any]) -> None:
    """Write down an upload, or where its Parquet was damaged, the new one."""
    parquet = {name: values[name] for name in ("kept_size", "kept_sha256")}
    mine = uploads.c.sha256 == values["sha256"]
    if not connection.execute(uploads.update().where(mine).values(**parquet)).rowcount:
        connection.execute(uploads.insert().values(**values))


def put(connection: sa.Connection, owner: str, sha256: str, name: str) -> None:
    """See to it that an upload is in somebody's library, by its newest name."""
    mine = (shelves.c.owner == owner) & (shelves.c.sha256 == sha256)
    if not connection.execute(shelves.update().where(mine).values(name=name, deleted=None)).rowcount:
        row = {
            "owner": owner,
            "sha256": sha256,
            "name": name,
            "note": "",
            "pinned": False,
            "added": now(),
        }
        connection.execute(shelves.insert().values(**row))


def mark(connection: sa.Connection, owner: str, sha256: str, **values: Any) -> None:  # noqa: ANN401 of many types
    """Change what is said of an upload in somebody's library.

    Raises:
        LibraryError: it is not there.
    """
    mine = (shelves.c.owner == owner) & (shelves.c.sha256 == sha256)
    if not connection.execute(shelves.update().where(mine).values(**values)).rowcount:
        raise LibraryError("This upload is no longer in the library.")


def used(connection: sa.Connection, owner: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Upload → somebody's boards that use it: number, and name."""
    asked = (
        sa.select(board_files.c.sha256, boards.c.id, boards.c.name)
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner, boards.c.deleted.is_(None))
        .order_by(boards.c.changed.desc())
    )
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for sha256, board_id, name in connection.execute(asked):
        found[sha256] = (*found.get(sha256, ()), (board_id, name))
    return found


def called(name: str, owner: str) -> sa.Select[tuple[str]]:
    """Of somebody's boards that were given this name, the number."""
    mine = (boards.c.owner == owner) & (boards.c.name == name)
    return sa.select(boards.c.id).where(mine, boards.c.named, boards.c.deleted.is_(None))


def using(sha256: str, owner: str) -> sa.ColumnElement[bool]:
    """Of boards: somebody's that use an upload."""
    ids = sa.select(board_files.c.board_id).where(board_files.c.sha256 == sha256)
    return boards.c.id.in_(ids) & (boards.c.owner == owner)


def shelf(owner: str, *, deleted: bool = False) -> sa.Select[Any]:
    """Somebody's uploads, the newest first; or those that were deleted and can be brought back."""
    gone = is_deleted(shelves.c.deleted) if deleted else shelves.c.deleted.is_(None)
    own = [shelves.c[name] for name in ("name", "note", "pinned", "added")]
    theirs = [column for column in uploads.c if column.name != "added"]
    joined = sa.select(*theirs, *own).join(shelves, shelves.c.sha256 == uploads.c.sha256)
    return joined.where(shelves.c.owner == owner, gone).order_by(shelves.c.added.desc(), shelves.c.name)


@dataclass(frozen=True)
class Use:
    """How somebody had an upload read.

    Attributes:
        columns: what they chose.
        reading: what it was read as.
    """

    columns: Columns
    reading: Reading


def uses(connection: sa.Connection, owner: str, sha256s: Iterable[str] | None = None) -> dict[str, Use]:
    """Upload → how it is read on the newest board of this owner that has it, a deleted one among them.

    Args:
        connection: to read by.
        owner: whose boards.
        sha256s: which uploads; all where None.
    """
    newest = sa.func.row_number().over(
        partition_by=board_files.c.sha256,
        order_by=(boards.c.changed.desc(), boards.c.id, board_files.c.position),
    )
    asked = (
        sa.select(board_files.c.sha256, board_files.c.board_id, board_files.c.position, newest.label("place"))
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner)
    )
    if sha256s is not None:
        asked = asked.where(board_files.c.sha256.in_(tuple(sha256s)))
    ordered = asked.subquery()
    same = (board_files.c.board_id == ordered.c.board_id) & (board_files.c.position == ordered.c.position)
    first = sa.select(board_files).join(ordered, same).where(ordered.c.place == 1)
    return {
        one.sha256: Use(_pairs(one.columns), Reading.loaded(one.reading)) for one in connection.execute(first)
    }


def upload(row: sa.RowMapping, use: Use | None, where: Iterable[tuple[str, str]]) -> Upload:
    """An upload, from its row of `shelf`, as its owner reads it."""
    found = {name: row[name] for name in Upload.__dataclass_fields__ if name in row}
    found["reading"] = use.reading if use else Reading.loaded(row["reading"])
    if use:
        found["kind"] = "run" if use.reading.amended(dict(use.columns))["score"] else "qrels"
    found["profile"] = Profile(**dict(row["profile"], bars=tuple(row["profile"]["bars"])))
    return Upload(**found, boards=tuple(where))


def entry(parquets: Parquets, row: sa.RowMapping, use: Use | None) -> Entry:
    """An upload as what a board can be made from, from its row of `shelf`: as its owner reads it."""
    if use is None:
        reading = Reading.loaded(row["reading"])
        use = Use(tuple(sorted(reading.mapping.items())), reading)
    file = parquets.kept(row["sha256"], row["name"], row["size"], use.reading, row["kept_sha256"])
    return Entry(file, use.columns)
