"""Rows of the library's tables, read and written within somebody's transaction."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from dashboard.library.boards import Board, Entry, Recipe
from dashboard.library.kept import Kept, Profile, Reading
from dashboard.library.parquets import Parquets
from dashboard.library.records import Listed, Record, Upload
from dashboard.library.schema import board_files, boards, shelves, uploads
from metrics.errors import LibraryError
from metrics.runs import Source

LISTED = [boards.c[name] for name in Listed.__dataclass_fields__]
"""Columns of a board in a list."""
_LONGEST = 1000


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def clean(text: str) -> str:
    """A user's text as any database can hold it."""
    plain = text.encode("utf-8", "replace").decode().replace("\0", "").strip()
    return plain[:_LONGEST]


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
        .where(board_files.c.board_id == board_id)
        .order_by(board_files.c.position)
    )
    entries = tuple(
        Entry(
            parquets.kept(one.sha256, one.name, one.size, Reading.loaded(one.reading), one.kept_sha256),
            tuple((ours, theirs) for ours, theirs in one.columns),
        )
        for one in connection.execute(asked)
    )
    names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
    return Record(**vars(listed), recipe=Recipe(entries, row["repeated"], names), view=row["view"])


def _listed(row: sa.RowMapping) -> Listed:
    return Listed(**{name: row[name] for name in Listed.__dataclass_fields__})


def content(recipe: Recipe) -> dict[str, Any]:
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
            "name": clean(entry.file.name),
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
    if not connection.execute(shelves.update().where(mine).values(name=clean(name), deleted=None)).rowcount:
        row = {
            "owner": owner,
            "sha256": sha256,
            "name": clean(name),
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


def upload(row: sa.RowMapping, where: Iterable[tuple[str, str]]) -> Upload:
    """An upload, from its row of `uploads` joined with one of `shelves`."""
    found = {name: row[name] for name in Upload.__dataclass_fields__ if name in row}
    found["reading"] = Reading.loaded(row["reading"])
    found["profile"] = Profile(**dict(row["profile"], bars=tuple(row["profile"]["bars"])))
    return Upload(**found, boards=tuple(where))


def kept(parquets: Parquets, row: sa.RowMapping) -> Kept:
    """An upload as a file to be read."""
    reading = Reading.loaded(row["reading"])
    return parquets.kept(row["sha256"], row["name"], row["size"], reading, row["kept_sha256"])
