"""The library: stored uploads and boards of one or several people."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dashboard.library import intake, rows
from dashboard.library.audit import audited
from dashboard.library.boards import (
    Board,
    BoardSpec,
    board_name,
    clean,
    copy_name,
    default_name,
)
from dashboard.library.database import WAIT, Database, url_of
from dashboard.library.intake import MAX_LIBRARY, MAX_UPLOAD, Intake
from dashboard.library.loaded import Published
from dashboard.library.place import byte_limit, home
from dashboard.library.records import Access, BoardListing, Record, Upload
from dashboard.library.schema import (
    RETENTION,
    board_files,
    boards,
    is_restorable,
    now,
    owners,
    published_tables,
    shelves,
    sign_outs,
)
from dashboard.library.uploads import UploadFolder
from metrics.errors import LibraryError, UsageError

URL = "TIESCOPE_DATABASE_URL"
"""Environment variable: another database."""
USUAL = {MAX_UPLOAD: 2_200, MAX_LIBRARY: 20_000}
"""Default limits in megabytes."""
_LONGEST = timedelta(days=32)
"""No cookie is valid longer, including Streamlit's grace period, so older sign-outs are obsolete."""


class Library(Intake):
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
        database, folder = Database(url_of(url, home), wait, home), UploadFolder(home / "uploads")
        super().__init__(database, folder, most_upload, most)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def is_evicting(self, owner: str = "") -> bool:
        """Return whether the oldest uploads go when the library is full."""
        with self.database.reading() as connection:
            return intake.is_evicting(connection, owner)

    def set_eviction(self, owner: str = "", *, evict: bool) -> None:
        """Set whether the oldest uploads go when the library is full."""
        with self.database.writing() as connection:
            mine = owners.update().where(owners.c.owner == owner).values(evict=evict)
            if not connection.execute(mine).rowcount:
                connection.execute(owners.insert().values(owner=owner, evict=evict))

    def room(self) -> tuple[int, int]:
        """Return used and maximum bytes."""
        with self.database.reading() as connection:
            return intake.used_bytes(connection), self.most

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
        single: bool = False,
    ) -> Record:
        """Store a board and its files; an equal unnamed board is returned instead of a new one."""
        name = board_name(name)
        view = board.first_view if view is None else view
        with self.taking_in(board, owner) as connection:
            if single and connection.scalar(rows.boards_of_name(name, owner)):
                raise LibraryError(f"A board named {name} already exists. Choose another name.")
            board_id = None if name else connection.scalar(rows.unnamed_board(board.spec, owner))
            if board_id:
                connection.execute(boards.update().where(boards.c.id == board_id).values(changed=now()))
            else:
                board_id = rows.insert_board(
                    connection, board, owner, name=name, access=access, view=dict(view)
                )
            return rows.read_record(connection, self.folder, board_id, owner)

    @audited("changed")
    def revise(self, board_id: str, version: int, board: Board, owner: str = "") -> Record:
        """Change the content of a board unless it changed since `version`."""
        with self.taking_in(board, owner) as connection:
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
            intake.free_space(connection, owner, len(packed), self.most, on_board)
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
            of_board = sa.select(board_files).where(board_files.c.board_id == before.id)
            files = [dict(file, board_id=row["id"]) for file in connection.execute(of_board).mappings()]
            connection.execute(board_files.insert(), files)
            published = sa.select(published_tables).where(published_tables.c.board_id == before.id)
            for results in connection.execute(published).mappings():
                connection.execute(published_tables.insert().values(**{**results, "board_id": row["id"]}))
            for entry in before.spec.entries:
                rows.add_to_shelf(connection, owner, entry.file.sha256, entry.file.name)
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
            uses, boards_of = (
                rows.latest_uses(connection, owner),
                rows.boards_by_upload(connection, owner),
            )
            uploads = connection.execute(rows.select_uploads(owner, deleted=deleted)).mappings()
            return [
                rows.read_upload(row, uses.get(row["sha256"]), boards_of.get(row["sha256"], ()))
                for row in uploads
            ]

    def spec_of(self, sha256s: Sequence[str], owner: str = "") -> BoardSpec:
        """Return a spec of an owner's uploads in this order, read as they were last."""
        with self.database.reading() as connection:
            shelf = {row["sha256"]: row for row in connection.execute(rows.select_uploads(owner)).mappings()}
            uses = rows.latest_uses(connection, owner)
        if not shelf.keys() >= set(sha256s):
            raise LibraryError("An upload was removed from the library. Reload the page.")
        entries = (rows.read_entry(self.folder, shelf[sha256], uses.get(sha256)) for sha256 in sha256s)
        return BoardSpec(tuple(entries))

    def adopted(self, spec: BoardSpec) -> BoardSpec:
        """Return a spec whose files in the uploads folder are recognized as uploads."""
        entries = (replace(entry, file=self.folder.adopted(entry.file)) for entry in spec.entries)
        return replace(spec, entries=tuple(entries))

    def describe(self, sha256: str, note: str, owner: str = "") -> None:
        """Set the note of an upload."""
        with self.database.writing() as connection:
            rows.update_shelf(connection, owner, sha256, note=clean(note))

    def pin(self, sha256: str, owner: str = "", *, pinned: bool = True) -> None:
        """Set whether an upload is never evicted."""
        with self.database.writing() as connection:
            rows.update_shelf(connection, owner, sha256, pinned=pinned)

    @audited("deleted")
    def discard(self, sha256: str, owner: str = "") -> None:
        """Delete an upload and the unnamed boards that use it; it can be restored for 30 days."""
        when = now()
        with self.database.writing() as connection:
            affected = rows.uses_upload(sha256, owner) & boards.c.deleted.is_(None)
            names = connection.scalars(sa.select(boards.c.name).where(affected, boards.c.named)).all()
            if names:
                raise LibraryError(f"These boards use this upload: {', '.join(names[:5])}. Delete them first.")
            rows.update_shelf(connection, owner, sha256, deleted=when)
            connection.execute(boards.update().where(affected).values(deleted=when))

    @audited("restored")
    def reclaim(self, sha256: str, owner: str = "") -> None:
        """Restore an upload and the boards deleted with it."""
        with self.database.writing() as connection:
            when = connection.scalar(sa.select(shelves.c.deleted).where(rows.is_on_shelf(owner, sha256)))
            if when is not None and when < now() - RETENTION:
                raise LibraryError("This upload can no longer be restored.")
            rows.update_shelf(connection, owner, sha256, deleted=None)
            discarded = rows.uses_upload(sha256, owner) & (boards.c.deleted == when)
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
