"""The folder of kept uploads: each written whole under another name, then put in its place."""

import errno
import math
import os
import re
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from shutil import copyfile

import pyarrow as pa

from dashboard.library.storage.stored_upload import Reading, StoredUpload, write_parquet
from metrics.errors import LibraryError
from metrics.runs import File, Source

_ABANDONED = 3600
"""Seconds after which a file that is being written belongs to nobody."""
_ROOM = "Make room, or choose another TIESCOPE_HOME."
_MAGIC = b"PAR1"
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class PendingParquet:
    """A Parquet that is written and not yet in its place.

    Attributes:
        path: where it is.
        size: its bytes.
        digest: sha256 of them.
    """

    path: Path
    size: int
    digest: str


class Parquets:
    """Kept uploads by the sha256 of the bytes that were uploaded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str) -> Path:
        """Return where an upload has its place."""
        return self._folder / sha256[:2] / f"{sha256}.parquet"

    def stored_upload(self, sha256: str, name: str, size: int, reading: Reading, digest: str) -> StoredUpload:
        """Return an upload as a file to be read.

        Args:
            sha256: of the bytes that were uploaded.
            name: of the file.
            size: bytes that were uploaded.
            reading: what it was read as.
            digest: sha256 of its Parquet.
        """
        return StoredUpload(
            name, self.path(sha256), digest=sha256, uploaded_size=size, reading=reading, parquet_digest=digest
        )

    def has(self, sha256: str, digest: str) -> bool:
        """Return whether an upload is in its place, as it was written."""
        try:
            return _digest(self.path(sha256)) == digest
        except OSError:
            return False

    def write(self, file: File, source: Source) -> PendingParquet:
        """Write an upload beside its place; LibraryError where the disk is full, or cannot be written."""
        path = self._folder / "writing" / f"{secrets.token_hex(16)}.parquet"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(file, source, path)
            _take_bytes_of_same_rows(self.path(file.sha256), path)
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
            return PendingParquet(path, path.stat().st_size, _digest(path))
        except BaseException as error:
            self._remove(path)
            if not isinstance(error, OSError):
                raise
            reason = (error.strerror or str(error)).lower()
            hint = "Choose another TIESCOPE_HOME." if error.errno == errno.EROFS else _ROOM
            raise LibraryError(f"{file.name} is not kept: {self._folder}: {reason}. {hint}") from error

    def place(self, waiting: PendingParquet, sha256: str) -> None:
        """Put a Parquet in its place, for good."""
        place = self.path(sha256)
        try:
            place.parent.mkdir(exist_ok=True)
            waiting.path.replace(place)
            for folder in (place.parent, self._folder):
                sync_folder(folder)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LibraryError(f"The library's folder {self._folder}: {reason}.") from error

    def abandon(self, waiting: Iterable[PendingParquet]) -> None:
        """Remove what was written and not put in its place."""
        for parquet in waiting:
            self._remove(parquet.path)

    def remove(self, sha256: str, released: datetime) -> bool:
        """Remove an upload unless it was written since it was let go of; returns whether that is settled."""
        path = self.path(sha256)
        is_newer = path.exists() and _changed(path) > released.replace(tzinfo=UTC).timestamp()
        if not is_newer:
            self._remove(path)
        return is_newer or not path.exists()

    def remove_abandoned(self) -> None:
        """Remove files that nobody is writing any more."""
        abandoned = time.time() - _ABANDONED
        for path in self._folder.glob("writing/*.parquet"):
            if _changed(path) < abandoned:
                self._remove(path)

    def files(self) -> list[Path]:
        """Return all files that are in their places."""
        return sorted(path for path in self._folder.glob("*/*.parquet") if path.parent.name != "writing")

    def sha256_at(self, path: Path) -> str | None:
        """Return the sha256 of the upload whose place a path is; None of another path."""
        is_place = _SHA256.fullmatch(path.stem) and self.path(path.stem).resolve() == path.resolve()
        return path.stem if is_place else None

    @staticmethod
    def _remove(path: Path) -> None:
        """Remove a file; where that cannot be now, the next sweep does."""
        with suppress(OSError):
            path.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _take_bytes_of_same_rows(stored: Path, new: Path) -> None:
    """Make a new Parquet the one that is stored if this has the same rows.

    The database that wrote the stored one may come back, and knows it by the hash of its bytes.
    """
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other uses of the library need not pay

    with suppress(OSError, pa.ArrowException), stored.open("rb") as stream:
        is_whole = stream.read(len(_MAGIC)) == _MAGIC  # which pyarrow does not look at
        if is_whole and parquet.read_table(stored).equals(parquet.read_table(new)):
            copyfile(stored, new)


def _changed(path: Path) -> float:
    """Return when a file was written last; where it has just gone, never."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def sync_folder(folder: Path) -> None:
    """Have the disk know what is in a folder, where it can be asked to."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
