"""Write a board as one file to send: a zip of what it is, and of each upload the Parquet.."""

import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from io import BufferedIOBase, BytesIO
from typing import IO, Any

from dashboard.library.boards import Board, BoardSpec
from dashboard.library.exchange.contents import (
    ENTRY,
    MOST_BYTES,
    MOST_PARQUET_BYTES,
    Contents,
    Item,
    read_contents,
)
from dashboard.library.names import storable
from dashboard.library.storage.records import Record
from dashboard.library.storage.stored_upload import Reading, StoredUpload, write_parquet
from metrics.errors import LibraryError, ReadError
from metrics.runs import File, Source
from metrics.runs.files import BLOCK, MAX_BYTES

ENDING = ".tiescope"
"""How the name of such a file ends."""
_MODE = stat.S_IFREG | 0o644


def is_board(file: File) -> bool:
    """Return whether a file is a board, by its name."""
    return file.name.casefold().endswith(ENDING)


def export(board: Board | Record, into: IO[bytes], view: Mapping[str, Any] | None = None) -> None:
    """Write a board as one file; the same board gives the same bytes, kept or not.

    Who owns it, its number and its times are not in it.

    Args:
        board: what to write.
        into: a file that can be sought in.
        view: what it is opened with, where that is not what the library keeps or its files say.

    Raises:
        LibraryError: an upload is gone or damaged, or the board is too large.
        OSError: `into` cannot be written.
    """
    if isinstance(board, Record):
        name, stored_view, spec = board.name if board.named else "", board.view, board.spec
        readings = [entry.file.reading for entry in spec.entries if isinstance(entry.file, StoredUpload)]
        sources: list[Source | None] = [None] * len(readings)
    else:
        name, stored_view = board.spec.title, board.first_view
        spec, stored = storable(board.spec, board.sources)
        readings, sources = [Reading.of(source) for source in stored], list(stored)
    with zipfile.ZipFile(into, "w") as packed:
        digests = _write_parquets(packed, spec, sources)
        items = [
            Item(entry.file.name, *_claim(entry.file), entry.columns, reading, digest)
            for entry, reading, digest in zip(spec.entries, readings, digests, strict=True)
        ]
        settings = stored_view if view is None else view
        contents = Contents(name, spec.repeated, spec.names, dict(settings), tuple(items))
        packed.writestr(_entry(ENTRY), _text(contents))


def _claim(file: File) -> tuple[str, int]:
    """Return the sha256 and size of an upload, as far as they are known."""
    return file.claim if isinstance(file, StoredUpload) and file.claim else (file.sha256, file.size)


def _text(contents: Contents) -> bytes:
    """Return the contents as JSON that can be read again."""
    text = contents.written()
    if len(text) > MOST_BYTES:
        limit = f"{MOST_BYTES / 10**6:g} MB"
        raise LibraryError(
            f"This board cannot be exported: its names take more than {limit}. Remove some files."
        )
    try:
        read_contents("The board", text)
    except ReadError as error:
        raise LibraryError(f"This board cannot be exported: {error.problem}.") from error
    return text


def _entry(name: str) -> zipfile.ZipInfo:
    """Return where to write in the zip; without a time, and the same on every system."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, _MODE << 16
    return info


def _write_parquets(packed: zipfile.ZipFile, spec: BoardSpec, sources: list[Source | None]) -> list[str]:
    """Write the Parquet of each upload; return the sha256 of each."""
    digests, n_bytes_left = [], MOST_PARQUET_BYTES
    for position, (entry, source) in enumerate(zip(spec.entries, sources, strict=True)):
        with _open_parquet(entry.file, source) as (stream, digest):
            digests.append(digest)
            with packed.open(_entry(f"files/{position:02}.parquet"), "w") as place:
                while block := stream.read(BLOCK):
                    n_bytes_left -= len(block)
                    if n_bytes_left < 0:
                        limit = f"{MAX_BYTES / 2**30:g} GB"
                        raise LibraryError(f"This board cannot be exported: it is larger than {limit}.")
                    place.write(block)
    return digests


@contextmanager
def _open_parquet(file: File, source: Source | None) -> Iterator[tuple[BufferedIOBase, str]]:
    """Yield the Parquet of a file and its sha256: the one that is kept, or as it would be."""
    if isinstance(file, StoredUpload) or source is None:
        upload = file if isinstance(file, StoredUpload) else StoredUpload(file.name, file.data)
        upload.verify()
        with upload.open_parquet() as stream:
            yield stream, upload.parquet_digest
        return
    written = BytesIO()  # of what is only here, nothing is written to disk
    write_parquet(file, source, written)
    written.seek(0)
    yield written, sha256(written.getbuffer()).hexdigest()
