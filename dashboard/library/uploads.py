"""Stored uploads: the original bytes under their sha256, compressed with zstd unless already compressed."""

import errno
import math
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import IO, Any, Literal, cast

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import LibraryError
from metrics.runs import File, MissingScore, Source, read
from metrics.runs.files import BLOCK
from metrics.support.arrays import histogram
from metrics.support.cached import cached_property

BARS = 24
"""Bars of the histogram in a profile."""
MISSING_SCORE = "missing_score"
"""Key of the rule for missing scores among the chosen columns."""
PACKED, AS_GIVEN = ".zst", ".raw"
"""Suffixes: compressed here, compressed by the user."""
_ABANDONED = 3600
"""Seconds after which an unfinished file is abandoned."""
_ROOM = "Free some space, or choose another TIESCOPE_HOME."
_PARQUET = b"PAR1"


def split_choices(choices: Mapping[str, str]) -> tuple[dict[str, str], MissingScore]:
    """Return the chosen columns and the rule for missing scores."""
    columns = dict(choices)
    rule = columns.pop(MISSING_SCORE, "error")
    return columns, cast("MissingScore", rule)  # another word is refused as the file is read


@dataclass(frozen=True)
class StoredFile(File):
    """A stored file."""

    digest: str = ""  # sha256 of the uploaded bytes
    uploaded_size: int = 0  # number of uploaded bytes

    @cached_property
    def sha256(self) -> str:
        """Hash of the uploaded bytes."""
        return self.digest

    @cached_property
    def size(self) -> int:
        """Number of uploaded bytes."""
        return self.uploaded_size

    @property
    def path(self) -> Path:
        """Its path."""
        return cast("Path", self.data)

    @property
    def limit(self) -> float:
        """Maximum unpacked bytes: none, because the upload was checked."""
        return inf

    def read(self, columns: Mapping[str, str], missing_score: MissingScore) -> Source:
        """Return the content of the file; LibraryError if it is missing or damaged."""
        self.verify()
        return read(self, columns, missing_score=missing_score)

    def verify(self) -> None:
        """Raise a LibraryError if the stored bytes have changed."""
        digest = sha256()
        try:
            for block in self.uploaded():
                digest.update(block)
        except OSError as error:
            if error.errno:
                reason = (error.strerror or "cannot be opened").lower()
                raise LibraryError(
                    f"{self.name}: the library's copy cannot be read ({reason}). Upload the file again."
                ) from error
        if digest.hexdigest() != self.digest:
            raise LibraryError(f"{self.name}: the library's copy is damaged. Upload the file again.")

    def uploaded(self) -> Iterator[bytes]:
        """Yield the uploaded bytes; OSError if the copy is missing or not zstd."""
        with self.path.open("rb") as raw:
            yield from _blocks(pa.input_stream(raw, compression="zstd" if self.path.suffix == PACKED else None))


def uploaded_bytes(file: File) -> Iterator[bytes]:
    """Yield the original bytes of a file."""
    if isinstance(file, StoredFile):
        yield from file.uploaded()
    else:
        with file.given() as stream:
            yield from _blocks(stream)


def is_sound(file: StoredFile) -> bool:
    """Return whether a stored file is intact."""
    try:
        file.verify()
    except LibraryError:
        return False
    return True


def is_packed(file: File) -> bool:
    """Return whether a file is already compressed."""
    if isinstance(file, StoredFile):
        return file.path.suffix != PACKED
    with file.given() as stream:
        return file.packed is not None or bool(stream.read(len(_PARQUET)) == _PARQUET)


def _blocks(stream: pa.NativeFile) -> Iterator[bytes]:
    while block := stream.read_buffer(BLOCK).to_pybytes():
        yield block


@dataclass(frozen=True)
class Reading:
    """How a file was read."""

    format: str  # name of its format
    mapping: Mapping[str, str]  # our column → the file's column

    @classmethod
    def of(cls, source: Source) -> "Reading":
        """Return how a source was read; judgments omit scores."""
        names = source.table.column_names
        return cls(source.format, {ours: theirs for ours, theirs in source.mapping.items() if ours in names})

    @property
    def kind(self) -> Literal["run", "qrels"]:
        """`run` if there are scores, else `qrels`."""
        return "run" if "score" in self.mapping else "qrels"


@dataclass(frozen=True)
class Profile:
    """Summary of an upload in the library."""

    queries: int  # number of queries
    depth: int  # documents of the longest list
    tied: float | None  # share of tied rows, None for judgments
    bars: tuple[int, ...]  # histogram of finite scores or grades

    @classmethod
    def of(cls, source: Source) -> "Profile":
        """Return the profile of a source."""
        scored = source.kind == "run"
        column = "score" if scored else "relevance"
        keys = [name for name in ("reranker", "query_id") if name in source.table.column_names]
        lists = source.table.group_by(keys).aggregate([([], "count_all")])
        ties = source.table.group_by([*keys, column]).aggregate([([], "count_all")])["count_all"]
        tied = pc.sum(ties.filter(pc.greater(ties, 1))).as_py() or 0
        return cls(
            len(pc.unique(source.table["query_id"])),
            pc.max(lists["count_all"]).as_py() or 0,
            tied / max(len(source.table), 1) if scored else None,
            tuple(histogram(source.table[column].to_numpy(), BARS)[0].tolist()),
        )


@dataclass(frozen=True)
class PendingFile:
    """A written upload that is not in place yet, and its stored bytes."""

    path: Path
    size: int


class UploadFolder:
    """Stored uploads, each written under a temporary name and then moved into place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str, ending: str) -> Path:
        """Return the path of an upload."""
        return self._folder / sha256[:2] / f"{sha256}{ending}"

    def paths(self, sha256: str) -> list[Path]:
        """Return all existing files of an upload."""
        paths = (self.path(sha256, ending) for ending in (PACKED, AS_GIVEN))
        return [path for path in paths if path.exists()]

    def stored_file(self, sha256: str, name: str, size: int, ending: str) -> StoredFile:
        """Return an upload as a file."""
        return StoredFile(name, self.path(sha256, ending), digest=sha256, uploaded_size=size)

    def write(self, file: File) -> PendingFile:
        """Write an upload under a temporary name; LibraryError if the disk is full or read-only."""
        ending = AS_GIVEN if is_packed(file) else PACKED
        path = self._folder / "writing" / f"{secrets.token_hex(16)}{ending}"
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            path.parent.mkdir(exist_ok=True)
            with path.open("wb") as stream:
                _write(file, stream, pack=ending == PACKED)
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
            return PendingFile(path, path.stat().st_size)
        except BaseException as error:
            self._remove(path)
            if not isinstance(error, OSError):
                raise
            reason = (error.strerror or str(error)).lower()
            hint = "Choose another TIESCOPE_HOME." if error.errno == errno.EROFS else _ROOM
            raise LibraryError(f"{file.name} is not stored: {self._folder}: {reason}. {hint}") from error

    def place(self, waiting: PendingFile, sha256: str) -> None:
        """Move an upload into place and flush it to disk."""
        place = self.path(sha256, waiting.path.suffix)
        try:
            place.parent.mkdir(exist_ok=True)
            waiting.path.replace(place)
            for folder in (place.parent, self._folder):
                sync_folder(folder)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LibraryError(f"The library's folder {self._folder}: {reason}.") from error

    def abandon(self, waiting: Iterable[PendingFile]) -> None:
        """Remove files that were not moved into place."""
        for pending in waiting:
            self._remove(pending.path)

    def remove(self, sha256: str, released: datetime) -> bool:
        """Remove an upload unless it was written after its release; return whether it is settled."""
        older = [
            path for path in self.paths(sha256) if _changed(path) <= released.replace(tzinfo=UTC).timestamp()
        ]
        for path in older:
            self._remove(path)
        return not any(path.exists() for path in older)

    def remove_abandoned(self) -> None:
        """Remove abandoned temporary files."""
        abandoned = time.time() - _ABANDONED
        for path in self._folder.glob("writing/*.*"):
            if _changed(path) < abandoned:
                self._remove(path)

    @staticmethod
    def _remove(path: Path) -> None:
        """Remove a file; the next sweep retries failures."""
        with suppress(OSError):
            path.unlink()


def _write(file: File, into: IO[bytes], *, pack: bool) -> None:
    """Write the original bytes of a file; LibraryError if they have changed."""
    digest = sha256()
    stream: Any = pa.CompressedOutputStream(pa.PythonFile(into, "w"), "zstd") if pack else into
    for block in uploaded_bytes(file):
        digest.update(block)
        stream.write(block)
    if pack:
        stream.close()
    if digest.hexdigest() != file.sha256:
        raise LibraryError(f"{file.name} is not stored: it has changed since it was read. Try again.")


def _changed(path: Path) -> float:
    """Return the modification time, infinite if the file no longer exists."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def sync_folder(folder: Path) -> None:
    """Flush a folder to disk where the system supports it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
