"""A board read from a file that somebody sent, trusting nothing of it. No streamlit inside."""

import json
import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BufferedIOBase, BytesIO

import pyarrow as pa

from dashboard.library.boards import MOST_FILES, Board, BoardSpec, make_board
from dashboard.library.entry import Entry
from dashboard.library.exchange.contents import (
    AGAIN,
    ENTRY,
    MOST_BYTES,
    MOST_PARQUET_BYTES,
    Item,
    View,
    read_contents,
)
from dashboard.library.storage.stored_upload import Reading, StoredUpload
from metrics.errors import ReadError, TieScopeError
from metrics.runs import File, Source
from metrics.runs.files import read_within
from metrics.runs.formats.parquet import declared_size, refuse_large_footer, unpacked_size
from metrics.support.arrays import CODED

_END = struct.Struct("<4s4H2LH")
_MOST_DIRECTORY = 1000 * (MOST_FILES + 1)
_PARQUET = re.compile(r"files/[0-9]{2}\.parquet")
_TYPES = (pa.string(), pa.float64(), CODED)
"""Types of columns that the library writes."""
_ROWS = 2**16
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, LookupError),
    *(NotImplementedError, RuntimeError, MemoryError, pa.ArrowException),
)
"""What zipfile and pyarrow raise at files that are not as they should be."""


@dataclass(frozen=True)
class Imported:
    """A board that came in a file, read and joined; its uploads are in memory.

    Attributes:
        board: what came.
        name: what it is called; "" where it is told by its size.
        view: what it is opened with.
    """

    board: Board
    name: str
    view: View


def load(file: File) -> Imported:
    """Read a board that somebody sent, trusting nothing of it.

    What a file states of the bytes that were once uploaded cannot be checked by their Parquet. So an upload
    that comes this way is one of its own: it is kept under a hash of its Parquet and of what that is read as,
    which nobody can have another upload stand under. Where the library has this very Parquet under the sha256
    stated, it is that upload; `Library.keep` sees to it.

    Raises:
        ReadError: it is no such file, or damaged, or holds what does not belong there.
    """
    try:
        with _open(file) as stream:
            _refuse_odd_directory(file.name, stream)
            with zipfile.ZipFile(stream) as packed:
                return _read_zip(file, packed)
    except TieScopeError as error:
        if isinstance(error, ReadError) and error.file == file.name:
            raise
        raise ReadError(file.name, str(error).rstrip("."), AGAIN) from error
    except _DAMAGES as error:
        raise ReadError(file.name, "a damaged board file", AGAIN) from error


def _open(file: File) -> BufferedIOBase:
    return BytesIO(file.data) if isinstance(file.data, bytes) else file.data.open("rb")


def _refuse_odd_directory(file: str, stream: BufferedIOBase) -> None:
    """Raise a ReadError where the zip's list of entries is not a short one at its end: it is read at once."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _END.size))
    end = stream.read(_END.size)
    if len(end) < _END.size or not end.startswith(b"PK\5\6"):
        raise ReadError(file, "this is no board file, or only a part of one", AGAIN)
    _, _, _, _, count, directory, start, comment = _END.unpack(end)
    if count > MOST_FILES + 1 or directory > _MOST_DIRECTORY:
        raise ReadError(file, f"it holds more than {MOST_FILES} files", AGAIN)
    if comment or start + directory + _END.size != size:
        raise ReadError(file, "a damaged board file", AGAIN)


def _read_zip(given: File, packed: zipfile.ZipFile) -> Imported:
    file, entries = given.name, packed.infolist()
    for info in entries:
        _refuse_odd_entry(file, info)
    given.refuse_too_large(sum(info.file_size for info in entries))
    twice = [name for name, count in Counter(info.orig_filename for info in entries).items() if count > 1]
    if twice:
        raise ReadError(file, f"it holds {twice[0]!r} twice", AGAIN)
    if ENTRY not in packed.namelist():
        raise ReadError(file, f"it holds no {ENTRY}", AGAIN)
    contents = read_contents(file, _unpack(file, packed, ENTRY, MOST_BYTES))
    names = [f"files/{at:02}.parquet" for at in range(len(contents.files))]
    if other := {ENTRY, *names} ^ set(packed.namelist()):
        raise ReadError(file, f"{ENTRY} and the entries differ in {min(other)!r}", AGAIN)
    n_bytes_left, n_unpacked, uploads = MOST_PARQUET_BYTES, 0, []
    for name, item in zip(names, contents.files, strict=True):
        data = _unpack(file, packed, name, n_bytes_left)
        n_bytes_left -= len(data)
        upload = _open_upload(file, item, data)
        with _damage_refused(file, item):
            n_unpacked += _count_unpacked(upload)
        given.refuse_too_large(n_unpacked)
        uploads.append(upload)
    parts = [_read_upload(file, *pair) for pair in zip(contents.files, uploads, strict=True)]
    spec = BoardSpec(tuple(entry for entry, _ in parts), contents.repeated, contents.names)
    board = make_board(spec, [source for _, source in parts])
    return Imported(board, contents.name, contents.view)


def _refuse_odd_entry(file: str, info: zipfile.ZipInfo) -> None:
    """Raise a ReadError where an entry of the zip is not as `export` writes it."""
    name = info.orig_filename
    if name != ENTRY and not _PARQUET.fullmatch(name):
        raise ReadError(file, f"it holds {name!r}, which does not belong to a board", AGAIN)
    if info.flag_bits & 1:
        raise ReadError(file, "it is encrypted", "Unpack it, and pack it without a password.")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ReadError(file, f"{name!r} in it is no plain file", AGAIN)


def _unpack(file: str, packed: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return an entry of the zip, counted as it is unpacked, whatever the zip says of its size."""
    with packed.open(name) as stream:
        data = read_within(stream, limit)
    if len(data) > limit or packed.getinfo(name).file_size > limit:
        raise ReadError(file, f"{name} in it is larger than {limit / 10**6:,.0f} MB unpacked", AGAIN)
    return data


def _open_upload(file: str, item: Item, data: bytes) -> StoredUpload:
    """Return an upload of the board, not read yet."""
    if sha256(data).hexdigest() != item.parquet:
        raise ReadError(file, f"the Parquet of {item.name!r} is not the one that was exported", AGAIN)
    return StoredUpload(
        item.name,
        data,
        uploaded_size=len(data),
        reading=item.reading,
        parquet_digest=item.parquet,
        claim=(item.sha256, item.size),
    )


def _read_upload(file: str, item: Item, upload: StoredUpload) -> tuple[Entry, Source]:
    """Return an upload of the board, and what it holds."""
    with _damage_refused(file, item):
        source = upload.read(dict(item.columns))
    return Entry(replace(upload, digest=_identity(item.parquet, source)), item.columns), source


@contextmanager
def _damage_refused(file: str, item: Item) -> Iterator[None]:
    """Raise a ReadError where the Parquet of an upload is damaged."""
    try:
        yield
    except TieScopeError:
        raise
    except _DAMAGES as error:
        raise ReadError(file, f"the Parquet of {item.name!r} is damaged", AGAIN) from error


def _identity(parquet: str, source: Source) -> str:
    """Return what an upload that came in a board file is kept under: it covers all that is kept of it."""
    identity = json.dumps(["tiescope import", parquet, Reading.of(source).to_json()], sort_keys=True)
    return sha256(identity.encode()).hexdigest()


def _count_unpacked(upload: StoredUpload) -> int:
    """Return the bytes of all columns of a Parquet, refused where the library writes none such, or too large.

    Columns are unpacked one at a time, also those that are not read, and counted as they come.
    """
    from pyarrow import parquet  # noqa: PLC0415 30 ms that other commands need not pay

    with upload.open_parquet() as stream:
        refuse_large_footer(upload, stream)
        metadata = parquet.read_metadata(stream)
    schema = metadata.schema.to_arrow_schema()
    if odd := [field.name for field in schema if field.type not in _TYPES]:
        raise ReadError(upload.name, f"column {odd[0]!r} is of type {schema.field(odd[0]).type}", AGAIN)
    if unknown := [name for name in upload.reading.mapping.values() if name not in schema.names]:
        raise ReadError(upload.name, f"there is no column {unknown[0]!r}", AGAIN)
    upload.refuse_too_large(declared_size(metadata, schema.names, upload.limit))
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    size = 0
    for name in schema.names:
        with upload.open_parquet() as stream, parquet.ParquetFile(stream, read_dictionary=texts) as table:
            n_rows_left = table.metadata.num_rows
            for batch in table.iter_batches(_ROWS, columns=[name]):
                size += sum(map(unpacked_size, batch.columns))
                upload.refuse_too_large(size)
                batch.validate(full=True)
                n_rows_left -= len(batch)
        if n_rows_left:
            raise ReadError(upload.name, f"column {name!r} has not as many rows as the Parquet", AGAIN)
    return size
