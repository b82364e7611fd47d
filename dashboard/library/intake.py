"""Adding uploads to the library within its limits, and removing them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from dashboard.library import rows
from dashboard.library.boards import Board
from dashboard.library.database import Database
from dashboard.library.earlier import EarlierUpload
from dashboard.library.records import STRANGER
from dashboard.library.schema import (
    RETENTION,
    board_files,
    boards,
    now,
    owners,
    published_tables,
    shelves,
    uploads,
)
from dashboard.library.uploads import (
    EARLIER,
    PendingFile,
    StoredFile,
    UploadFolder,
    is_sound,
)
from metrics.errors import LibraryError
from metrics.runs import File

MAX_UPLOAD, MAX_LIBRARY = "TIESCOPE_MAX_UPLOAD_MB", "TIESCOPE_MAX_LIBRARY_MB"
"""Environment variables: maximum megabytes of one upload, and of all stored uploads."""
_OFTEN = timedelta(days=1)
"""Interval between sweeps of a library that is written to."""


@dataclass(eq=False)
class Intake:
    """Adds and removes uploads."""

    database: Database  # metadata
    folder: UploadFolder  # files
    most_upload: int  # maximum bytes of an upload, as given
    most: int  # maximum bytes of all uploads, as stored
    swept: datetime = field(default_factory=now)  # time of the last sweep, or of the start

    @contextmanager
    def taking_in(self, board: Board, owner: str) -> Iterator[sa.Connection]:
        """Yield a transaction that stores the files of a board, all together or not at all.

        Files are moved into place at the end, so that nothing remains of a rejected board.
        """
        before, pending = self._written(board)
        try:
            if pending:
                self._release_unless_kept(pending)
            with self.database.writing() as connection:
                for sha256, ending in rows.endings(connection, pending).items():
                    if before.get(sha256) != ending:  # somebody else kept it meanwhile
                        self.folder.abandon([pending.pop(sha256)])
                n_bytes = sum(one.size for sha256, one in pending.items() if sha256 not in before)
                shas = {entry.file.sha256 for entry in board.spec.entries}
                evicted = free_space(connection, owner, n_bytes, self.most, shas)
                for entry, source in zip(board.spec.entries, board.sources, strict=True):
                    sha256 = entry.file.sha256
                    if waiting := pending.get(sha256):
                        rows.write_upload(connection, entry, source, waiting)
                    rows.add_to_shelf(connection, owner, sha256, entry.file.name)
                yield connection
                for sha256 in list(pending):
                    self.folder.place(pending[sha256], sha256)
                    del pending[sha256]
        finally:
            self.folder.abandon(pending.values())
        if evicted or now() - self.swept > _OFTEN:
            with suppress(LibraryError):  # the board is stored; the next sweep retries
                self.sweep()

    def _release_unless_kept(self, sha256s: Iterable[str]) -> None:
        """Mark files for removal until the transaction commits, in case this process is killed.

        Files already in place may belong to an older copy of the database, so they stay.
        """
        with self.database.writing() as connection:
            new = [sha256 for sha256 in sha256s if not self.folder.paths(sha256)]
            rows.release_files(connection, new)

    def _written(self, board: Board) -> tuple[dict[str, str], dict[str, PendingFile]]:
        """Return the stored endings of a board's files, and write the missing files."""
        files = {entry.file.sha256: entry.file for entry in board.spec.entries}
        with self.database.reading() as connection:
            before = rows.endings(connection, files)
        missing = {sha256: file for sha256, file in files.items() if not self._has(file, before.get(sha256))}
        for file in missing.values():
            self._refuse_upload(file)
        written: dict[str, PendingFile] = {}
        try:
            for sha256, file in missing.items():
                written[sha256] = self.folder.write(file)
        except BaseException:
            self.folder.abandon(written.values())
            raise
        return before, written

    def _has(self, file: File, ending: str | None) -> bool:
        """Return whether an upload is stored intact; a Parquet does not replace the original bytes."""
        if ending is None or (ending == EARLIER and not isinstance(file, EarlierUpload)):
            return False
        stored = self.folder.stored_file(file.sha256, file.name, file.size, ending)
        return is_sound(file if isinstance(file, EarlierUpload) and ending == EARLIER else stored)

    def _refuse_upload(self, file: File) -> None:
        """Raise a LibraryError if a file cannot be stored."""
        if isinstance(file, EarlierUpload) or (isinstance(file, StoredFile) and not is_sound(file)):
            raise LibraryError(f"{file.name} was removed from the library. Upload it again.")
        if file.size > self.most_upload:
            limit = f"{self.most_upload / 10**6:,.0f} MB"
            raise LibraryError(f"{file.name} is not stored: it is larger than {limit}. Raise {MAX_UPLOAD}.")

    def sweep(self) -> None:
        """Remove items deleted 30 days ago or left by strangers.

        Unknown files stay, because they may belong to another database. Files written after their release stay,
        because this database may be an older copy.
        """
        self.swept = now()
        before = self.swept - RETENTION
        with self.database.writing() as connection:
            for table, last_change in ((boards, boards.c.changed), (shelves, shelves.c.added)):
                is_left_by_stranger = table.c.owner.startswith(STRANGER, autoescape=True) & (
                    last_change < before
                )
                connection.execute(table.delete().where((table.c.deleted < before) | is_left_by_stranger))
            referenced = sa.union(sa.select(shelves.c.sha256), sa.select(board_files.c.sha256))
            rows.delete_uploads(connection, uploads.c.sha256.not_in(referenced))
        self.folder.remove_abandoned()
        with self.database.writing() as connection:  # nothing is put in its place meanwhile
            for sha256, released in rows.unneeded_files(connection):
                if self.folder.remove(sha256, released):
                    rows.forget_released(connection, sha256)

    def unknown_files(self) -> list[Path]:
        """Return files in the uploads folder that the database does not list."""
        paths = self.folder.files()  # before the database is asked, which knows what comes meanwhile
        with self.database.reading() as connection:
            listed_files = rows.known_files(connection)
        return [path for path in paths if path.stem not in listed_files]


# room


def is_evicting(connection: sa.Connection, owner: str) -> bool:
    """Return whether this owner lets the oldest uploads go when the library is full."""
    return bool(connection.scalar(sa.select(owners.c.evict).where(owners.c.owner == owner)))


def used_bytes(connection: sa.Connection) -> int:
    """Return the stored bytes of all uploads and published tables."""
    sizes = (uploads.c.kept_size, published_tables.c.size)
    return sum(int(connection.scalar(sa.select(sa.func.coalesce(sa.func.sum(size), 0))) or 0) for size in sizes)


def free_space(connection: sa.Connection, owner: str, n_bytes: int, limit: int, keep: set[str]) -> bool:
    """Free space for `n_bytes`; return whether uploads were removed.

    The owner's deleted uploads go first, then, if they chose so, the oldest. Pinned uploads, those on named
    boards, those of other owners and those in `keep` stay.
    """
    over = used_bytes(connection) + n_bytes - limit
    if over <= 0:
        return False
    going = _oldest(connection, owner, over, keep)
    if going is None:
        raise LibraryError(
            f"The library is full: {limit / 10**6:,.0f} MB. Delete uploads, raise TIESCOPE_MAX_LIBRARY_MB, "
            "or let the library remove its oldest uploads (on the page Data, under Library)."
        )
    using = sa.select(board_files.c.board_id).where(board_files.c.sha256.in_(going))
    connection.execute(boards.delete().where(boards.c.id.in_(using)))
    connection.execute(shelves.delete().where(shelves.c.sha256.in_(going)))
    rows.delete_uploads(connection, uploads.c.sha256.in_(going))
    return True


def _oldest(connection: sa.Connection, owner: str, over: int, keep: set[str]) -> list[str] | None:
    """Return the uploads to remove, None if they do not free enough space."""
    evict = is_evicting(connection, owner)
    deleted = shelves.c.deleted.is_not(None)
    other_shelves = sa.select(shelves.c.sha256).where(shelves.c.owner != owner)
    is_present = boards.c.deleted.is_(None)
    spared = (boards.c.owner != owner) | (is_present & boards.c.named if evict else is_present)
    used = sa.select(board_files.c.sha256).join(boards, boards.c.id == board_files.c.board_id).where(spared)
    query = (
        sa.select(uploads.c.sha256, uploads.c.kept_size)
        .join(shelves, shelves.c.sha256 == uploads.c.sha256)
        .where(
            shelves.c.owner == owner,
            deleted | shelves.c.pinned.is_(False) if evict else deleted,
            uploads.c.sha256.not_in(keep),
            uploads.c.sha256.not_in(other_shelves),
            uploads.c.sha256.not_in(used),
        )
        .order_by(deleted.desc(), shelves.c.added)
    )
    going: list[str] = []
    for sha256, size in connection.execute(query):
        if over <= 0:
            break
        going.append(sha256)
        over -= size
    return going if over <= 0 else None
