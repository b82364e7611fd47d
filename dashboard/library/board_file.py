"""A board as one file: a zip of its metadata and files, untrusted when read."""

import json
import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from io import BufferedIOBase, BytesIO
from typing import IO, Annotated, Any, TypeVar

import pyarrow as pa
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    with_config,
)

from dashboard.library.boards import MOST_FILES, Board, BoardSpec, Columns, Entry, clean, file_name, make_board
from dashboard.library.earlier import EarlierUpload, as_plain_file
from dashboard.library.loaded import Published, packed_files, table_label, unpacked_files
from dashboard.library.records import Record
from dashboard.library.uploads import MISSING_SCORE, StoredFile, is_packed, uploaded_bytes
from metrics.errors import LibraryError, ReadError, TieScopeError
from metrics.runs import COLUMNS, FORMATS, File, Repeated
from metrics.runs.files import MAX_BYTES, read_within

ENDING = ".tiescope"
"""Suffix of board files."""
ENTRY = "board.json"
"""Name of the JSON entry."""
MOST_BYTES = 10**6
"""Maximum bytes of the JSON."""
MOST_FILE_BYTES = MAX_BYTES - 2 * MOST_BYTES
"""Maximum bytes of all files, within the limits of zip without extensions."""
View = Mapping[str, str | int | float | bool | list[str]]
"""Key of a control → its value."""

_AGAIN = "Export the board again."
_FORMAT, _VERSION = "tiescope-board", 2
_OF_PARQUETS = 1
"""Version written by TieScope 0.1 and 0.2: a Parquet per file, and how it was read."""
_MODE = stat.S_IFREG | 0o644
_MOST_ENTRIES = 2 * MOST_FILES + 1
_LARGEST = 2**53
"""Largest integer that every JSON reader supports."""
_MOST_SETTINGS = 100
_END = struct.Struct("<4s4H2LH")
_PLACE = re.compile(r"files/[0-9]{2}(\.parquet)?|published/[0-9]{2}")
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, LookupError),
    *(NotImplementedError, RuntimeError, MemoryError, pa.ArrowException),
)
"""Exceptions that zipfile and pyarrow raise on damaged files."""
_EXACT = ConfigDict(extra="forbid", allow_inf_nan=False)
_T = TypeVar("_T")
_adapter = cache(TypeAdapter)

# the JSON, validated field by field, because it is untrusted


def _check(is_valid: Callable[[Any], bool]) -> AfterValidator:
    """Return a validator that rejects values for which a condition is false."""

    def validate(value: Any) -> Any:  # noqa: ANN401 whatever the field holds
        if not is_valid(value):
            raise ValueError("not valid")
        return value

    return AfterValidator(validate)


_Text = Annotated[str, Strict(), _check(lambda text: text.encode() is not None)]
"""Valid Unicode: encoding an unpaired surrogate raises a ValueError."""
_Name = Annotated[_Text, _check(lambda text: clean(text) == text)]
_FileName = Annotated[_Text, _check(lambda text: file_name(text) == text)]
_Sha256 = Annotated[_Text, _check(re.compile(r"[0-9a-f]{64}").fullmatch)]
_Column = Annotated[_Text, _check({column.name for column in COLUMNS}.__contains__)]
_Choice = Annotated[_Text, _check({MISSING_SCORE, *(column.name for column in COLUMNS)}.__contains__)]
_has_own_keys = _check(lambda pairs: len(dict(pairs)) == len(pairs))
_SettingText = Annotated[_Text, _check(lambda text: "\0" not in text)]
_Setting = (
    Annotated[bool, Strict()]
    | Annotated[int, Strict(), Field(ge=-_LARGEST, le=_LARGEST)]
    | Annotated[float, Strict(), Field(ge=-_LARGEST, le=_LARGEST)]
    | _SettingText
    | list[_SettingText]
)


@with_config(_EXACT)
@dataclass(frozen=True)
class PublishedItem:
    """A file of published results: name and sha256."""

    name: _FileName
    sha256: _Sha256


@with_config(_EXACT)
@dataclass(frozen=True)
class Item:
    """A file of the board: name, sha256, and chosen columns (ours, the file's)."""

    name: _FileName
    sha256: _Sha256
    columns: Annotated[tuple[tuple[_Choice, _Text], ...], _has_own_keys]


@with_config(_EXACT)
@dataclass(frozen=True)
class Contents:
    """The metadata of a board; see `BoardSpec` and `Record`."""

    name: _Name
    repeated: Repeated
    names: Annotated[tuple[tuple[_Text, _Text], ...], _has_own_keys] | None
    view: Annotated[dict[_Name, _Setting], Field(max_length=_MOST_SETTINGS)]
    files: Annotated[tuple[Item, ...], Field(max_length=MOST_FILES)]
    published: Annotated[tuple[PublishedItem, ...], Field(max_length=MOST_FILES)] = ()


class _EarlierReading(BaseModel):
    """How a Parquet in a file of version 1 was read."""

    format: Annotated[_Text, _check({known.name for known in FORMATS}.__contains__)]
    mapping: Annotated[dict[_Column, _Text], _check(lambda mapping: len({*mapping.values()}) == len(mapping))]


@dataclass(frozen=True)
class Imported:
    """A board from a file, read and joined, in memory."""

    board: Board  # the board
    name: str  # its name, empty if it has only a default name
    view: View  # its settings
    published: Published | None  # published results to audit; None without


def is_board(file: File) -> bool:
    """Return whether a file name is that of a board."""
    return file.name.casefold().endswith(ENDING)


# writing


def export(
    board: Board | Record,
    into: IO[bytes],
    view: Mapping[str, Any] | None = None,
    published: Published | None = None,
) -> None:
    """Write a board as one file. Equal boards give equal bytes.

    Owner, ID and times are not included.

    Raises:
        LibraryError: an upload is missing or damaged, or the board is too large.
        OSError: `into` cannot be written.
    """
    if isinstance(board, Record):
        name, own_view, spec = board.name if board.named else "", board.view, board.spec
    else:
        name, own_view, spec = board.spec.title, board.first_view, board.spec
    results = unpacked_files(published[1]) if published else ()
    entries = [_plain_entry(entry) for entry in spec.entries]
    if sum(file.size for file in (*(entry.file for entry in entries), *results)) > MOST_FILE_BYTES:
        raise LibraryError(
            f"This board cannot be exported: it is larger than {MOST_FILE_BYTES / 2**30:.3g} GB."
        )
    with zipfile.ZipFile(into, "w") as packed:
        digests = [_write(packed, f"files/{at:02}", entry.file) for at, entry in enumerate(entries)]
        items = [
            Item(entry.file.name, digest, entry.columns) for entry, digest in zip(entries, digests, strict=True)
        ]
        result_items = [
            PublishedItem(file_name(file.name), _write(packed, f"published/{at:02}", file))
            for at, file in enumerate(results)
        ]
        settings = dict(own_view if view is None else view)
        contents = Contents(clean(name), spec.repeated, spec.names, settings, tuple(items), tuple(result_items))
        packed.writestr(_zip_info(ENTRY), _written(contents))


def _plain_entry(entry: Entry) -> Entry:
    """Return a file that every version can read; a LibraryError if it is missing or damaged."""
    if isinstance(entry.file, StoredFile):
        entry.file.verify()
    if not isinstance(entry.file, EarlierUpload):
        return entry
    parquet = b"".join(entry.file.uploaded())
    return Entry(*as_plain_file(entry.file.name, parquet, entry.file.reading, entry.columns))


def _write(packed: zipfile.ZipFile, place: str, file: File) -> str:
    """Write a file into the zip; return its sha256."""
    data = b"".join(uploaded_bytes(file))
    kind = zipfile.ZIP_STORED if is_packed(File("", data)) else zipfile.ZIP_DEFLATED
    packed.writestr(_zip_info(place), data, kind, 1)
    return sha256(data).hexdigest()


def _zip_info(name: str) -> zipfile.ZipInfo:
    """Return reproducible metadata of an entry: no time, no platform."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, _MODE << 16
    return info


def _written(contents: Contents) -> bytes:
    """Return the contents as reproducible JSON."""
    plain = {"format": _FORMAT, "version": _VERSION, **asdict(contents)}
    try:
        json_text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
        text = json_text.encode("utf-8", "replace")
        if len(text) > MOST_BYTES:
            limit = f"{MOST_BYTES / 10**6:g} MB"
            raise LibraryError(
                f"This board cannot be exported: its metadata exceeds {limit}. Remove some files."
            )
        read_contents("The board", text)
    except ReadError as error:
        raise LibraryError(f"This board cannot be exported: {error.problem}.") from error
    return text


# reading


def load(file: File) -> Imported:
    """Read a board file under the limits of uploads.

    Raises:
        ReadError: the file is not a board file, or is damaged, or contains other entries.
    """
    try:
        with BytesIO(file.data) if isinstance(file.data, bytes) else file.data.open("rb") as stream:
            _refuse_odd_directory(file.name, stream)
            with zipfile.ZipFile(stream) as packed:
                return _read_zip(file, packed)
    except TieScopeError as error:
        if isinstance(error, ReadError) and error.file == file.name:
            raise
        raise ReadError(file.name, str(error).rstrip("."), _AGAIN) from error
    except _DAMAGES as error:
        raise ReadError(file.name, "the board file is damaged", _AGAIN) from error


def _refuse_odd_directory(file: str, stream: BufferedIOBase) -> None:
    """Raise a ReadError unless the zip ends with a short directory, which zipfile reads at once."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _END.size))
    end = stream.read(_END.size)
    if len(end) < _END.size or not end.startswith(b"PK\5\6"):
        raise ReadError(file, "this is not a complete board file", _AGAIN)
    _, _, _, _, count, directory, start, comment = _END.unpack(end)
    if count > _MOST_ENTRIES or directory > 1000 * _MOST_ENTRIES:
        raise ReadError(file, f"it contains more than {_MOST_ENTRIES} entries", _AGAIN)
    if comment or start + directory + _END.size != size:
        raise ReadError(file, "the board file is damaged", _AGAIN)


def _read_zip(sent: File, packed: zipfile.ZipFile) -> Imported:
    file, infos = sent.name, packed.infolist()
    for info in infos:
        _refuse_odd_entry(file, info)
    sent.refuse_too_large(sum(info.file_size for info in infos))
    twice = [name for name, count in Counter(info.orig_filename for info in infos).items() if count > 1]
    if twice:
        raise ReadError(file, f"it contains {twice[0]!r} twice", _AGAIN)
    if ENTRY not in packed.namelist():
        raise ReadError(file, f"it does not contain {ENTRY}", _AGAIN)
    contents, readings = read_contents(file, _unpack(file, packed, ENTRY, MOST_BYTES))
    ending = ".parquet" if readings else ""
    item_of: dict[str, Item | PublishedItem] = {
        **{f"files/{position:02}{ending}": item for position, item in enumerate(contents.files)},
        **{f"published/{position:02}": item for position, item in enumerate(contents.published)},
    }
    present, listed = set(packed.namelist()), {ENTRY, *item_of}
    if missing := listed - present:
        raise ReadError(file, f"the entry {min(missing)!r} is missing", _AGAIN)
    if unlisted := present - listed:
        raise ReadError(file, f"{ENTRY} does not list the entry {min(unlisted)!r}", _AGAIN)
    files, n_left = [], MOST_FILE_BYTES
    for place, item in item_of.items():
        data = _unpack(file, packed, place, n_left)
        n_left -= len(data)
        if sha256(data).hexdigest() != item.sha256:
            raise ReadError(file, f"{item.name!r} has changed since the export", _AGAIN)
        files.append(File(item.name, data))
    results = files[len(contents.files) :]
    board = _read_board(sent, contents, readings, files[: len(contents.files)])
    published = (table_label(results), packed_files(results)) if results else None
    return Imported(board, contents.name, contents.view, published)


def _read_board(sent: File, contents: Contents, readings: list[Mapping[str, Any]], files: list[File]) -> Board:
    """Return the board of its files; their tables together obey the file's unpacking limit."""
    entries, sources, n_bytes = [], [], 0
    for position, (item, file) in enumerate(zip(contents.files, files, strict=True)):
        columns: Columns = item.columns
        try:
            if readings:
                file, columns = as_plain_file(file.name, bytes(file.data), readings[position], columns)  # noqa: PLW2901
            entries.append(Entry(file, columns))
            sources.append(entries[-1].read())
        except _DAMAGES as error:
            if isinstance(error, TieScopeError):
                raise
            raise ReadError(sent.name, f"the file {item.name!r} on the board is damaged", _AGAIN) from error
        n_bytes += sources[-1].table.nbytes
        sent.refuse_too_large(n_bytes)
    return make_board(BoardSpec(tuple(entries), contents.repeated, contents.names), sources)


def _refuse_odd_entry(file: str, info: zipfile.ZipInfo) -> None:
    """Raise a ReadError if `export` would not write such an entry."""
    name = info.orig_filename
    if name != ENTRY and not _PLACE.fullmatch(name):
        raise ReadError(file, f"it contains {name!r}, which is not part of a board", _AGAIN)
    if info.flag_bits & 1:
        raise ReadError(file, "it is encrypted", "Compress it again without a password.")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ReadError(file, f"the entry {name!r} is not a regular file", _AGAIN)


def _unpack(file: str, packed: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return an entry, at most `limit` bytes, without trusting the size that the zip states."""
    with packed.open(name) as stream:
        data = read_within(stream, limit)
    if len(data) > limit or packed.getinfo(name).file_size > limit:
        raise ReadError(file, f"the entry {name} is larger than {limit / 10**6:,.0f} MB when unpacked", _AGAIN)
    return data


def read_contents(file: str, text: bytes) -> tuple[Contents, list[Mapping[str, Any]]]:
    """Read the JSON of a board file; for version 1 also how each Parquet was read.

    Raises:
        ReadError: a field is invalid.
    """
    try:
        plain = json.loads(text.decode(), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ReadError(file, f"the entry {ENTRY} is damaged", _AGAIN) from error
    if not isinstance(plain, dict) or plain.pop("format", None) != _FORMAT:
        raise ReadError(file, f"{ENTRY} does not describe a board", _AGAIN)
    whole_number = TypeAdapter(Annotated[int, Strict(), Field(ge=0, le=_LARGEST)])
    version = _validated(file, whole_number, plain.pop("version", None), "version")
    if version > _VERSION:
        problem = f"it was written by a newer TieScope (format {version}; this version reads {_VERSION})"
        raise ReadError(file, problem, "Update TieScope.")
    readings: list[Mapping[str, Any]] = []
    if version == _OF_PARQUETS and isinstance(items := plain.get("files"), list):
        for position, item in enumerate(items):
            if isinstance(item, dict) and len(items) <= MOST_FILES:
                place, plain_reading = f"reading of files[{position}]", item.pop("reading", None)
                reading = _validated(file, _adapter(_EarlierReading), plain_reading, place)
                readings.append(reading.model_dump())
                item.pop("size", None)
                item["sha256"] = item.pop("parquet", None)
    return _validated(file, _adapter(Contents), plain), readings


def _validated(file: str, adapter: TypeAdapter[_T], plain: object, place: str = "") -> _T:
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        raise ReadError(file, f"{place or _place(error)} in {ENTRY} is not valid", _AGAIN) from error


def _place(error: ValidationError) -> str:
    """Return the path of the first invalid value."""
    first = error.errors(include_input=False)[0]
    is_field_wrong = first["type"] in ("missing", "unexpected_keyword_argument")
    match first["loc"][:-1] if is_field_wrong else first["loc"]:
        case ("files" | "published" as kind, int(position), str(name), *_):
            return f"{name} of {kind}[{position}]"
        case ("files" | "published" as kind, int(position), *_):
            return f"{kind}[{position}]"
        case (name, *_):
            return str(name)
    return "a field"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is repeated")
    return fields
