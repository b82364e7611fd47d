"""SQL rows of uploads and boards, within a caller's transaction."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec, Entry, clean, default_name
from dashboard.library.records import Access, BoardListing, Record, Upload
from dashboard.library.schema import board_files, boards, is_restorable, now, shelves, uploads
from dashboard.library.uploads import Profile, Reading, UploadFolder
from metrics.errors import LibraryError

LISTING_COLUMNS = [boards.c[name] for name in BoardListing.__dataclass_fields__]
"""Columns of a board in a list."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"

# uploads


def select_uploads(owner: str, *, deleted: bool = False) -> sa.Select[Any]:
    """Select an owner's uploads, newest first, or those deleted that can be restored."""
    gone = is_restorable(shelves.c.deleted) if deleted else shelves.c.deleted.is_(None)
    own = [shelves.c[name] for name in ("name", "note", "pinned", "added")]
    theirs = [column for column in uploads.c if column.name != "added"]
    joined = sa.select(*theirs, *own).join(shelves, shelves.c.sha256 == uploads.c.sha256)
    return joined.where(shelves.c.owner == owner, gone).order_by(shelves.c.added.desc(), shelves.c.name)


Uses = Sequence[sa.RowMapping]
"""How an owner's boards read an upload, latest change first: columns, reading, and the board."""


def uses_of(connection: sa.Connection, owner: str) -> Mapping[str, Uses]:
    """Return upload → its uses on the owner's boards, including deleted boards."""
    of_file = (board_files.c.sha256, board_files.c.columns, board_files.c.reading)
    query = (
        sa.select(*of_file, boards.c.id, boards.c.name, boards.c.deleted)
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner)
        .order_by(boards.c.changed.desc(), boards.c.id, board_files.c.position)
    )
    uses: dict[str, list[sa.RowMapping]] = {}
    for row in connection.execute(query).mappings():
        uses.setdefault(row["sha256"], []).append(row)
    return uses


def read_upload(row: sa.RowMapping, uses: Uses) -> Upload:
    """Return a row of `select_uploads` as an upload, read as its owner did last."""
    fields = {name: row[name] for name in Upload.__dataclass_fields__ if name in row}
    plain = uses[0]["reading"] if uses else row["reading"]
    fields["reading"] = Reading(plain["format"], plain["mapping"])
    if uses:
        fields["kind"] = fields["reading"].kind
    fields["profile"] = Profile(**dict(row["profile"], bars=tuple(row["profile"]["bars"])))
    return Upload(**fields, boards=tuple((use["id"], use["name"]) for use in uses if use["deleted"] is None))


def read_entry(folder: UploadFolder, row: sa.RowMapping, uses: Uses) -> Entry:
    """Return a row of `select_uploads` as an entry of a board, read as its owner did last."""
    return _entry(folder, row, uses[0]["columns"] if uses else row["reading"]["columns"])


def _entry(folder: UploadFolder, row: sa.RowMapping, columns: Iterable[Sequence[str]]) -> Entry:
    """Return an upload and its chosen columns."""
    file = folder.stored_file(row["sha256"], row["name"], row["size"], row["ending"])
    return Entry(file, tuple((ours, theirs) for ours, theirs in columns))


# boards


def read_record(connection: sa.Connection, folder: UploadFolder, board_id: str, owner: str) -> Record:
    """Return a board that this visitor may open."""
    alive = (boards.c.id == clean(board_id)) & boards.c.deleted.is_(None)
    row = connection.execute(sa.select(boards).where(alive)).mappings().first()
    if row is None or not (listing := BoardListing(*(row[key] for key in LISTING_COLUMNS))).may_see(owner):
        raise LibraryError("The library has no such board, or it is not shared with you.")
    query = (
        sa.select(board_files, uploads.c.size, uploads.c.ending)
        .join(uploads, uploads.c.sha256 == board_files.c.sha256)
        .where(board_files.c.board_id == row["id"])
        .order_by(board_files.c.position)
    )
    files = connection.execute(query).mappings()
    entries = tuple(_entry(folder, file, file["columns"]) for file in files)
    names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
    return Record(**vars(listing), spec=BoardSpec(entries, row["repeated"], names), view=row["view"])


def board_values(board: Board) -> dict[str, Any]:
    """Return the columns of `boards` that describe its content."""
    spec = board.spec
    names = None if spec.names is None else [list(pair) for pair in spec.names]
    counts = {"runs": len(board.runs.tables), "queries": board.n_queries}
    return {"digest": spec.key, "repeated": spec.repeated, "names": names, **counts}


def new_id() -> str:
    """Return a random ID of 60 bits without ambiguous letters."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def insert_board(
    connection: sa.Connection, board: Board, owner: str, *, name: str, access: Access, view: dict[str, Any]
) -> str:
    """Insert a board and its files; return its ID."""
    board_id = new_id()
    values = {
        "id": board_id,
        "owner": owner,
        "access": access,
        "name": name or default_name(board),
        "named": bool(name),
        "view": view,
        "version": 1,
        "created": now(),
        "changed": now(),
    }
    connection.execute(boards.insert().values(**values, **board_values(board)))
    write_files(connection, board_id, board)
    return board_id


def write_files(connection: sa.Connection, board_id: str, board: Board) -> None:
    """Insert the files of a board."""
    rows = [
        {
            "board_id": board_id,
            "position": position,
            "sha256": entry.file.sha256,
            "name": entry.file.name,
            "columns": [list(pair) for pair in entry.columns],
            "reading": asdict(Reading.of(source)),
        }
        for position, (entry, source) in enumerate(zip(board.spec.entries, board.sources, strict=True))
    ]
    connection.execute(board_files.insert(), rows)
