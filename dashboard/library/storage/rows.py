"""Rows of the library's tables, read and written within somebody's transaction."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec, default_name
from dashboard.library.entry import Columns, Entry
from dashboard.library.names import clean
from dashboard.library.storage.parquets import Parquets
from dashboard.library.storage.records import Access, BoardListing, Record, Upload
from dashboard.library.storage.schema import RETENTION, board_files, boards, shelves, uploads
from dashboard.library.storage.stored_upload import Profile, Reading, split_choices
from metrics.errors import LibraryError
from metrics.runs import Source

LISTING_COLUMNS = [boards.c[name] for name in BoardListing.__dataclass_fields__]
"""Columns of a board in a list."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def is_on_shelf(owner: str, sha256: str) -> sa.ColumnElement[bool]:
    """Return the condition on `shelves` that a row is an upload in somebody's library."""
    return (shelves.c.owner == owner) & (shelves.c.sha256 == sha256)


def is_restorable(column: sa.ColumnElement[datetime]) -> sa.ColumnElement[bool]:
    """Of the time something was deleted: whether it was, and can be brought back."""
    return column >= now() - RETENTION


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
            _pairs(one.columns),
        )
        for one in connection.execute(query)
    )
    names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
    return Record(**vars(listing), spec=BoardSpec(tuple(entries), row["repeated"], names), view=row["view"])


def _board_listing(row: sa.RowMapping) -> BoardListing:
    return BoardListing(**{name: row[name] for name in BoardListing.__dataclass_fields__})


def _pairs(pairs: Sequence[Sequence[str]]) -> Columns:
    return tuple((ours, theirs) for ours, theirs in pairs)


def spec_values(spec: BoardSpec) -> dict[str, Any]:
    """What a row of `boards` says of a spec."""
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


def parquet_digests(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, str]:
    """sha256 of the Parquet of each of these uploads that is kept."""
    query = sa.select(uploads.c.sha256, uploads.c.kept_sha256).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: row.kept_sha256 for row in connection.execute(query)}


def first_readings(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, Reading]:
    """What each of these uploads was read as by whoever kept it first."""
    query = sa.select(uploads.c.sha256, uploads.c.reading).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: Reading.from_json(row.reading) for row in connection.execute(query)}


def upload_values(entry: Entry, source: Source) -> dict[str, Any]:
    """What a row of `uploads` says of a file, but for its Parquet."""
    return {
        "sha256": entry.file.sha256,
        "kind": source.kind,
        "rows": len(source.table),
        "size": entry.file.size,
        "reading": Reading.of(source).to_json(),
        "profile": asdict(Profile.of(source)),
        "added": now(),
    }


def write_upload(connection: sa.Connection, values: dict[str, Any]) -> None:
    """Write down an upload, or where its Parquet was damaged, the new one."""
    parquet = {name: values[name] for name in ("kept_size", "kept_sha256")}
    mine = uploads.c.sha256 == values["sha256"]
    if not connection.execute(uploads.update().where(mine).values(**parquet)).rowcount:
        connection.execute(uploads.insert().values(**values))


def add_to_shelf(connection: sa.Connection, owner: str, sha256: str, name: str) -> None:
    """See to it that an upload is in somebody's library, by its newest name.

    Args:
        connection: to write by.
        owner: whose library.
        sha256: of the upload.
        name: of the file that was given last.
    """
    shelf = shelves.update().where(is_on_shelf(owner, sha256))
    if not connection.execute(shelf.values(name=name, deleted=None)).rowcount:
        row = {"owner": owner, "sha256": sha256, "name": name, "note": "", "pinned": False, "added": now()}
        connection.execute(shelves.insert().values(**row))


def update_shelf(connection: sa.Connection, owner: str, sha256: str, **values: Any) -> None:  # noqa: ANN401 of many types
    """Change what is said of an upload in somebody's library.

    Args:
        connection: to write by.
        owner: whose library.
        sha256: of the upload.
        values: columns of `shelves` and what they become.

    Raises:
        LibraryError: it is not there.
    """
    if not connection.execute(shelves.update().where(is_on_shelf(owner, sha256)).values(**values)).rowcount:
        raise LibraryError("This upload is no longer in the library.")


def boards_by_upload(connection: sa.Connection, owner: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return upload → id and name of somebody's boards that use it, the one changed last first."""
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


def boards_of_name(name: str, owner: str) -> sa.Select[Any]:
    """Of somebody's boards that were given this name, the number."""
    mine = (boards.c.owner == owner) & (boards.c.name == name)
    return sa.select(boards.c.id).where(mine, boards.c.named, boards.c.deleted.is_(None))


def unnamed_board(spec: BoardSpec, owner: str) -> sa.Select[Any]:
    """Select the id of somebody's board of the same spec that nobody gave a name."""
    own = (boards.c.owner == owner) & (boards.c.digest == spec.digest)
    return sa.select(boards.c.id).where(own, boards.c.named.is_(False), boards.c.deleted.is_(None))


def uses_upload(sha256: str, owner: str) -> sa.ColumnElement[bool]:
    """Of boards: somebody's that use an upload."""
    ids = sa.select(board_files.c.board_id).where(board_files.c.sha256 == sha256)
    return boards.c.id.in_(ids) & (boards.c.owner == owner)


def select_uploads(owner: str, *, deleted: bool = False) -> sa.Select[Any]:
    """Somebody's uploads, the newest first; or those that were deleted and can be brought back."""
    gone = is_restorable(shelves.c.deleted) if deleted else shelves.c.deleted.is_(None)
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


def latest_uses(connection: sa.Connection, owner: str, sha256s: Iterable[str] | None = None) -> dict[str, Use]:
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
    query = (
        sa.select(board_files.c.sha256, board_files.c.board_id, board_files.c.position, newest.label("place"))
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner)
    )
    if sha256s is not None:
        query = query.where(board_files.c.sha256.in_(tuple(sha256s)))
    ordered = query.subquery()
    is_same_file = (board_files.c.board_id == ordered.c.board_id) & (
        board_files.c.position == ordered.c.position
    )
    first = sa.select(board_files).join(ordered, is_same_file).where(ordered.c.place == 1)
    return {
        one.sha256: Use(_pairs(one.columns), Reading.from_json(one.reading))
        for one in connection.execute(first)
    }


def read_upload(row: sa.RowMapping, use: Use | None, boards: Iterable[tuple[str, str]]) -> Upload:
    """Return an upload as its owner reads it.

    Args:
        row: of `select_uploads`.
        use: how its owner had it read last, if ever.
        boards: id and name of the owner's boards that use it.
    """
    fields = {name: row[name] for name in Upload.__dataclass_fields__ if name in row}
    fields["reading"] = use.reading if use else Reading.from_json(row["reading"])
    if use:
        fields["kind"] = (
            "run" if use.reading.with_columns(split_choices(dict(use.columns))[0])["score"] else "qrels"
        )
    fields["profile"] = Profile(**dict(row["profile"], bars=tuple(row["profile"]["bars"])))
    return Upload(**fields, boards=tuple(boards))


def read_entry(parquets: Parquets, row: sa.RowMapping, use: Use | None) -> Entry:
    """Return an upload as what a board can be made from, as its owner reads it.

    Args:
        parquets: folder of the uploads.
        row: of `select_uploads`.
        use: how its owner had it read last, if ever.
    """
    if use is None:
        reading = Reading.from_json(row["reading"])
        use = Use(tuple(sorted(reading.mapping.items())), reading)
    file = parquets.stored_upload(row["sha256"], row["name"], row["size"], use.reading, row["kept_sha256"])
    return Entry(file, use.columns)
