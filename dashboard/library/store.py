"""The library: stored uploads and boards of one or several people."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dashboard.library import rows
from dashboard.library.audit import audited
from dashboard.library.boards import Board, BoardSpec, Entry, board_name, clean, copy_name, default_name
from dashboard.library.database import WAIT, Database, url_of
from dashboard.library.loaded import Published
from dashboard.library.place import byte_limit, home
from dashboard.library.records import STRANGER, Access, BoardListing, Record, Upload
from dashboard.library.schema import (
    RETENTION,
    board_files,
    boards,
    is_restorable,
    now,
    owners,
    published_tables,
    released_files,
    shelves,
    sign_outs,
    uploads,
)
from dashboard.library.uploads import PendingFile, Profile, Reading, StoredFile, UploadFolder, is_sound
from metrics.errors import LibraryError, UsageError
from metrics.runs import File, Source

URL = "TIESCOPE_DATABASE_URL"
"""Environment variable: another database."""
MAX_UPLOAD, MAX_LIBRARY = "TIESCOPE_MAX_UPLOAD_MB", "TIESCOPE_MAX_LIBRARY_MB"
"""Environment variables: maximum megabytes of one upload, and of all stored uploads."""
USUAL = {MAX_UPLOAD: 2_200, MAX_LIBRARY: 20_000}
"""Default limits in megabytes."""
_LONGEST = timedelta(days=32)
"""No cookie is valid longer, including Streamlit's grace period, so older sign-outs are obsolete."""
_OFTEN = timedelta(days=1)
"""Interval between sweeps of a library that is written to."""


class Library:
    """Uploads and boards in a folder and a database.

    Every method raises a LibraryError if the database or disk fails, or if this visitor has no such item;
    nothing changes then. An owner is an address, or empty without sign-in.

    Args:
        home: folder of the uploads, and of the SQLite database.
        url: address of another database.
        most_upload: maximum bytes of an upload, as given.
        most: maximum bytes of all uploads, as stored.
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
        self.database, self.folder = Database(url_of(url, home), home, wait), UploadFolder(home / "uploads")
        self.most_upload, self.most, self._swept = most_upload, most, now()

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def is_evicting(self, owner: str = "") -> bool:
        """Return whether the oldest uploads go when the library is full."""
        with self.database.reading() as connection:
            return _is_evicting(connection, owner)

    def set_eviction(self, owner: str = "", *, evict: bool) -> None:
        """Set whether the oldest uploads go when the library is full."""
        with self.database.writing() as connection:
            mine = owners.update().where(owners.c.owner == owner).values(evict=evict)
            if not connection.execute(mine).rowcount:
                connection.execute(owners.insert().values(owner=owner, evict=evict))

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
    def keep(
        self,
        board: Board,
        owner: str = "",
        *,
        name: str = "",
        view: Mapping[str, Any] | None = None,
        access: Access = "private",
    ) -> Record:
        """Store a board and its files; an equal unnamed board is returned instead of a new one."""
        name = board_name(name)
        view = board.first_view if view is None else view
        own = (boards.c.owner == owner) & boards.c.deleted.is_(None) & (boards.c.named == bool(name))
        equal = boards.c.name == name if name else boards.c.digest == board.spec.key
        with self._taking_in(board, owner) as connection:
            board_id = connection.scalar(sa.select(boards.c.id).where(own, equal))
            if board_id and not name:
                connection.execute(boards.update().where(boards.c.id == board_id).values(changed=now()))
            else:
                board_id = rows.insert_board(
                    connection, board, owner, name=name, access=access, view=dict(view)
                )
            return rows.read_record(connection, self.folder, board_id, owner)

    @audited("changed")
    def revise(self, board_id: str, version: int, board: Board, owner: str = "") -> Record:
        """Change the content of a board unless it changed since `version`."""
        with self._taking_in(board, owner) as connection:
            before = self._own(connection, board_id, owner)
            if before.version != version:
                raise LibraryError(f"{before.name} was changed by somebody else. Reload the page.")
            name = before.name if before.named else default_name(board)
            self._update(connection, before, name=name, **rows.board_values(board))
            connection.execute(board_files.delete().where(board_files.c.board_id == before.id))
            rows.write_files(connection, before.id, board)
            return rows.read_record(connection, self.folder, before.id, owner)

    def find(self, board_id: str, owner: str = "") -> Record:
        """Return a board that this visitor may open."""
        with self.database.reading() as connection:
            return rows.read_record(connection, self.folder, board_id, owner)

    def look(self, board_id: str, owner: str = "") -> Record | None:
        """Return a board that this visitor may open, None if there is none."""
        with self.database.reading() as connection:
            try:
                return rows.read_record(connection, self.folder, board_id, owner)
            except LibraryError:
                return None

    def boards(
        self, owner: str = "", *, deleted: bool = False, most_unnamed: int | None = None
    ) -> list[BoardListing]:
        """Return an owner's boards, latest change first."""
        present = is_restorable(boards.c.deleted) if deleted else boards.c.deleted.is_(None)
        own, newest = (boards.c.owner == owner) & present, boards.c.changed.desc()
        query = sa.select(*rows.LISTING_COLUMNS).where(own).order_by(newest)
        if most_unnamed is not None:
            unnamed = sa.select(boards.c.id).where(own, boards.c.named.is_(False)).order_by(newest)
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
            self._update(connection, before, name=board_name(name), named=True)
            return rows.read_record(connection, self.folder, before.id, owner)

    @audited("saved view")
    def save_view(self, board_id: str, view: Mapping[str, Any], owner: str = "") -> None:
        """Save the settings of a board."""
        self._change(board_id, owner, view=dict(view))

    @audited("shared")
    def share(self, board_id: str, access: Access, owner: str = "") -> None:
        """Set who else may open a board; only its owner may."""
        self._change(board_id, owner, by_owner=True, access=access)

    @audited("kept published results")
    def publish(self, board_id: str, published: Published, owner: str = "") -> None:
        """Store the published results of a board, replacing earlier ones."""
        label, packed = published
        with self.database.writing() as connection:
            record = self._own(connection, board_id, owner)
            mine = published_tables.c.board_id == record.id
            connection.execute(published_tables.delete().where(mine))
            on_board = {entry.file.sha256 for entry in record.spec.entries}
            self._free_space(connection, owner, len(packed), on_board)
            values = {"board_id": record.id, "label": clean(label), "size": len(packed), "packed": packed}
            connection.execute(published_tables.insert().values(**values))

    def published(self, board_id: str, owner: str = "") -> Published | None:
        """Return the published results of a board that this visitor may open, None without any."""
        with self.database.reading() as connection:
            mine = published_tables.c.board_id == clean(board_id)
            row = connection.execute(sa.select(published_tables).where(mine)).first()
            if row is None:
                return None
            rows.read_record(connection, self.folder, board_id, owner)
        return row.label, row.packed

    @audited("deleted")
    def delete(self, board_id: str, owner: str = "") -> None:
        """Delete a board; only its owner may. It can be restored for 30 days."""
        self._change(board_id, owner, by_owner=True, deleted=now())

    @audited("restored")
    def restore(self, board_id: str, owner: str = "") -> None:
        """Restore a deleted board."""
        with self.database.writing() as connection:
            own = (boards.c.id == clean(board_id)) & (boards.c.owner == owner)
            restorable = boards.c.deleted.is_(None) | is_restorable(boards.c.deleted)
            if not connection.execute(boards.update().where(own, restorable).values(deleted=None)).rowcount:
                raise LibraryError("This board can no longer be restored.")

    @audited("duplicated")
    def duplicate(self, board_id: str, owner: str = "", *, access: Access = "private") -> Record:
        """Return a copy of a board for this owner."""
        with self.database.writing() as connection:
            before = rows.read_record(connection, self.folder, board_id, owner)
            row = dict(connection.execute(sa.select(boards).where(boards.c.id == before.id)).mappings().one())
            row |= {"id": rows.new_id(), "owner": owner, "access": access, "named": True, "version": 1}
            row |= {"name": copy_name(before.name), "created": now(), "changed": now()}
            connection.execute(boards.insert().values(**row))
            for table in (board_files, published_tables):
                of_board = connection.execute(sa.select(table).where(table.c.board_id == before.id)).mappings()
                if copies := [dict(one, board_id=row["id"]) for one in of_board]:
                    connection.execute(table.insert(), copies)
            for entry in before.spec.entries:
                _add_to_shelf(connection, owner, entry.file.sha256, entry.file.name)
            return rows.read_record(connection, self.folder, row["id"], owner)

    def _change(self, board_id: str, owner: str, *, by_owner: bool = False, **values: Any) -> None:  # noqa: ANN401
        with self.database.writing() as connection:
            self._update(connection, self._own(connection, board_id, owner, by_owner=by_owner), **values)

    @staticmethod
    def _update(connection: sa.Connection, before: Record, **values: Any) -> None:  # noqa: ANN401
        values |= {"version": before.version + 1, "changed": now()}
        connection.execute(boards.update().where(boards.c.id == before.id).values(**values))

    def _own(self, connection: sa.Connection, board_id: str, owner: str, *, by_owner: bool = False) -> Record:
        """Return a board that this visitor may change."""
        record = rows.read_record(connection, self.folder, board_id, owner)
        if not record.may_change(owner) or (by_owner and record.owner != owner):
            raise LibraryError(
                f"{record.name} belongs to somebody else, so you cannot change it. Duplicate it, and change "
                "the copy."
            )
        return record

    # uploads

    def uploads(self, owner: str = "", *, deleted: bool = False) -> list[Upload]:
        """Return an owner's uploads, newest first."""
        with self.database.reading() as connection:
            uses = rows.uses_of(connection, owner)
            uploads = connection.execute(rows.select_uploads(owner, deleted=deleted)).mappings()
            return [rows.read_upload(row, uses.get(row["sha256"], ())) for row in uploads]

    def spec_of(self, sha256s: Sequence[str], owner: str = "") -> BoardSpec:
        """Return a spec of an owner's uploads in this order, read as they were last."""
        with self.database.reading() as connection:
            shelf = {row["sha256"]: row for row in connection.execute(rows.select_uploads(owner)).mappings()}
            uses = rows.uses_of(connection, owner)
        if not shelf.keys() >= set(sha256s):
            raise LibraryError("An upload was removed from the library. Reload the page.")
        entries = (rows.read_entry(self.folder, shelf[sha256], uses.get(sha256, ())) for sha256 in sha256s)
        return BoardSpec(tuple(entries))

    def describe(self, sha256: str, note: str, owner: str = "") -> None:
        """Set the note of an upload."""
        with self.database.writing() as connection:
            _update_shelf(connection, owner, sha256, note=clean(note))

    def pin(self, sha256: str, owner: str = "", *, pinned: bool = True) -> None:
        """Set whether an upload is never evicted."""
        with self.database.writing() as connection:
            _update_shelf(connection, owner, sha256, pinned=pinned)

    @audited("deleted")
    def discard(self, sha256: str, owner: str = "") -> None:
        """Delete an upload and the unnamed boards that use it; it can be restored for 30 days."""
        when = now()
        with self.database.writing() as connection:
            affected = _uses_upload(sha256, owner) & boards.c.deleted.is_(None)
            names = connection.scalars(sa.select(boards.c.name).where(affected, boards.c.named)).all()
            if names:
                raise LibraryError(f"These boards use this upload: {', '.join(names[:5])}. Delete them first.")
            _update_shelf(connection, owner, sha256, deleted=when)
            connection.execute(boards.update().where(affected).values(deleted=when))

    @audited("restored")
    def reclaim(self, sha256: str, owner: str = "") -> None:
        """Restore an upload and the boards deleted with it."""
        with self.database.writing() as connection:
            when = connection.scalar(sa.select(shelves.c.deleted).where(_is_on_shelf(owner, sha256)))
            if when is not None and when < now() - RETENTION:
                raise LibraryError("This upload can no longer be restored.")
            _update_shelf(connection, owner, sha256, deleted=None)
            discarded = _uses_upload(sha256, owner) & (boards.c.deleted == when)
            connection.execute(boards.update().where(discarded).values(deleted=None))

    # sign-ins

    def end_sign_in(self, sign_in: str) -> None:
        """Record for all processes that a sign-in, identified by a hash, has ended."""
        is_old = (sign_outs.c.sign_in == sign_in) | (sign_outs.c.ended < now() - _LONGEST)
        with self.database.writing() as connection:
            connection.execute(sign_outs.delete().where(is_old))
            connection.execute(sign_outs.insert().values(sign_in=sign_in, ended=now()))

    def has_ended(self, sign_in: str) -> bool:
        """Return whether a sign-in has ended."""
        with self.database.reading() as connection:
            return connection.scalar(sa.select(sign_outs).where(sign_outs.c.sign_in == sign_in)) is not None

    # files

    @contextmanager
    def _taking_in(self, board: Board, owner: str) -> Iterator[sa.Connection]:
        """Yield a transaction that stores the files of a board, all together or not at all.

        Files are moved into place at the end, so that nothing remains of a rejected board.
        """
        files = {entry.file.sha256: entry.file for entry in board.spec.entries}
        pending: dict[str, PendingFile] = {}
        try:
            before = self._write_missing(files, pending)
            with self.database.writing() as connection:
                for sha256, ending in _endings(connection, pending).items():
                    if before.get(sha256) != ending:  # somebody else kept it meanwhile
                        self.folder.abandon([pending.pop(sha256)])
                n_bytes = sum(one.size for sha256, one in pending.items() if sha256 not in before)
                evicted = self._free_space(connection, owner, n_bytes, files.keys())
                for entry, source in zip(board.spec.entries, board.sources, strict=True):
                    sha256 = entry.file.sha256
                    if waiting := pending.get(sha256):
                        _write_upload(connection, entry, source, waiting)
                    _add_to_shelf(connection, owner, sha256, entry.file.name)
                yield connection
                for sha256 in list(pending):
                    self.folder.place(pending[sha256], sha256)
                    del pending[sha256]
        finally:
            self.folder.abandon(pending.values())
        if evicted or now() - self._swept > _OFTEN:
            with suppress(LibraryError):  # the board is stored; the next sweep retries
                self.sweep()

    def _write_missing(self, files: dict[str, File], pending: dict[str, PendingFile]) -> dict[str, str]:
        """Write the missing files to `pending`; return the endings of those that were stored before.

        Files to write are marked for removal until the transaction commits, in case this process is killed.
        Files already in place may belong to an older copy of the database, so they stay.
        """
        with self.database.reading() as connection:
            before = _endings(connection, files)
        missing = [file for sha256, file in files.items() if not self._has(file, before.get(sha256))]
        for file in missing:
            self._refuse_upload(file)
        for file in missing:
            pending[file.sha256] = self.folder.write(file)
        if pending:
            with self.database.writing() as connection:
                _release_files(connection, (sha256 for sha256 in pending if not self.folder.paths(sha256)))
        return before

    def _has(self, file: File, ending: str | None) -> bool:
        """Return whether an upload is stored intact."""
        return ending is not None and is_sound(
            self.folder.stored_file(file.sha256, file.name, file.size, ending)
        )

    def _refuse_upload(self, file: File) -> None:
        """Raise a LibraryError if a file cannot be stored."""
        if isinstance(file, StoredFile) and not is_sound(file):
            raise LibraryError(f"{file.name} was removed from the library. Upload it again.")
        if file.size > self.most_upload:
            limit = f"{self.most_upload / 10**6:,.0f} MB"
            raise LibraryError(f"{file.name} is not stored: it is larger than {limit}. Raise {MAX_UPLOAD}.")

    def sweep(self) -> None:
        """Remove items deleted 30 days ago or left by strangers.

        Unknown files stay, because they may belong to another database. Files written after their release stay,
        because this database may be an older copy.
        """
        self._swept = now()
        before = self._swept - RETENTION
        with self.database.writing() as connection:
            for table, last_change in ((boards, boards.c.changed), (shelves, shelves.c.added)):
                of_stranger = table.c.owner.startswith(STRANGER, autoescape=True)
                is_old = (table.c.deleted < before) | (of_stranger & (last_change < before))
                connection.execute(table.delete().where(is_old))
            referenced = sa.union(sa.select(shelves.c.sha256), sa.select(board_files.c.sha256))
            _delete_uploads(connection, uploads.c.sha256.not_in(referenced))
        self.folder.remove_abandoned()
        with self.database.writing() as connection:  # nothing is put in its place meanwhile
            is_kept = released_files.c.sha256.in_(sa.select(uploads.c.sha256))
            for sha256, released in connection.execute(sa.select(released_files).where(~is_kept)).all():
                if self.folder.remove(sha256, released):
                    _forget_released(connection, sha256)

    def _free_space(self, connection: sa.Connection, owner: str, n_bytes: int, keep: Iterable[str]) -> bool:
        """Free space for `n_bytes`; return whether uploads were removed.

        The owner's deleted uploads go first, then, if they chose so, the oldest. Pinned uploads, those on named
        boards, those of other owners and those in `keep` stay.
        """
        over = used_bytes(connection) + n_bytes - self.most
        if over <= 0:
            return False
        evict = _is_evicting(connection, owner)
        deleted = shelves.c.deleted.is_not(None)
        is_present = boards.c.deleted.is_(None)
        spared = (boards.c.owner != owner) | (is_present & boards.c.named if evict else is_present)
        used = sa.select(board_files.c.sha256).join(boards, boards.c.id == board_files.c.board_id).where(spared)
        query = (
            sa.select(uploads.c.sha256, uploads.c.kept_size)
            .join(shelves, shelves.c.sha256 == uploads.c.sha256)
            .where(
                shelves.c.owner == owner,
                deleted | shelves.c.pinned.is_(False) if evict else deleted,
                uploads.c.sha256.not_in(tuple(keep)),
                uploads.c.sha256.not_in(sa.select(shelves.c.sha256).where(shelves.c.owner != owner)),
                uploads.c.sha256.not_in(used),
            )
            .order_by(deleted.desc(), shelves.c.added)
        )
        going: list[str] = []
        for sha256, size in connection.execute(query):
            going.append(sha256)
            over -= size
            if over <= 0:
                break
        else:
            raise LibraryError(
                f"The library is full: {self.most / 10**6:,.0f} MB. Delete uploads, raise {MAX_LIBRARY}, or "
                "let the library remove its oldest uploads (on the page Data, under Library)."
            )
        using = sa.select(board_files.c.board_id).where(board_files.c.sha256.in_(going))
        connection.execute(boards.delete().where(boards.c.id.in_(using)))
        connection.execute(shelves.delete().where(shelves.c.sha256.in_(going)))
        _delete_uploads(connection, uploads.c.sha256.in_(going))
        return True


def _is_evicting(connection: sa.Connection, owner: str) -> bool:
    """Return whether this owner lets the oldest uploads go when the library is full."""
    return bool(connection.scalar(sa.select(owners.c.evict).where(owners.c.owner == owner)))


def used_bytes(connection: sa.Connection) -> int:
    """Return the stored bytes of all uploads and published tables."""
    sizes = (uploads.c.kept_size, published_tables.c.size)
    return sum(int(connection.scalar(sa.select(sa.func.coalesce(sa.func.sum(size), 0))) or 0) for size in sizes)


def _is_on_shelf(owner: str, sha256: str) -> sa.ColumnElement[bool]:
    """Return the condition that a row of `shelves` is this owner's upload."""
    return (shelves.c.owner == owner) & (shelves.c.sha256 == sha256)


def _add_to_shelf(connection: sa.Connection, owner: str, sha256: str, name: str) -> None:
    """Add an upload to an owner's library under its latest name."""
    shelf = shelves.update().where(_is_on_shelf(owner, sha256))
    if not connection.execute(shelf.values(name=name, deleted=None)).rowcount:
        row = {"owner": owner, "sha256": sha256, "name": name, "note": "", "pinned": False, "added": now()}
        connection.execute(shelves.insert().values(**row))


def _endings(connection: sa.Connection, sha256s: Iterable[str]) -> dict[str, str]:
    """Return stored upload → suffix of its file."""
    query = sa.select(uploads.c.sha256, uploads.c.ending).where(uploads.c.sha256.in_(tuple(sha256s)))
    return {row.sha256: row.ending for row in connection.execute(query)}


def _write_upload(connection: sa.Connection, entry: Entry, source: Source, pending: PendingFile) -> None:
    """Insert an upload, or update it after its damaged file was replaced."""
    storage = {"kept_size": pending.size, "ending": pending.path.suffix}
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
    _forget_released(connection, entry.file.sha256)


def _delete_uploads(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Delete uploads; the next sweep removes their files."""
    _release_files(connection, connection.scalars(sa.select(uploads.c.sha256).where(condition)))
    connection.execute(uploads.delete().where(condition))


def _release_files(connection: sa.Connection, sha256s: Iterable[str]) -> None:
    """Let the next sweep remove these files unless they are stored again."""
    files = [{"sha256": sha256, "released": now()} for sha256 in set(sha256s)]
    if files:
        is_released = released_files.c.sha256 == sa.bindparam("sha256")
        connection.execute(released_files.delete().where(is_released), files)
        connection.execute(released_files.insert(), files)


def _forget_released(connection: sa.Connection, sha256: str) -> None:
    """Clear the release of a file that was removed or stored again."""
    connection.execute(released_files.delete().where(released_files.c.sha256 == sha256))


def _update_shelf(connection: sa.Connection, owner: str, sha256: str, **values: Any) -> None:  # noqa: ANN401 of many types
    """Update an upload in an owner's library."""
    mine = _is_on_shelf(owner, sha256)
    if not connection.execute(shelves.update().where(mine).values(**values)).rowcount:
        raise LibraryError("This upload was removed from the library.")


def _uses_upload(sha256: str, owner: str) -> sa.ColumnElement[bool]:
    """Return the condition that a board belongs to this owner and uses an upload."""
    ids = sa.select(board_files.c.board_id).where(board_files.c.sha256 == sha256)
    return boards.c.id.in_(ids) & (boards.c.owner == owner)
