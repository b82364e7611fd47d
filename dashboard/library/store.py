"""The library: stored uploads and boards of one or several people."""

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dashboard.library.audit import audited
from dashboard.library.boards import Board, BoardSpec, Entry, board_name, clean, copy_name, default_name
from dashboard.library.database import WAIT, Database, url_of
from dashboard.library.loaded import Published
from dashboard.library.records import STRANGER, Access, BoardListing, Record, Upload
from dashboard.library.schema import (
    RETENTION,
    UNDO,
    board_files,
    boards,
    now,
    published_tables,
    sign_outs,
    uploads,
)
from dashboard.library.uploads import Frames, StoredFile, pack, uploaded_blocks
from dashboard.settings import byte_limit, home
from metrics.errors import LibraryError, UsageError
from metrics.runs import File

URL = "TIESCOPE_DATABASE_URL"
"""Environment variable: another database."""
MAX_UPLOAD, MAX_LIBRARY = "TIESCOPE_MAX_UPLOAD_MB", "TIESCOPE_MAX_LIBRARY_MB"
"""Environment variables: maximum megabytes of one upload, and of all stored uploads."""
USUAL = {MAX_UPLOAD: 200, MAX_LIBRARY: 20_000}
"""Default limits in megabytes."""
_LONGEST = timedelta(days=32)
"""No cookie is valid longer, including Streamlit's grace period, so older sign-outs are obsolete."""
_DAY = timedelta(days=1)
"""Unit of the time at which a board was opened, and the age from which unnamed boards make room."""
_LISTING = [boards.c[name] for name in BoardListing.__dataclass_fields__]
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_IS_PRESENT = boards.c.deleted.is_(None)
_IS_LASTING = boards.c.named & ~boards.c.owner.startswith(STRANGER, autoescape=True)


class Library:
    """Uploads and boards in a database.

    Every method raises a LibraryError if the database fails, or if this visitor has no such item; nothing
    changes then. An owner is an address, or empty without sign-in.

    Args:
        home: folder of the SQLite database.
        url: address of another database.
        most_upload: maximum bytes of an upload, as given.
        most: maximum bytes of all uploads, as stored; one person may use half of them.
        wait: seconds to wait for another writer.
    """

    def __init__(
        self,
        home: Path,
        url: str | None = None,
        *,
        most_upload: int = USUAL[MAX_UPLOAD] * 10**6,
        most: int = USUAL[MAX_LIBRARY] * 10**6,
        wait: float = WAIT,
    ) -> None:
        self.database = Database(url_of(url, home), wait)
        self.most_upload, self.most = most_upload, most

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    @classmethod
    def open(cls) -> "Library":
        """Return the library that the environment names."""
        return cls(
            home(),
            os.environ.get(URL),
            most_upload=byte_limit(MAX_UPLOAD, USUAL[MAX_UPLOAD]),
            most=byte_limit(MAX_LIBRARY, USUAL[MAX_LIBRARY]),
        )

    # boards

    @audited("kept")
    def keep(self, board: Board, owner: str = "") -> Record:
        """Store a board without a name, and its files; an equal one is returned instead of a new one."""
        equal = (boards.c.owner == owner) & ~boards.c.named & (boards.c.digest == board.spec.key)
        with self.database.writing() as connection:
            board_id = connection.scalar(sa.select(boards.c.id).where(equal, _IS_PRESENT))
            if board_id is None:
                board_id = _new_id()
                values = _new_values(board_id, owner, default_name(board), named=False) | {"view": {}}
                _insert(connection, boards, values | _content(board))
            else:
                connection.execute(boards.update().where(boards.c.id == board_id).values(**_times()))
            self._store_files(connection, board_id, board, owner)
            self._make_room(connection, board_id, owner)
            return self._read(connection, board_id, owner)

    @audited("changed")
    def revise(self, board_id: str, version: int, board: Board, owner: str = "") -> Record:
        """Change the content of a board unless it changed since `version`."""
        values = _content(board)
        with self.database.writing() as connection:
            before = self._own(connection, board_id, owner)
            if before.version != version:
                raise LibraryError(f"{before.name} was changed on another page. Reload this page.")
            _update(connection, before, name=before.name if before.named else default_name(board), **values)
            self._store_files(connection, before.id, board, owner)
            self._make_room(connection, before.id, owner)
            return self._read(connection, before.id, owner)

    def find(self, board_id: str, owner: str = "") -> Record:
        """Return a board that this visitor may open, and note the day."""
        with self.database.reading() as connection:
            record = self._read(connection, board_id, owner)
        if record.opened < now() - _DAY:
            with suppress(LibraryError), self.database.writing() as connection:  # it can be read at least
                connection.execute(boards.update().where(boards.c.id == record.id).values(opened=now()))
        return record

    def look(self, board_id: str, owner: str = "") -> Record | None:
        """Return a board that this visitor may open, None if there is none."""
        with self.database.reading() as connection:
            try:
                return self._read(connection, board_id, owner)
            except LibraryError:
                return None

    def boards(
        self, owner: str = "", *, deleted: bool = False, most_unnamed: int | None = None
    ) -> list[BoardListing]:
        """Return an owner's boards, or those whose deletion can be undone, latest change first."""
        own, newest = (boards.c.owner == owner) & _is_listed(deleted=deleted), boards.c.changed.desc()
        query = sa.select(*_LISTING).where(own).order_by(newest)
        if most_unnamed is not None:
            unnamed = sa.select(boards.c.id).where(own, ~boards.c.named).order_by(newest)
            query = query.where(boards.c.named | boards.c.id.in_(unnamed.limit(most_unnamed)))
        with self.database.reading() as connection:
            return [BoardListing(*row) for row in connection.execute(query)]

    @audited("renamed")
    def rename(self, board_id: str, name: str, owner: str = "") -> Record:
        """Rename a board."""
        if not board_name(name):
            raise UsageError("A board needs a name.")
        with self.database.writing() as connection:
            before = self._own(connection, board_id, owner)
            _update(connection, before, name=board_name(name), named=True)
            return self._read(connection, before.id, owner)

    @audited("saved view")
    def save_view(self, board_id: str, view: Mapping[str, Any], owner: str = "") -> None:
        """Save the settings of a board."""
        self._change(board_id, owner, view=dict(view))

    @audited("shared")
    def share(self, board_id: str, access: Access, owner: str = "") -> None:
        """Set whether others may open a board."""
        self._change(board_id, owner, access=access)

    @audited("kept published results")
    def publish(self, board_id: str, published: Published, owner: str = "") -> None:
        """Store the published results of a board, replacing earlier ones."""
        label, packed = published
        with self.database.writing() as connection:
            record = self._own(connection, board_id, owner)
            mine = published_tables.c.board_id == record.id
            connection.execute(published_tables.delete().where(mine))
            _insert(
                connection, published_tables, {"board_id": record.id, "label": clean(label), "packed": packed}
            )
            self._make_room(connection, record.id, owner)

    def published(self, board_id: str, owner: str = "") -> Published | None:
        """Return the published results of a board that this visitor may open, None without any."""
        with self.database.reading() as connection:
            mine = published_tables.c.board_id == clean(board_id)
            row = connection.execute(sa.select(published_tables).where(mine)).first()
            if row is None:
                return None
            self._read(connection, board_id, owner)
        return row.label, row.packed

    @audited("deleted")
    def delete(self, board_id: str, owner: str = "") -> None:
        """Delete a board. It can be restored for a day."""
        with self.database.writing() as connection:
            _update(connection, self._own(connection, board_id, owner), deleted=now())
            _end(connection, _is_expired())

    @audited("restored")
    def restore(self, board_id: str, owner: str = "") -> None:
        """Restore a deleted board."""
        own = (boards.c.id == clean(board_id)) & (boards.c.owner == owner)
        restorable = _IS_PRESENT | _is_listed(deleted=True)
        with self.database.writing() as connection:
            values = {"deleted": None, "opened": now()}
            if not connection.execute(boards.update().where(own, restorable).values(**values)).rowcount:
                raise LibraryError("This board can no longer be restored.")

    @audited("duplicated")
    def duplicate(self, board_id: str, owner: str = "") -> Record:
        """Return a copy of a board for this owner."""
        with self.database.writing() as connection:
            before = self._read(connection, board_id, owner)
            new_id = _new_id()
            values = _new_values(new_id, owner, copy_name(before.name), named=True)
            for table in (boards, board_files, published_tables):
                key = boards.c.id if table is boards else table.c.board_id
                new = values if table is boards else {"board_id": new_id}
                for row in connection.execute(sa.select(table).where(key == before.id)).mappings().all():
                    _insert(connection, table, dict(row) | new)
            self._make_room(connection, new_id, owner)
            return self._read(connection, new_id, owner)

    def end_expired(self) -> None:
        """End boards whose deletion is a day old, and unnamed boards that nobody opened for 30 days."""
        with self.database.writing() as connection:
            _end(connection, _is_expired())

    def _change(self, board_id: str, owner: str, **values: Any) -> None:
        with self.database.writing() as connection:
            _update(connection, self._own(connection, board_id, owner), **values)

    def _own(self, connection: sa.Connection, board_id: str, owner: str) -> Record:
        """Return a board of this visitor."""
        record = self._read(connection, board_id, owner)
        if record.owner != owner:
            raise LibraryError(
                f"{record.name} belongs to somebody else, so you cannot change it. Duplicate it, and change "
                "the copy."
            )
        return record

    def _read(self, connection: sa.Connection, board_id: str, owner: str) -> Record:
        """Return a board that this visitor may open."""
        query = sa.select(boards).where(boards.c.id == clean(board_id), _IS_PRESENT)
        row = connection.execute(query).mappings().first()
        if row is None or not (listing := BoardListing(*(row[key] for key in _LISTING))).may_see(owner):
            raise LibraryError("The library has no such board, or it is not shared with you.")
        mine = board_files.c.board_id == row["id"]
        files = connection.execute(sa.select(board_files).where(mine).order_by(board_files.c.position))
        names = None if row["names"] is None else tuple((before, after) for before, after in row["names"])
        spec = BoardSpec(tuple(map(self._entry, files.mappings())), row["repeated"], names)
        return Record(**vars(listing), spec=spec, view=row["view"])

    def _entry(self, row: sa.RowMapping) -> Entry:
        """Return a row of `board_files` as a file and its chosen columns."""
        file = StoredFile(row["name"], digest=row["sha256"], uploaded_size=row["size"], frames_of=self._frames)
        return Entry(file, tuple((ours, theirs) for ours, theirs in row["columns"]))

    # uploads

    def uploads(self, owner: str = "") -> list[Upload]:
        """Return the files on an owner's boards, newest first."""
        with self.database.reading() as connection:
            uses_of = _uses(connection, owner)
        found = [
            Upload(
                **{name: uses[0][name] for name in ("sha256", "name", "kind", "rows", "size")},
                added=min(use["added"] for use in uses),
                boards=tuple(dict.fromkeys((use["board_id"], use["board"]) for use in uses)),
            )
            for uses in uses_of.values()
        ]
        found.sort(key=lambda upload: upload.name)
        return sorted(found, key=lambda upload: upload.added, reverse=True)

    def spec_of(self, sha256s: Sequence[str], owner: str = "") -> BoardSpec:
        """Return a spec of an owner's uploads in this order, read as they were last."""
        with self.database.reading() as connection:
            uses_of = _uses(connection, owner)
        if not uses_of.keys() >= set(sha256s):
            raise LibraryError("An upload was removed from the library. Reload the page.")
        return BoardSpec(tuple(self._entry(uses_of[digest][0]) for digest in sha256s))

    @audited("deleted")
    def discard(self, sha256: str, owner: str = "") -> list[str]:
        """Delete the unnamed boards that use an upload, and with them the upload; return their IDs."""
        using = sa.select(board_files.c.board_id).where(board_files.c.sha256 == sha256)
        affected = boards.c.id.in_(using) & (boards.c.owner == owner) & _IS_PRESENT
        with self.database.writing() as connection:
            names = connection.scalars(sa.select(boards.c.name).where(affected, boards.c.named)).all()
            if names:
                raise LibraryError(f"These boards use this upload: {', '.join(names[:5])}. Delete them first.")
            board_ids = list(connection.scalars(sa.select(boards.c.id).where(affected)))
            connection.execute(boards.update().where(boards.c.id.in_(board_ids)).values(deleted=now()))
        return board_ids

    def _frames(self, digest: str) -> Frames:
        """Yield the stored bytes of an upload."""
        with self.database.reading() as connection:
            yield from _stored_frames(connection, digest)

    def _store_files(self, connection: sa.Connection, board_id: str, board: Board, owner: str) -> None:
        """Store the files of a board in place of those that it had."""
        for file in {file.sha256: file for file in board.files}.values():
            self._store_upload(connection, file)
        uses_of = _uses(connection, owner)
        connection.execute(board_files.delete().where(board_files.c.board_id == board_id))
        for position, (entry, source) in enumerate(zip(board.spec.entries, board.sources, strict=True)):
            values = {"sha256": entry.file.sha256, "name": entry.file.name, "size": entry.file.size}
            values |= {
                "kind": source.kind,
                "rows": len(source.table),
                "columns": list(map(list, entry.columns)),
            }
            values |= {
                "added": min((use["added"] for use in uses_of.get(entry.file.sha256, ())), default=now())
            }
            _insert(connection, board_files, {"board_id": board_id, "position": position} | values)

    def _store_upload(self, connection: sa.Connection, file: File) -> None:
        """Store an upload unless it is there; a new upload replaces damaged bytes."""
        mine = uploads.c.sha256 == file.sha256
        is_stored = connection.scalar(sa.select(uploads.c.position).where(mine).limit(1)) is not None
        if isinstance(file, StoredFile):
            if not is_stored:
                raise LibraryError(f"{file.name} was removed from the library. Upload it again.")
            return
        if is_stored and _is_sound(connection, file):
            return
        if file.size > self.most_upload:
            limit = f"{self.most_upload / 10**6:,.0f} MB"
            raise LibraryError(f"{file.name} is not stored: it is larger than {limit}. Raise {MAX_UPLOAD}.")
        connection.execute(uploads.delete().where(mine))
        digest = sha256()
        for position, block in enumerate(uploaded_blocks(file)):
            digest.update(block)
            values = {"sha256": file.sha256, "position": position, "data": pack(block)}
            _insert(connection, uploads, values)
        if digest.hexdigest() != file.sha256:
            raise LibraryError(f"{file.name} is not stored: it has changed since it was read. Try again.")

    def _make_room(self, connection: sa.Connection, board_id: str, owner: str) -> None:
        """End boards until the owner's boards with this one, and all boards, are within their limits.

        Deleted boards go first, then unnamed ones that were not opened for a day, the oldest first.
        """
        connection.execute(boards.delete().where(_is_expired()))
        _remove_unused(connection)
        is_spare = boards.c.deleted.is_not(None) | (~_IS_LASTING & (boards.c.opened < now() - _DAY))
        order = boards.c.deleted.is_(None), boards.c.opened
        for of_them, most in ((boards.c.owner == owner, self._share(owner)), (sa.true(), self.most)):
            spare = sa.select(boards.c.id).where(of_them, is_spare, boards.c.id != board_id).order_by(*order)
            going = iter(connection.scalars(spare).all() if _used(connection, of_them) > most else ())
            while (needed := _used(connection, of_them)) > most:
                going_id = next(going, None)
                if going_id is None:
                    raise LibraryError(self._full_text(owner, needed, most))
                _end(connection, boards.c.id == going_id)

    def _share(self, owner: str) -> int:
        """Return the maximum bytes of an owner's boards: half of all, without sign-in all."""
        return self.most // 2 if owner else self.most

    def _full_text(self, owner: str, needed: int, most: int) -> str:
        """Return why a board was not saved, and what its owner can do."""
        needs = f"would need {needed / 10**6:,.1f} MB, and"
        size = f"{most / 10**6:,.1f} MB. Delete boards that you do not need, or"
        if most != self.most:
            return f"The library is full: your boards {needs} one person may use {size} save smaller files."
        ask = "ask who runs this server to " if owner else ""
        advice = f"{ask}raise {MAX_LIBRARY}."
        return f"The library is full: all boards together {needs} the library holds {size} {advice}"

    # sign-ins

    def end_sign_in(self, sign_in: str) -> None:
        """Record for all processes that a sign-in, identified by a hash, has ended."""
        is_old = (sign_outs.c.sign_in == sign_in) | (sign_outs.c.ended < now() - _LONGEST)
        with self.database.writing() as connection:
            connection.execute(sign_outs.delete().where(is_old))
            _insert(connection, sign_outs, {"sign_in": sign_in, "ended": now()})

    def has_ended(self, sign_in: str) -> bool:
        """Return whether a sign-in has ended."""
        with self.database.reading() as connection:
            return connection.scalar(sa.select(sign_outs).where(sign_outs.c.sign_in == sign_in)) is not None


def _new_id() -> str:
    """Return a random ID of 60 bits without ambiguous letters."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def _insert(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> None:
    connection.execute(table.insert().values(**values))


def _new_values(board_id: str, owner: str, name: str, *, named: bool) -> dict[str, Any]:
    """Return columns of a new board, which strangers need the link to come back to."""
    access = "link" if owner.startswith(STRANGER) else "private"
    values = {"id": board_id, "owner": owner, "access": access, "version": 1, "created": now()}
    return values | {"name": name, "named": named} | _times()


def _times() -> dict[str, Any]:
    """Return the columns of a board that was changed just now."""
    time = now()
    return {"changed": time, "opened": time}


def _content(board: Board) -> dict[str, Any]:
    """Return the columns of `boards` that describe its content."""
    spec = board.spec
    names = None if spec.names is None else [list(pair) for pair in spec.names]
    counts = {"runs": len(board.runs.tables), "queries": board.n_queries}
    return {"digest": spec.key, "repeated": spec.repeated, "names": names, **counts}


def _update(connection: sa.Connection, before: Record, **values: Any) -> None:
    values |= {"version": before.version + 1, **_times()}
    connection.execute(boards.update().where(boards.c.id == before.id).values(**values))


def _is_listed(*, deleted: bool) -> sa.ColumnElement[bool]:
    """Return the condition that a board is there, or that its deletion can be undone."""
    return boards.c.deleted >= now() - UNDO if deleted else _IS_PRESENT


def _is_expired() -> sa.ColumnElement[bool]:
    """Return the condition that a deletion is a day old, or an unnamed board unopened for 30 days."""
    is_old = ~_IS_LASTING & (boards.c.opened < now() - RETENTION)
    return (boards.c.deleted < now() - UNDO) | is_old


def _uses(connection: sa.Connection, owner: str) -> dict[str, list[sa.RowMapping]]:
    """Return upload → its rows of `board_files` on the owner's boards, the latest change first."""
    query = (
        sa.select(board_files, boards.c.name.label("board"))
        .join(boards, boards.c.id == board_files.c.board_id)
        .where(boards.c.owner == owner, _IS_PRESENT)
        .order_by(boards.c.changed.desc(), boards.c.id, board_files.c.position)
    )
    uses: dict[str, list[sa.RowMapping]] = {}
    for row in connection.execute(query).mappings():
        uses.setdefault(row["sha256"], []).append(row)
    return uses


def _stored_frames(connection: sa.Connection, digest: str) -> Frames:
    """Yield the rows of an upload one by one."""
    for position in count():
        row = (uploads.c.sha256 == digest) & (uploads.c.position == position)
        frame = connection.scalar(sa.select(uploads.c.data).where(row))
        if frame is None:
            return
        yield frame


def _is_sound(connection: sa.Connection, file: File) -> bool:
    """Return whether the stored bytes of an upload are intact."""
    stored = StoredFile(file.name, digest=file.sha256, frames_of=partial(_stored_frames, connection))
    try:
        for _ in stored.uploaded():
            pass
    except LibraryError:
        return False
    return True


def _end(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Remove boards for good, and uploads that no board uses any more."""
    if connection.execute(boards.delete().where(condition)).rowcount:
        _remove_unused(connection)


def _remove_unused(connection: sa.Connection) -> None:
    """Remove uploads that no board uses, and give their space back."""
    unused = sa.select(uploads.c.sha256).where(uploads.c.sha256.not_in(sa.select(board_files.c.sha256)))
    gone = connection.execute(uploads.delete().where(uploads.c.sha256.in_(unused))).rowcount
    if gone and connection.dialect.name == "sqlite":
        cursor = connection.connection.cursor()
        for _ in range(cursor.execute("PRAGMA freelist_count").fetchone()[0]):  # the driver frees one at a time
            cursor.execute("PRAGMA incremental_vacuum")


def _used(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> int:
    """Return the stored bytes of some boards: of their uploads, each once, and of their published results."""
    board_ids = sa.select(boards.c.id).where(condition)
    files = sa.select(board_files.c.sha256).where(board_files.c.board_id.in_(board_ids))
    sizes = (
        sa.select(sa.func.sum(sa.func.length(uploads.c.data))).where(uploads.c.sha256.in_(files)),
        sa.select(sa.func.sum(sa.func.length(published_tables.c.packed))).where(
            published_tables.c.board_id.in_(board_ids)
        ),
    )
    return sum(int(connection.scalar(size) or 0) for size in sizes)
