"""Uploads into the library: written beside their places, then put there in one transaction; and out again."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import sqlalchemy as sa

from dashboard.library import room, rows
from dashboard.library.boards import Board, Recipe
from dashboard.library.database import Database
from dashboard.library.kept import Kept
from dashboard.library.parquets import Parquets, Waiting
from dashboard.library.rows import now
from dashboard.library.schema import FORGOTTEN, board_files, boards, shelves, uploads
from metrics.errors import LibraryError
from metrics.runs import File

MAX_UPLOAD, MAX_LIBRARY = "TIESCOPE_MAX_UPLOAD_MB", "TIESCOPE_MAX_LIBRARY_MB"
"""Environment variables: megabytes of one upload as given, and of all as kept."""


@dataclass(frozen=True)
class Intake:
    """Where uploads go in and out.

    Attributes:
        database: what there is.
        parquets: what it holds.
        most_upload: bytes of one upload, as given.
        most: bytes of all uploads, as kept.
    """

    database: Database
    parquets: Parquets
    most_upload: int
    most: int

    def recognised(self, recipe: Recipe) -> Recipe:
        """The same; what a board file brings is the upload it is said to be where that has this Parquet."""
        stated = [file.stated[0] for _, file in _brought(recipe) if file.stated]
        if not stated:
            return recipe
        with self.database.reading() as connection:
            known = rows.digests(connection, stated)
        entries = list(recipe.entries)
        for at, file in _brought(recipe):
            if file.stated and known.get(file.stated[0]) == file.parquet_digest:
                entries[at] = replace(entries[at], file=replace(file, digest=file.stated[0]))
        return replace(recipe, entries=tuple(entries))

    @contextmanager
    def taking_in(self, board: Board, owner: str) -> Iterator[sa.Connection]:
        """A transaction in which the files of a board are kept, or nothing is."""
        known, written = self._written(board)
        try:
            with self.database.writing() as connection:
                for sha256, digest in rows.digests(connection, written).items():
                    if known.get(sha256) != digest:  # somebody else kept it meanwhile
                        self.parquets.abandon([written.pop(sha256)])
                wanted = sum(one.size for sha256, one in written.items() if sha256 not in known)
                shas = {entry.file.sha256 for entry in board.recipe.entries}
                evicted = room.make_room(connection, owner, wanted, self.most, shas)
                for entry, source in zip(board.recipe.entries, board.sources, strict=True):
                    sha256 = entry.file.sha256
                    if waiting := written.get(sha256):
                        self.parquets.place(waiting, sha256)
                        del written[sha256]
                        parquet = {"kept_size": waiting.size, "kept_sha256": waiting.digest}
                        rows.write_upload(connection, rows.upload_values(entry, source) | parquet)
                    rows.put(connection, owner, sha256, entry.file.name)
                yield connection
        finally:
            self.parquets.abandon(written.values())
        if evicted:
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
        if isinstance(file, Kept) and not file.stated:
            raise LibraryError(f"{file.name} is no longer in the library. Upload it again.")
        if file.size > self.most_upload:
            most = f"{self.most_upload / 10**6:,.0f} MB"
            raise LibraryError(f"{file.name} is not kept: larger than {most}. Raise {MAX_UPLOAD}.")

    def sweep(self) -> None:
        """Forget what was deleted 30 days ago, and remove files that no upload needs."""
        before = now() - FORGOTTEN
        with self.database.writing() as connection:
            connection.execute(boards.delete().where(boards.c.deleted < before))
            connection.execute(shelves.delete().where(shelves.c.deleted < before))
            held = sa.union(sa.select(shelves.c.sha256), sa.select(board_files.c.sha256))
            connection.execute(uploads.delete().where(uploads.c.sha256.not_in(held)))
        with self.database.writing() as connection:
            self.parquets.sweep(set(connection.scalars(sa.select(uploads.c.sha256))))


def _brought(recipe: Recipe) -> list[tuple[int, Kept]]:
    """What came in a board file, and where in the recipe."""
    files = [entry.file for entry in recipe.entries]
    return [(at, file) for at, file in enumerate(files) if isinstance(file, Kept) and file.stated]
