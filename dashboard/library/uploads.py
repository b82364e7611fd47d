"""Stored uploads: the original bytes under their sha256, which a database keeps as zstd frames."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import BytesIO
from itertools import count
from math import inf
from typing import cast
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa

from metrics.errors import LibraryError
from metrics.runs import File, MissingScore, Source, read
from metrics.support.cached import cached_property

MISSING_SCORE, DROP_SELF = RULES = ("missing_score", "drop_self")
"""Keys, among the chosen columns, of the rules for missing scores and for queries among their own results."""
BLOCK = 2**22
"""Uploaded bytes of a row in the database."""


def split_choices(choices: Mapping[str, str]) -> tuple[dict[str, str], MissingScore]:
    """Return the chosen columns and the rule for missing scores."""
    columns = {name: choice for name, choice in choices.items() if name not in RULES}
    rule = choices.get(MISSING_SCORE, "error")
    return columns, cast("MissingScore", rule)  # another word is refused as the file is read


Frames = Generator[bytes, None, None]
"""zstd frames of an upload."""


def _no_frames(_: str) -> Frames:
    yield from ()


@dataclass(frozen=True)
class StoredFile(File):
    """A stored file; `data` is empty but while it is read."""

    data: bytes = b""
    digest: str = ""  # sha256 of the uploaded bytes
    uploaded_size: int = 0  # number of uploaded bytes
    frames_of: Callable[[str], Frames] = field(default=_no_frames, compare=False, repr=False)

    @cached_property
    def sha256(self) -> str:
        """Hash of the uploaded bytes."""
        return self.digest

    @cached_property
    def size(self) -> int:
        """Number of uploaded bytes."""
        return self.uploaded_size

    @property
    def limit(self) -> float:
        """Maximum unpacked bytes: none, because the upload was checked."""
        return inf

    def unpacks_to(self, size: int) -> bool:
        """Return whether the file unpacks to so many bytes; reads only small files."""
        return self.uploaded_size >= size or super().unpacks_to(size)

    def read(self, columns: Mapping[str, str], missing_score: MissingScore) -> Source:
        """Return the content of the file; LibraryError if it is missing or damaged."""
        return read(replace(self, data=self._load()), columns, missing_score=missing_score)

    def given(self) -> pa.NativeFile:
        """Open the uploaded bytes; LibraryError if they are missing or damaged."""
        return pa.BufferReader(self.data or self._load())

    def uploaded(self) -> Iterator[bytes]:
        """Yield the uploaded bytes; LibraryError, at the latest at the end, if they are missing or damaged."""
        digest = sha256()
        try:
            with closing(self.frames_of(self.digest)) as frames:
                for block in map(unpack, frames):
                    digest.update(block)
                    yield block
        except OSError:  # is not zstd
            digest = sha256()
        if digest.hexdigest() != self.digest:
            raise LibraryError(f"{self.name}: the library's copy is missing or damaged. Upload the file again.")

    def _load(self) -> bytes:
        data = BytesIO()  # a list of blocks would have to be joined, and held twice
        data.writelines(self.uploaded())
        return data.getvalue()


def uploaded_blocks(file: File) -> Iterator[bytes]:
    """Yield the original bytes of a file."""
    if isinstance(file, StoredFile):
        yield from file.uploaded()
        return
    with file.given() as stream:
        while block := stream.read(BLOCK):
            yield block


def pack(block: bytes) -> bytes:
    """Return a zstd frame."""
    return cast("bytes", pa.compress(block, "zstd", asbytes=True))


def unpack(frame: bytes) -> bytes:
    """Return the content of a zstd frame; OSError if it is damaged."""
    return cast("bytes", pa.input_stream(pa.BufferReader(frame), compression="zstd").read())


def zipped(files: Sequence[File]) -> bytes:
    """Return a zip of files; LibraryError if a stored file is missing or damaged."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, file in zip(zip_names([file.name for file in files]), files, strict=True):
            with archive.open(name, "w", force_zip64=True) as stream:
                for block in uploaded_blocks(file):
                    stream.write(block)
    return packed.getvalue()


def zip_names(names: Sequence[str]) -> list[str]:
    """Return distinct names without folders, which unpack on every system."""
    used: set[str] = set()
    distinct = []
    for name in names:
        plain = re.sub(r'[\x00-\x1f\x7f\\/:*?"<>|]', "-", name).strip(". ") or "file"
        stem, dot, ending = plain.partition(".")
        tries = (plain if number == 1 else f"{stem}-{number}{dot}{ending}" for number in count(1))
        distinct.append(next(text for text in tries if text.casefold() not in used))
        used.add(distinct[-1].casefold())
    return distinct
