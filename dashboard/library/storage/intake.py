"""Uploads into the library: written beside their places, then put there in one transaction; and out again."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec
from dashboard.library.storage import quota, rows
from dashboard.library.storage.database import Database
from dashboard.library.storage.parquets import Parquets, Waiting
from dashboard.library.storage.records import STRANGER
from dashboard.library.storage.rows import now
from dashboard.library.storage.schema import FORGOTTEN, board_files, boards, shelves, uploads
from dashboard.library.storage.stored_upload import Reading, StoredUpload
from metrics.errors import LibraryError
from metrics.runs import File

MAX_UPLOAD, MAX_LIBRARY = "TIESCOPE_MAX_UPLOAD_MB", "TIESCOPE_MAX_LIBRARY_MB"
"""Environment variables: megabytes of one upload as given, and of all as kept."""


_OFTEN = timedelta(days=1)
"""How long a library that is written to goes without a sweep."""


@dataclass
class Intake:
    """Where uploads go in and out.

    Attributes:
        database: what there is.
        parquets: what it holds.
        most_upload: bytes of one upload, as given.
        most: bytes of all uploads, as kept.
        swept: when this process began, or swept last.
    """

    database: Database
    parquets: Parquets
    most_upload: int
    most: int
    swept: datetime = field(default_factory=now)

    def recognised(self, recipe: BoardSpec, owner: str) -> BoardSpec:
        """The same; what a board file brings is the upload it is said to be where that is so.

        It must have this Parquet, and be read so, by whoever kept it first or by this owner.
        """
        stated = [file.stated[0] for _, file in _brought(recipe) if file.stated]
        if not stated:
            return recipe
        with self.database.reading() as connection:
            known = rows.digests(connection, stated)
            readings = rows.readings(connection, stated)
            mine = rows.uses(connection, owner, stated)
        entries = list(recipe.entries)
        for at, file in _brought(recipe):
            if not file.stated or known.get(file.stated[0]) != file.parquet_digest:
                continue
            first, use = readings[file.stated[0]], mine.get(file.stated[0])
            if _same(file.reading, first) or (use and _same(file.reading, use.reading)):
                entries[at] = replace(entries[at], file=replace(file, digest=file.stated[0]))
        return replace(recipe, entries=tuple(entries))

    @contextmanager
    def taking_in(self, board: Board, owner: str) -> Iterator[sa.Connection]:
        """A transaction in which the files of a board are kept, or nothing is.

        They are put in their places when all else is done, so that nothing is there for what was refused.
        """
        known, written = self._written(board)
        try:
            with self.database.writing() as connection:
                for sha256, digest in rows.digests(connection, written).items():
                    if known.get(sha256) != digest:  # somebody else kept it meanwhile
                        self.parquets.abandon([written.pop(sha256)])
                wanted = sum(one.size for sha256, one in written.items() if sha256 not in known)
                shas = {entry.file.sha256 for entry in board.recipe.entries}
                evicted = quota.make_room(connection, owner, wanted, self.most, shas)
                for entry, source in zip(board.recipe.entries, board.sources, strict=True):
                    sha256 = entry.file.sha256
                    if waiting := written.get(sha256):
                        parquet = {"kept_size": waiting.size, "kept_sha256": waiting.digest}
                        rows.write_upload(connection, rows.upload_values(entry, source) | parquet)
                    rows.put(connection, owner, sha256, entry.file.name)
                yield connection
                for sha256 in list(written):
                    self.parquets.place(written[sha256], sha256)
                    del written[sha256]
        finally:
            self.parquets.abandon(written.values())
        if evicted or now() - self.swept > _OFTEN:
            with suppress(LibraryError):  # what is kept is kept; the next sweep removes what went
                self.sweep()

    def _written(self, board: Board) -> tuple[dict[str, str], dict[str, Waiting]]:
        """By sha256: of the kept files, that of their Parquet; of the others, a Parquet beside its place."""
        shas = [entry.file.sha256 for entry in board.recipe.entries]
        with self.database.reading() as connection:
            known = rows.digests(connection, shas)
        missing = {
            sha256: (entry.file, source)
            for sha256, entry, source in zip(shas, board.recipe.entries, board.sources, strict=True)
            if sha256 not in known or not self.parquets.has(sha256, known[sha256])
        }
        for file, _ in missing.values():
            self._refuse(file)
        written: dict[str, Waiting] = {}
        try:
            for sha256, (file, source) in missing.items():
                written[sha256] = self.parquets.write(file, source)
        except BaseException:
            self.parquets.abandon(written.values())
            raise
        return known, written

    def _refuse(self, file: File) -> None:
        """Raise a LibraryError where a file cannot be kept."""
        if isinstance(file, StoredUpload) and not file.stated:
            raise LibraryError(f"{file.name} is no longer in the library. Upload it again.")
        if file.size > self.most_upload:
            most = f"{self.most_upload / 10**6:,.0f} MB"
            raise LibraryError(f"{file.name} is not kept: larger than {most}. Raise {MAX_UPLOAD}.")

    def sweep(self) -> None:
        """Forget what was deleted 30 days ago or left by strangers, and remove files that no upload needs."""
        self.swept = now()
        before = self.swept - FORGOTTEN
        with self.database.writing() as connection:
            for table, seen in ((boards, boards.c.changed), (shelves, shelves.c.added)):
                left = table.c.owner.startswith(STRANGER, autoescape=True) & (seen < before)
                connection.execute(table.delete().where((table.c.deleted < before) | left))
            held = sa.union(sa.select(shelves.c.sha256), sa.select(board_files.c.sha256))
            connection.execute(uploads.delete().where(uploads.c.sha256.not_in(held)))
        with self.database.writing() as connection:
            self.parquets.sweep(set(connection.scalars(sa.select(uploads.c.sha256))))


def _brought(recipe: BoardSpec) -> list[tuple[int, StoredUpload]]:
    """What came in a board file, and where in the recipe."""
    files = [entry.file for entry in recipe.entries]
    return [(at, file) for at, file in enumerate(files) if isinstance(file, StoredUpload) and file.stated]


def _same(stated: Reading, kept: Reading) -> bool:
    """Whether a file is read as an upload is, whatever was found meanwhile."""
    return replace(stated, noted=()) == replace(kept, noted=())
