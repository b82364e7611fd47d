"""Uploads as they are kept: the bytes that came, under their sha256, packed with zstd unless packed already."""

import errno
import math
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import IO, Any, Literal, cast

import pyarrow as pa
import pyarrow.compute as pc

from dashboard.library import read_before
from metrics.errors import LibraryError
from metrics.runs import File, MissingScore, Source, read
from metrics.runs.files import BLOCK
from metrics.support.arrays import histogram
from metrics.support.cached import cached_property

BARS = 24
"""Bars of the histogram that is kept of each upload."""
MISSING_SCORE = "missing_score"
"""Stands among the choices of columns for what is done about scores that are no numbers."""
PACKED, AS_GIVEN, EARLIER = ".zst", ".raw", ".parquet"
"""Endings in the folder: packed here, packed by whoever made it, table of an upload to version 0.1 or 0.2."""
_ABANDONED = 3600
"""Seconds after which a file that is being written belongs to nobody."""
_ROOM = "Make room, or choose another TIESCOPE_HOME."
_PARQUET = b"PAR1"
_SHA256 = re.compile("[0-9a-f]{64}")


def split_choices(choices: Mapping[str, str]) -> tuple[dict[str, str], MissingScore]:
    """Return the choices of columns, and what is done about scores that are no numbers."""
    columns = dict(choices)
    rule = columns.pop(MISSING_SCORE, "error")
    return columns, cast("MissingScore", rule)  # another word is refused as the file is read


@dataclass(frozen=True)
class StoredFile(File):
    """A file the library keeps.

    Attributes:
        digest: sha256 of the bytes that were uploaded.
        uploaded_size: how many they were.
    """

    digest: str = ""
    uploaded_size: int = 0

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes that were uploaded."""
        return self.digest

    @cached_property
    def size(self) -> int:
        """Bytes that were uploaded."""
        return self.uploaded_size

    @property
    def path(self) -> Path:
        """Where it is."""
        return cast("Path", self.data)

    @property
    def limit(self) -> float:
        """Most bytes that it may unpack to: any number, for it was within the limit when it was kept."""
        return inf

    def read(self, columns: Mapping[str, str], missing_score: MissingScore) -> Source:
        """Return what the file holds; LibraryError where it is gone or damaged."""
        self.verify()
        path = read_before.cache_path(self.path, columns, missing_score)
        source = read_before.recall(path, self, columns, missing_score)
        if source is None:
            source = read(self, columns, missing_score=missing_score)
            read_before.remember(path, source)
        return source

    def verify(self) -> None:
        """Raise a LibraryError where what is kept is not what was uploaded."""
        digest = sha256()
        try:
            for block in self.uploaded():
                digest.update(block)
        except OSError as error:
            if error.errno:
                reason = (error.strerror or "cannot be opened").lower()
                raise LibraryError(
                    f"{self.name}: the library's copy: {reason}. Upload the file again."
                ) from error
        if digest.hexdigest() != self.digest:
            raise LibraryError(f"{self.name}: the library's copy is damaged. Upload the file again.")

    def uploaded(self) -> Iterator[bytes]:
        """Yield the bytes that were uploaded; OSError where the copy is gone, or no zstd."""
        with self.path.open("rb") as raw:
            yield from _blocks(pa.input_stream(raw, compression="zstd" if self.path.suffix == PACKED else None))


def uploaded_bytes(file: File) -> Iterator[bytes]:
    """Yield the bytes of a file as they were given, kept or not."""
    if isinstance(file, StoredFile):
        yield from file.uploaded()
    else:
        with file.given() as stream:
            yield from _blocks(stream)


def is_sound(file: StoredFile) -> bool:
    """Return whether what is kept of a file is what was uploaded."""
    try:
        file.verify()
    except LibraryError:
        return False
    return True


def is_packed(file: File) -> bool:
    """Return whether a file is packed already, so that packing it would gain nothing."""
    if isinstance(file, StoredFile):
        return file.path.suffix != PACKED
    with file.given() as stream:
        return file.packed is not None or bool(stream.read(len(_PARQUET)) == _PARQUET)


def _blocks(stream: pa.NativeFile) -> Iterator[bytes]:
    while block := stream.read_buffer(BLOCK).to_pybytes():
        yield block


@dataclass(frozen=True)
class Reading:
    """What a file was read as.

    Attributes:
        format: name of the format it came in.
        mapping: our column → the file's, of those that were read.
    """

    format: str
    mapping: Mapping[str, str]

    @classmethod
    def of(cls, source: Source) -> "Reading":
        """Return what a source was read as; judgments leave scores beside them."""
        names = source.table.column_names
        return cls(source.format, {ours: theirs for ours, theirs in source.mapping.items() if ours in names})

    @property
    def kind(self) -> Literal["run", "qrels"]:
        """`run` where there are scores, else `qrels`."""
        return "run" if "score" in self.mapping else "qrels"


@dataclass(frozen=True)
class Profile:
    """What a library shows of an upload.

    Attributes:
        queries: how many.
        depth: documents of the longest list.
        tied: share of rows that share their score with another of their list; None of judgments.
        bars: histogram of its finite scores or grades.
    """

    queries: int
    depth: int
    tied: float | None
    bars: tuple[int, ...]

    @classmethod
    def of(cls, source: Source) -> "Profile":
        """Return the profile of what was read."""
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
    """An upload that is written and not yet in its place: where it is, and its bytes there."""

    path: Path
    size: int


class UploadFolder:
    """Kept uploads, each written whole under another name, then put in its place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str, ending: str) -> Path:
        """Return where an upload has its place, if it is kept so."""
        return self._folder / sha256[:2] / f"{sha256}{ending}"

    def paths(self, sha256: str) -> list[Path]:
        """Return all files there are of an upload."""
        paths = (self.path(sha256, ending) for ending in (PACKED, AS_GIVEN, EARLIER))
        return [path for path in paths if path.exists()]

    def stored_file(self, sha256: str, name: str, size: int, ending: str) -> StoredFile:
        """Return an upload as a file to be read."""
        return StoredFile(name, self.path(sha256, ending), digest=sha256, uploaded_size=size)

    def write(self, file: File) -> PendingFile:
        """Write an upload beside its place; LibraryError where the disk is full, or cannot be written."""
        ending = AS_GIVEN if is_packed(file) else PACKED
        path = self._folder / "writing" / f"{secrets.token_hex(16)}{ending}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
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
            raise LibraryError(f"{file.name} is not kept: {self._folder}: {reason}. {hint}") from error

    def place(self, waiting: PendingFile, sha256: str) -> None:
        """Put an upload in its place, for good."""
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
        """Remove what was written and not put in its place."""
        for pending in waiting:
            self._remove(pending.path)

    def remove(self, sha256: str, released: datetime) -> bool:
        """Remove an upload unless it was written since it was let go of; returns whether that is settled."""
        older = [
            path for path in self.paths(sha256) if _changed(path) <= released.replace(tzinfo=UTC).timestamp()
        ]
        for path in [*older, *self._folder.glob(f"{sha256[:2]}/{sha256}.*{read_before.ENDING}")]:
            self._remove(path)
        return not any(path.exists() for path in older)

    def remove_abandoned(self) -> None:
        """Remove files that nobody is writing any more."""
        abandoned = time.time() - _ABANDONED
        for path in (*self._folder.glob("writing/*.*"), *self._folder.glob("??/.tiescope-*")):
            if _changed(path) < abandoned:
                self._remove(path)

    def files(self) -> list[Path]:
        """Return all files that are in their places."""
        paths = self._folder.glob("*/*.*")
        return sorted(path for path in paths if path.suffix in (PACKED, AS_GIVEN, EARLIER) and _is_place(path))

    def adopted(self, file: File) -> File:
        """Return a file in this folder as the upload whose place it is in; any other as it is."""
        path = file.data
        if not isinstance(path, Path) or path.suffix not in (PACKED, AS_GIVEN) or not _is_place(path):
            return file
        if self.path(path.stem, path.suffix).resolve() != path.resolve():
            return file
        upload = self.stored_file(path.stem, file.name, 0, path.suffix)
        upload.verify()
        return replace(upload, uploaded_size=sum(map(len, upload.uploaded())))

    @staticmethod
    def _remove(path: Path) -> None:
        """Remove a file; where that cannot be now, the next sweep does."""
        with suppress(OSError):
            path.unlink()


def _write(file: File, into: IO[bytes], *, pack: bool) -> None:
    """Write the bytes of a file as they were given, packed or not; LibraryError where they are others now."""
    digest = sha256()
    stream: Any = pa.CompressedOutputStream(pa.PythonFile(into, "w"), "zstd") if pack else into
    for block in uploaded_bytes(file):
        digest.update(block)
        stream.write(block)
    if pack:
        stream.close()
    if digest.hexdigest() != file.sha256:
        raise LibraryError(f"{file.name} is not kept: it has changed since it was read. Try again.")


def _is_place(path: Path) -> bool:
    return bool(_SHA256.fullmatch(path.stem)) and path.parent.name == path.stem[:2]


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
