"""SQL rows of uploads and boards, within a caller's transaction."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec, Columns, Entry, clean, default_name
from dashboard.library.earlier import EarlierUpload
from dashboard.library.records import Access, BoardListing, Record, Upload
from dashboard.library.schema import (
    board_files,
    boards,
    is_restorable,
    now,
    released_files,
    shelves,
    uploads,
)
from dashboard.library.uploads import EARLIER, PendingFile, Profile, Reading, StoredFile, UploadFolder
from metrics.errors import LibraryError
from metrics.runs import Source

LISTING_COLUMNS = [boards.c[name] for name in BoardListing.__dataclass_fields__]
"""Columns of a board in a list."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"

# uploads


def is_on_shelf(owner: str, sha256: str) -> sa.ColumnElement[bool]:
    """Return the condition that a row of `shelves` is this owner's upload."""
    return (shelves.c.owner == owner) & (shelves.c.sha256 == sha256)


def endings(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, str]:
    """Return stored upload → suffix of its file."""
    query = sa.select(uploads.c.sha256, uploads.c.ending).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: row.ending for row in connection.execute(query)}


def write_upload(connection: sa.Connection, entry: Entry, source: Source, pending: PendingFile) -> None:
    """Insert an upload, or update it after its damaged file was replaced."""
    storage = {"kept_size": pending.size, "kept_sha256": "", "ending": pending.path.suffix}
    mine = uploads.c.sha256 == entry.file.sha256
    if not connection.execute(uploads.update().where(mine).values(**storage)).rowcount:
        values = {
            "sha256": entry.file.sha256,
            "kind": source.kind,
            "rows": len(source.table),
            "size": entry.file.size,
            "reading": {**asdict(Reading.of(source)), "columns": [list(pair) for pair in entry.columns]},
            "profile": asdict(Profile.of(source)),
            "added": now(),
        }
        connection.execute(uploads.insert().values(**values, **storage))
    forget_released(connection, entry.file.sha256)


def delete_uploads(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Delete uploads; the next sweep removes their files."""
    release_files(connection, connection.scalars(sa.select(uploads.c.sha256).where(condition)))
    connection.execute(uploads.delete().where(condition))


def release_files(connection: sa.Connection, sha256s: Iterable[str]) -> None:
    """Let the next sweep remove these files unless they are stored again."""
    let_go = set(sha256s)
    for sha256 in let_go & set(connection.scalars(sa.select(released_files.c.sha256))):
        forget_released(connection, sha256)
    if rows := [{"sha256": sha256, "released": now()} for sha256 in let_go]:
        connection.execute(released_files.insert(), rows)


def unneeded_files(connection: sa.Connection) -> list[tuple[str, datetime]]:
    """Return sha256 and time of released files that are not stored again."""
    is_kept = released_files.c.sha256.in_(sa.select(uploads.c.sha256))
    query = sa.select(released_files.c.sha256, released_files.c.released).where(~is_kept)
    return [(row.sha256, row.released) for row in connection.execute(query)]


def forget_released(connection: sa.Connection, sha256: str) -> None:
    """Clear the release of a file that was removed or stored again."""
    connection.execute(released_files.delete().where(released_files.c.sha256 == sha256))


def known_files(connection: sa.Connection) -> set[str]:
    """Return the sha256 of all stored and released uploads."""
    return set(connection.scalars(sa.union(sa.select(uploads.c.sha256), sa.select(released_files.c.sha256))))


def add_to_shelf(connection: sa.Connection, owner: str, sha256: str, name: str) -> None:
    """Add an upload to an owner's library under its latest name."""
    shelf = shelves.update().where(is_on_shelf(owner, sha256))
    if not connection.execute(shelf.values(name=name, deleted=None)).rowcount:
        row = {"owner": owner, "sha256": sha256, "name": name, "note": "", "pinned": False, "added": now()}
        connection.execute(shelves.insert().values(**row))


def update_shelf(connection: sa.Connection, owner: str, sha256: str, **values: Any) -> None:  # noqa: ANN401 of many types
    """Update an upload in an owner's library."""
    if not connection.execute(shelves.update().where(is_on_shelf(owner, sha256)).values(**values)).rowcount:
        raise LibraryError("This upload was removed from the library.")


def boards_by_upload(connection: sa.Connection, owner: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return upload → ID and name of the owner's boards that use it, latest change first."""
    query = (
        sa.select(board_files.c.sha256, boards.c.id, boards.c.name)
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner, boards.c.deleted.is_(None))
        .order_by(boards.c.changed.desc())
    )
    boards_of: dict[str, tuple[tuple[str, str], ...]] = {}
    for sha256, board_id, name in connection.execute(query):
        boards_of[sha256] = (*boards_of.get(sha256, ()), (board_id, name))
    return boards_of


def uses_upload(sha256: str, owner: str) -> sa.ColumnElement[bool]:
    """Return the condition that a board belongs to this owner and uses an upload."""
    ids = sa.select(board_files.c.board_id).where(board_files.c.sha256 == sha256)
    return boards.c.id.in_(ids) & (boards.c.owner == owner)


def select_uploads(owner: str, *, deleted: bool = False) -> sa.Select[Any]:
    """Select an owner's uploads, newest first, or those deleted that can be restored."""
    gone = is_restorable(shelves.c.deleted) if deleted else shelves.c.deleted.is_(None)
    own = [shelves.c[name] for name in ("name", "note", "pinned", "added")]
    theirs = [column for column in uploads.c if column.name != "added"]
    joined = sa.select(*theirs, *own).join(shelves, shelves.c.sha256 == uploads.c.sha256)
    return joined.where(shelves.c.owner == owner, gone).order_by(shelves.c.added.desc(), shelves.c.name)


@dataclass(frozen=True)
class Use:
    """How an owner read an upload."""

    columns: Columns  # chosen columns
    reading: Mapping[str, Any]  # how it was read, as stored


def latest_uses(connection: sa.Connection, owner: str) -> dict[str, Use]:
    """Return upload → how the owner's most recent board reads it, including deleted boards."""
    query = (
        sa.select(board_files.c.sha256, board_files.c.columns, board_files.c.reading)
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner)
        .order_by(boards.c.changed, boards.c.id.desc(), board_files.c.position.desc())
    )
    return {file.sha256: Use(_columns(file.columns), file.reading) for file in connection.execute(query)}


def read_upload(row: sa.RowMapping, use: Use | None, boards: Iterable[tuple[str, str]]) -> Upload:
    """Return a row of `select_uploads` as an upload."""
    fields = {name: row[name] for name in Upload.__dataclass_fields__ if name in row}
    fields["reading"] = _reading(use.reading if use else row["reading"])
    if use:
        fields["kind"] = fields["reading"].kind
    fields["profile"] = Profile(**dict(row["profile"], bars=tuple(row["profile"]["bars"])))
    return Upload(**fields, boards=tuple(boards))


def read_entry(folder: UploadFolder, row: sa.RowMapping, use: Use | None) -> Entry:
    """Return a row of `select_uploads` as an entry of a board, read as its owner did last."""
    if use is None:
        reading = row["reading"]
        use = Use(_columns(reading.get("columns", sorted(reading["mapping"].items()))), reading)
    return Entry(_stored_file(folder, row, row["name"], use.reading), use.columns)


def _stored_file(folder: UploadFolder, row: sa.RowMapping, name: str, reading: Mapping[str, Any]) -> StoredFile:
    """Return the file of an upload, also of earlier versions."""
    if row["ending"] != EARLIER:
        return folder.stored_file(row["sha256"], name, row["size"], row["ending"])
    return EarlierUpload(
        name,
        folder.path(row["sha256"], EARLIER),
        digest=row["sha256"],
        uploaded_size=row["size"],
        parquet_digest=row["kept_sha256"],
        reading=reading,
    )


def _reading(plain: Mapping[str, Any]) -> Reading:
    return Reading(plain["format"], plain["mapping"])


def _columns(pairs: Iterable[Sequence[str]]) -> Columns:
    """Return chosen columns from JSON."""
    return tuple((ours, theirs) for ours, theirs in pairs)


# boards


def read_record(connection: sa.Connection, folder: UploadFolder, board_id: str, owner: str) -> Record:
    """Return a board that this visitor may open."""
    alive = (boards.c.id == clean(board_id)) & boards.c.deleted.is_(None)
    row = connection.execute(sa.select(boards).where(alive)).mappings().first()
    if row is None or not (listing := _board_listing(row)).may_see(owner):
        raise LibraryError("The library has no such board, or it is not shared with you.")
    query = (
        sa.select(board_files, uploads.c.size, uploads.c.kept_sha256, uploads.c.ending)
        .join(uploads, uploads.c.sha256 == board_files.c.sha256)
        .where(board_files.c.board_id == row["id"])
        .order_by(board_files.c.position)
    )
    entries = tuple(
        Entry(_stored_file(folder, one, one["name"], one["reading"]), _columns(one["columns"]))
        for one in connection.execute(query).mappings()
    )
    names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
    return Record(**vars(listing), spec=BoardSpec(entries, row["repeated"], names), view=row["view"])


def _board_listing(row: sa.RowMapping) -> BoardListing:
    return BoardListing(**{name: row[name] for name in BoardListing.__dataclass_fields__})


def board_values(board: Board) -> dict[str, Any]:
    """Return the columns of `boards` that describe its content."""
    spec = board.spec
    names = None if spec.names is None else [list(pair) for pair in spec.names]
    counts = {"runs": len(board.runs.tables), "queries": board.n_queries}
    return {"digest": spec.digest, "repeated": spec.repeated, "names": names, **counts}


def new_id() -> str:
    """Return a random ID of 60 bits without ambiguous letters."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def insert_board(
    connection: sa.Connection, board: Board, owner: str, *, name: str, access: Access, view: dict[str, Any]
) -> str:
    """Insert a board and its files; return its ID."""
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
    connection.execute(boards.insert().values(**values, **board_values(board)))
    write_files(connection, str(values["id"]), board)
    return str(values["id"])


def write_files(connection: sa.Connection, board_id: str, board: Board) -> None:
    """Insert the files of a board."""
    rows = [
        {
            "board_id": board_id,
            "position": position,
            "sha256": entry.file.sha256,
            "name": entry.file.name,
            "columns": [list(pair) for pair in entry.columns],
            "reading": _stored_reading(entry, source),
        }
        for position, (entry, source) in enumerate(zip(board.spec.entries, board.sources, strict=True))
    ]
    connection.execute(board_files.insert(), rows)


def _stored_reading(entry: Entry, source: Source) -> dict[str, Any]:
    return entry.file.described(source) if isinstance(entry.file, EarlierUpload) else asdict(Reading.of(source))


def boards_of_name(name: str, owner: str) -> sa.Select[Any]:
    """Select the IDs of an owner's boards with this name."""
    mine = (boards.c.owner == owner) & (boards.c.name == name)
    return sa.select(boards.c.id).where(mine, boards.c.named, boards.c.deleted.is_(None))


def unnamed_board(spec: BoardSpec, owner: str) -> sa.Select[Any]:
    """Select the ID of an owner's unnamed board with this spec."""
    own = (boards.c.owner == owner) & (boards.c.digest == spec.digest)
    return sa.select(boards.c.id).where(own, boards.c.named.is_(False), boards.c.deleted.is_(None))
