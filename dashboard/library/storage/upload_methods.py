"""The library's uploads: what can be done with them."""

from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from dashboard.library.audit import audited
from dashboard.library.boards import BoardSpec
from dashboard.library.names import clean
from dashboard.library.storage import upload_rows
from dashboard.library.storage.base import LibraryBase
from dashboard.library.storage.records import Upload
from dashboard.library.storage.schema import RETENTION, boards, now, shelves
from metrics.errors import LibraryError
from metrics.runs import Source


class UploadMethods(LibraryBase):
    """Uploads in a folder and a database."""

    def uploads(self, owner: str = "", *, deleted: bool = False) -> list[Upload]:
        """Return somebody's uploads, the newest first."""
        with self._database.reading() as connection:
            uses, boards_of = (
                upload_rows.latest_uses(connection, owner),
                upload_rows.boards_by_upload(connection, owner),
            )
            uploads = connection.execute(upload_rows.select_uploads(owner, deleted=deleted)).mappings()
            return [
                upload_rows.read_upload(row, uses.get(row["sha256"]), boards_of.get(row["sha256"], ()))
                for row in uploads
            ]

    def spec_of(self, sha256s: Sequence[str], owner: str = "") -> BoardSpec:
        """Return somebody's uploads as what a board can be made from, in this order, read as before."""
        with self._database.reading() as connection:
            shelf = {
                row["sha256"]: row for row in connection.execute(upload_rows.select_uploads(owner)).mappings()
            }
            uses = upload_rows.latest_uses(connection, owner, sha256s)
        if not shelf.keys() >= set(sha256s):
            raise LibraryError("An upload is no longer in the library. Load the page again.")
        entries = (
            upload_rows.read_entry(self._parquets, shelf[sha256], uses.get(sha256)) for sha256 in sha256s
        )
        return BoardSpec(tuple(entries))

    def recognised(self, spec: BoardSpec, owner: str = "") -> BoardSpec:
        """Return the spec; what a board file brings is the upload it is said to be where that is so."""
        return self._intake.recognised(spec, owner)

    def adopted(self, spec: BoardSpec, sources: Sequence[Source]) -> tuple[BoardSpec, tuple[Source, ...]]:
        """Return a board; a file in the folder of uploads is the upload whose place it is in, not another."""
        return self._intake.adopted(spec, sources)

    def unknown_files(self) -> list[Path]:
        """Return the files in the folder of uploads that the database says nothing of."""
        return self._intake.unknown_files()

    def describe(self, sha256: str, note: str, owner: str = "") -> None:
        """Write a note on an upload.

        Args:
            sha256: hash of the upload.
            note: the text; control characters are left out.
            owner: whose library; an empty text where one owner stands for everybody.
        """
        with self._database.writing() as connection:
            upload_rows.update_shelf(connection, owner, sha256, note=clean(note))

    def pin(self, sha256: str, owner: str = "", *, pinned: bool = True) -> None:
        """Say whether an upload stays when room is needed.

        Args:
            sha256: hash of the upload.
            owner: whose library; an empty text where one owner stands for everybody.
            pinned: whether it stays.
        """
        with self._database.writing() as connection:
            upload_rows.update_shelf(connection, owner, sha256, pinned=pinned)

    @audited("deleted")
    def discard(self, sha256: str, owner: str = "") -> None:
        """Take an upload away, and the boards without a name that use it; for 30 days it can be reclaimed."""
        when = now()
        with self._database.writing() as connection:
            affected = upload_rows.uses_upload(sha256, owner) & boards.c.deleted.is_(None)
            names = connection.scalars(sa.select(boards.c.name).where(affected, boards.c.named)).all()
            if names:
                raise LibraryError(f"It is used on {', '.join(names[:5])}. Delete that first.")
            upload_rows.update_shelf(connection, owner, sha256, deleted=when)
            connection.execute(boards.update().where(affected).values(deleted=when))

    @audited("restored")
    def reclaim(self, sha256: str, owner: str = "") -> None:
        """Bring an upload back, and the boards that went with it."""
        with self._database.writing() as connection:
            when = connection.scalar(sa.select(shelves.c.deleted).where(upload_rows.is_on_shelf(owner, sha256)))
            if when is not None and when < now() - RETENTION:
                raise LibraryError("That upload is gone for good.")
            upload_rows.update_shelf(connection, owner, sha256, deleted=None)
            discarded = upload_rows.uses_upload(sha256, owner) & (boards.c.deleted == when)
            connection.execute(boards.update().where(discarded).values(deleted=None))
