"""Rows of uploads and of whose they are, read and written within somebody's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from dashboard.library.entry import Columns, Entry
from dashboard.library.storage.parquets import Parquets
from dashboard.library.storage.records import Upload
from dashboard.library.storage.schema import (
    board_files,
    boards,
    is_restorable,
    now,
    released_files,
    shelves,
    uploads,
)
from dashboard.library.storage.stored_upload import Profile, Reading, split_choices
from metrics.errors import LibraryError
from metrics.runs import Source


def stored_columns(pairs: Sequence[Sequence[str]]) -> Columns:
    """Return the choice of columns that a row holds as JSON."""
    return tuple((ours, theirs) for ours, theirs in pairs)


def is_on_shelf(owner: str, sha256: str) -> sa.ColumnElement[bool]:
    """Return the condition on `shelves` that a row is an upload in somebody's library."""
    return (shelves.c.owner == owner) & (shelves.c.sha256 == sha256)


def parquet_digests(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, str]:
    """Return sha256 of the Parquet of each of these uploads that is kept."""
    query = sa.select(uploads.c.sha256, uploads.c.kept_sha256).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: row.kept_sha256 for row in connection.execute(query)}


def first_readings(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, Reading]:
    """Return what each of these uploads was read as by whoever kept it first."""
    query = sa.select(uploads.c.sha256, uploads.c.reading).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: Reading.from_json(row.reading) for row in connection.execute(query)}


def upload_values(entry: Entry, source: Source) -> dict[str, Any]:
    """Return what a row of `uploads` says of a file, but for its Parquet."""
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
    forget_released(connection, values["sha256"])


def delete_uploads(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Forget uploads; the next sweep removes their files."""
    release_files(connection, connection.scalars(sa.select(uploads.c.sha256).where(condition)))
    connection.execute(uploads.delete().where(condition))


def release_files(connection: sa.Connection, sha256s: Iterable[str]) -> None:
    """Have the next sweep remove the files of these uploads, unless they are kept by then."""
    let_go = set(sha256s)
    for sha256 in let_go & set(connection.scalars(sa.select(released_files.c.sha256))):
        forget_released(connection, sha256)
    if rows := [{"sha256": sha256, "released": now()} for sha256 in let_go]:
        connection.execute(released_files.insert(), rows)


def unneeded_files(connection: sa.Connection) -> list[tuple[str, datetime]]:
    """Return the sha256 of the uploads that were let go of, and are not kept again, and when that was."""
    is_kept = released_files.c.sha256.in_(sa.select(uploads.c.sha256))
    query = sa.select(released_files.c.sha256, released_files.c.released).where(~is_kept)
    return [(row.sha256, row.released) for row in connection.execute(query)]


def forget_released(connection: sa.Connection, sha256: str) -> None:
    """Note that a file which was let go of is removed, or that its upload is kept again."""
    connection.execute(released_files.delete().where(released_files.c.sha256 == sha256))


def known_files(connection: sa.Connection) -> set[str]:
    """Return the sha256 of all uploads, and of those whose files the next sweep removes."""
    return set(connection.scalars(sa.union(sa.select(uploads.c.sha256), sa.select(released_files.c.sha256))))


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


def uses_upload(sha256: str, owner: str) -> sa.ColumnElement[bool]:
    """Return whether a board is somebody's and uses an upload, as a condition."""
    ids = sa.select(board_files.c.board_id).where(board_files.c.sha256 == sha256)
    return boards.c.id.in_(ids) & (boards.c.owner == owner)


def select_uploads(owner: str, *, deleted: bool = False) -> sa.Select[Any]:
    """Return somebody's uploads, the newest first; or those that were deleted and can be brought back."""
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
        one.sha256: Use(stored_columns(one.columns), Reading.from_json(one.reading))
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
