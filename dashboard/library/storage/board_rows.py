"""Rows of boards and their files, read and written within somebody's transaction."""

import secrets
from typing import Any

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec, default_name
from dashboard.library.entry import Entry
from dashboard.library.names import clean
from dashboard.library.storage.parquets import Parquets
from dashboard.library.storage.records import Access, BoardListing, Record
from dashboard.library.storage.schema import board_files, boards, now, uploads
from dashboard.library.storage.stored_upload import Reading
from dashboard.library.storage.upload_rows import stored_columns
from metrics.errors import LibraryError

LISTING_COLUMNS = [boards.c[name] for name in BoardListing.__dataclass_fields__]
"""Columns of a board in a list."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def read_record(connection: sa.Connection, parquets: Parquets, board_id: str, owner: str) -> Record:
    """Return a board that this visitor may open.

    Args:
        connection: to read by.
        parquets: folder of its uploads.
        board_id: of the board, as a link says it.
        owner: who asks.

    Raises:
        LibraryError: there is none.
    """
    alive = (boards.c.id == clean(board_id)) & boards.c.deleted.is_(None)
    row = connection.execute(sa.select(boards).where(alive)).mappings().first()
    if row is None or not (listing := _board_listing(row)).may_see(owner):
        raise LibraryError("The library has no such board, or it is not shared with you.")
    query = (
        sa.select(board_files, uploads.c.size, uploads.c.kept_sha256)
        .join(uploads, uploads.c.sha256 == board_files.c.sha256)
        .where(board_files.c.board_id == row["id"])
        .order_by(board_files.c.position)
    )
    entries = tuple(
        Entry(
            parquets.stored_upload(
                one.sha256, one.name, one.size, Reading.from_json(one.reading), one.kept_sha256
            ),
            stored_columns(one.columns),
        )
        for one in connection.execute(query)
    )
    names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
    return Record(**vars(listing), spec=BoardSpec(tuple(entries), row["repeated"], names), view=row["view"])


def _board_listing(row: sa.RowMapping) -> BoardListing:
    return BoardListing(**{name: row[name] for name in BoardListing.__dataclass_fields__})


def spec_values(spec: BoardSpec) -> dict[str, Any]:
    """Return what a row of `boards` says of a spec."""
    names = None if spec.names is None else [list(pair) for pair in spec.names]
    return {"digest": spec.digest, "repeated": spec.repeated, "names": names}


def new_id() -> str:
    """Return sixty bits nobody can guess, in letters that cannot be mistaken."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def insert_board(
    connection: sa.Connection, board: Board, owner: str, *, name: str, access: Access, view: dict[str, Any]
) -> str:
    """Write a new board and its files; return its id.

    Args:
        connection: to write by.
        board: what it holds.
        owner: whose it is.
        name: what a person calls it; "" where nobody does.
        access: who else may open it.
        view: settings it is opened with.
    """
    values = {
        "id": new_id(),
        "owner": owner,
        "access": access,
        "name": name or default_name(board),
        "named": bool(name),
        "view": view,
        "version": 1,
        "created": now(),
        "changed": now(),
    }
    connection.execute(boards.insert().values(**values, **spec_values(board.spec)))
    write_files(connection, str(values["id"]), board)
    return str(values["id"])


def write_files(connection: sa.Connection, board_id: str, board: Board) -> None:
    """Write the files of a board, in order.

    Args:
        connection: to write by.
        board_id: of the board, which has none there.
        board: what it holds.
    """
    rows = [
        {
            "board_id": board_id,
            "position": position,
            "sha256": entry.file.sha256,
            "name": entry.file.name,
            "columns": [list(pair) for pair in entry.columns],
            "reading": Reading.of(source).to_json(),
        }
        for position, (entry, source) in enumerate(zip(board.spec.entries, board.sources, strict=True))
    ]
    connection.execute(board_files.insert(), rows)


def boards_of_name(name: str, owner: str) -> sa.Select[Any]:
    """Select the ids of somebody's boards that were given this name."""
    mine = (boards.c.owner == owner) & (boards.c.name == name)
    return sa.select(boards.c.id).where(mine, boards.c.named, boards.c.deleted.is_(None))


def unnamed_board(spec: BoardSpec, owner: str) -> sa.Select[Any]:
    """Select the id of somebody's board of the same spec that nobody gave a name."""
    own = (boards.c.owner == owner) & (boards.c.digest == spec.digest)
    return sa.select(boards.c.id).where(own, boards.c.named.is_(False), boards.c.deleted.is_(None))
