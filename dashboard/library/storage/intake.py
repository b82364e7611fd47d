"""Uploads into the library: written beside their places, then put there in one transaction; and out again."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from dashboard.library.boards import Board, BoardSpec
from dashboard.library.storage import quota, upload_rows
from dashboard.library.storage.database import Database
from dashboard.library.storage.parquets import Parquets, PendingParquet
from dashboard.library.storage.records import STRANGER
from dashboard.library.storage.schema import RETENTION, board_files, boards, now, shelves, uploads
from dashboard.library.storage.stored_upload import RANKED_COLUMNS, Reading, StoredUpload
from metrics.errors import LibraryError
from metrics.runs import File, Source

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

    def recognised(self, spec: BoardSpec, owner: str) -> BoardSpec:
        """Return the spec; what a board file brings is the upload it is said to be where that is so.

        It must have this Parquet, and be read so, by whoever kept it first or by this owner.
        """
        stated = [file.claim[0] for _, file in _imported_uploads(spec) if file.claim]
        if not stated:
            return spec
        with self.database.reading() as connection:
            digests = upload_rows.parquet_digests(connection, stated)
            readings = upload_rows.first_readings(connection, stated)
            mine = upload_rows.latest_uses(connection, owner, stated)
        entries = list(spec.entries)
        for position, file in _imported_uploads(spec):
            if not file.claim or digests.get(file.claim[0]) != file.parquet_digest:
                continue
            first, use = readings[file.claim[0]], mine.get(file.claim[0])
            if _is_same_reading(file.reading, first) or (use and _is_same_reading(file.reading, use.reading)):
                entries[position] = replace(entries[position], file=replace(file, digest=file.claim[0]))
        return replace(spec, entries=tuple(entries))

    @contextmanager
    def taking_in(self, board: Board, owner: str) -> Iterator[sa.Connection]:
        """Yield a transaction in which the files of a board are kept, or nothing is.

        They are put in their places when all else is done, so that nothing is there for what was refused.
        """
        stored_digests, pending = self._written(board)
        try:
            if pending:
                self._release_unless_kept(pending)
            with self.database.writing() as connection:
                for sha256, digest in upload_rows.parquet_digests(connection, pending).items():
                    if stored_digests.get(sha256) != digest:  # somebody else kept it meanwhile
                        self.parquets.abandon([pending.pop(sha256)])
                n_bytes = sum(one.size for sha256, one in pending.items() if sha256 not in stored_digests)
                shas = {entry.file.sha256 for entry in board.spec.entries}
                evicted = quota.free_space(connection, owner, n_bytes, self.most, shas)
                for entry, source in zip(board.spec.entries, board.sources, strict=True):
                    sha256 = entry.file.sha256
                    if waiting := pending.get(sha256):
                        parquet = {"kept_size": waiting.size, "kept_sha256": waiting.digest}
                        upload_rows.write_upload(connection, upload_rows.upload_values(entry, source) | parquet)
                    upload_rows.add_to_shelf(connection, owner, sha256, entry.file.name)
                yield connection
                for sha256 in list(pending):
                    self.parquets.place(pending[sha256], sha256)
                    del pending[sha256]
        finally:
            self.parquets.abandon(pending.values())
        if evicted or now() - self.swept > _OFTEN:
            with suppress(LibraryError):  # what is kept is kept; the next sweep removes what went
                self.sweep()

    def _release_unless_kept(self, sha256s: Iterable[str]) -> None:
        """Have a sweep remove files that are put in their places, but not kept: whoever does so may be killed.

        What is in its place already stays: an earlier database may have kept it.
        """
        with self.database.writing() as connection:
            new = [sha256 for sha256 in sha256s if not self.parquets.path(sha256).exists()]
            upload_rows.release_files(connection, new)

    def _written(self, board: Board) -> tuple[dict[str, str], dict[str, PendingParquet]]:
        """Map the sha256 of each kept file to that of its Parquet, of the others to one beside its place."""
        shas = [entry.file.sha256 for entry in board.spec.entries]
        with self.database.reading() as connection:
            stored_digests = upload_rows.parquet_digests(connection, shas)
        missing = {
            sha256: (entry.file, source)
            for sha256, entry, source in zip(shas, board.spec.entries, board.sources, strict=True)
            if sha256 not in stored_digests or not self.parquets.has(sha256, stored_digests[sha256])
        }
        for file, _ in missing.values():
            self._refuse_upload(file)
        written: dict[str, PendingParquet] = {}
        try:
            for sha256, (file, source) in missing.items():
                written[sha256] = self.parquets.write(file, source)
        except BaseException:
            self.parquets.abandon(written.values())
            raise
        return stored_digests, written

    def _refuse_upload(self, file: File) -> None:
        """Raise a LibraryError where a file cannot be kept."""
        if isinstance(file, StoredUpload) and not file.claim:
            raise LibraryError(f"{file.name} is no longer in the library. Upload it again.")
        if file.size > self.most_upload:
            limit = f"{self.most_upload / 10**6:,.0f} MB"
            raise LibraryError(f"{file.name} is not kept: larger than {limit}. Raise {MAX_UPLOAD}.")

    def sweep(self) -> None:
        """Forget what was deleted 30 days ago or left by strangers, and remove the files of what is forgotten.

        A file that this database never knew stays: it may be an upload of another. So does one written after it
        was let go of: this database may be an older copy of the one that keeps it.
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
            upload_rows.delete_uploads(connection, uploads.c.sha256.not_in(referenced))
        self.parquets.remove_abandoned()
        with self.database.writing() as connection:  # nothing is put in its place meanwhile
            for sha256, released in upload_rows.unneeded_files(connection):
                if self.parquets.remove(sha256, released):
                    upload_rows.forget_released(connection, sha256)

    def unknown_files(self) -> list[Path]:
        """Return the files in the folder of uploads that the database says nothing of."""
        paths = self.parquets.files()  # before the database is asked, which knows what comes meanwhile
        with self.database.reading() as connection:
            known = upload_rows.known_files(connection)
        return [path for path in paths if path.stem not in known]

    def adopted(self, spec: BoardSpec, sources: Sequence[Source]) -> tuple[BoardSpec, tuple[Source, ...]]:
        """Return a board; a file in the folder of uploads is the upload whose place it is in, not another."""
        entries, read = list(spec.entries), list(sources)
        for position, (entry, source) in enumerate(zip(spec.entries, sources, strict=True)):
            upload = self._upload_at(entry.file, source)
            if upload is not None:
                entries[position] = replace(entry, file=upload)
                read[position] = entries[position].read()
        return replace(spec, entries=tuple(entries)), tuple(read)

    def _upload_at(self, file: File, source: Source) -> StoredUpload | None:
        """Return the upload in whose place a file is, as it was written; None of another file."""
        sha256 = self.parquets.sha256_at(file.data) if isinstance(file.data, Path) else None
        if sha256 is None:
            return None
        with self.database.reading() as connection:
            digest = upload_rows.parquet_digests(connection, [sha256]).get(sha256, file.sha256)
        reading = Reading.of(source)
        if tuple(source.header) == RANKED_COLUMNS:
            reading = replace(reading, format="ranked")
        upload = self.parquets.stored_upload(sha256, file.name, file.size, reading, digest)
        return replace(upload, claim=(sha256, file.size)) if digest == file.sha256 else None


def _imported_uploads(spec: BoardSpec) -> list[tuple[int, StoredUpload]]:
    """Return what came in a board file, and where it stands in the spec."""
    files = [entry.file for entry in spec.entries]
    return [(at, file) for at, file in enumerate(files) if isinstance(file, StoredUpload) and file.claim]


def _is_same_reading(claimed: Reading, stored: Reading) -> bool:
    """Return whether a file is read as an upload is, whatever was found meanwhile."""
    return replace(claimed, noted=()) == replace(stored, noted=())
