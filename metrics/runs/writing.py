"""Files out: each is whole or as it was before, and never one that is read."""

import errno
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import iglob
from io import BufferedWriter, FileIO
from itertools import chain
from pathlib import Path, PurePath
from secrets import token_hex
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import IO, TYPE_CHECKING, Any

from metrics.errors import UsageError
from metrics.runs import files

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STDOUT = 1
_SCHEMES_HERE = ("file:", "local:")
"""How URLs of files of this machine begin."""


def refuse_outputs(
    outputs: Sequence[Path], inputs: Iterable[str | PurePath] = (), appended: Sequence[Path] = ()
) -> None:
    """Refuse files that cannot be written, are read, or are written twice; before hours of work, not after.

    Raises:
        UsageError: there is such a file.
    """
    old_files = [path for path in outputs if _status_if_writable(path) is not None]
    uses: dict[Hashable, str] = {}
    if old_files or any(path.is_file() for path in appended):
        for path in chain.from_iterable(map(_files_meant, inputs)):
            uses[_identity(path)] = f"{path}, which is read"
        uses.pop(None, None)
    for path in appended:
        _refuse_used(path, uses)
    for path in outputs:
        _refuse_used(path, uses)
        identity = _identity(path)
        if identity is not None:
            uses[identity] = f"{path}, which is written already"


def _refuse_used(path: Path, uses: Mapping[Hashable, str]) -> None:
    """Raise a UsageError where a file, whatever its name, is used already."""
    identity = _identity(path)
    if identity in uses:
        raise UsageError(f"{path}: this is {uses[identity]}. Name another file.")


@contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is written whole, or not at all; a pipe, a device or stdout is written straight."""
    status = _status_if_writable(path)
    if status is not None and _is_stdout(status):
        with BufferedWriter(_NamedFile(os.dup(_STDOUT), "wb", path)) as stream:
            yield stream
    elif status is not None and not S_ISREG(status.st_mode):
        with BufferedWriter(_NamedFile(path, "wb", path)) as stream:
            yield stream
    else:
        with whole_file(path.resolve()) as stream:
            yield stream


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is written beside its place and put there when whole, in the place of a link, too."""
    part = path.with_name(f".tiescope-{token_hex(8)}")
    mode = S_IMODE(path.stat().st_mode) if path.is_file() and not path.is_symlink() else None
    try:
        with BufferedWriter(_NamedFile(part, "xb", path, 0o666 if mode is None else 0o600)) as stream:
            yield stream
            stream.flush()
            with _refuse_unwritten(path):
                os.fsync(stream.fileno())
        with _refuse_unwritten(path):
            if mode is not None:
                part.chmod(mode)
            part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


class _NamedFile(FileIO):
    """A file whose errors say which file cannot be written.

    Args:
        place: the file, or its descriptor.
        mode: wb or xb.
        path: the file as the user knows it.
        permissions: of a file that is new, less those that the umask takes.
    """

    def __init__(self, place: Path | int, mode: str, path: Path, permissions: int = 0o666) -> None:
        self._path = path
        with _refuse_unwritten(path):
            super().__init__(place, mode, opener=lambda name, flags: os.open(name, flags, permissions))

    def write(self, data: "ReadableBuffer") -> int:
        with _refuse_unwritten(self._path):
            return super().write(data)


@contextmanager
def _refuse_unwritten(path: Path) -> Iterator[None]:
    """Raise an error of ours where the system refuses to write a file."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _status_if_writable(path: Path) -> os.stat_result | None:
    """Return the status of the file to replace, None for a new one; UsageError where it cannot be written."""
    with _refuse_unwritten(path):
        try:
            status = path.stat()
        except FileNotFoundError:
            status = None
        if status is not None and S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder: name a file in it")
        if status is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
        folder = path.resolve().parent
        if not folder.exists():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent}")
        if (status is None or S_ISREG(status.st_mode)) and not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"the folder {path.parent} is read-only")
    return status


def _is_stdout(status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, os.fstat(_STDOUT))
    except OSError:
        return False


def _files_meant(path: str | PurePath) -> Iterator[Path]:
    """Yield the files of this machine that a path, URL, pattern or folder means; `-` is standard input.

    Of chained URLs, such as `simplecache::file:///runs/a.trec`, each may name one.
    """
    name = str(path)
    for link in [name, *name.split("::")] if "://" in name else [name]:
        yield from _files_at(link)


def _files_at(name: str) -> Iterator[Path]:
    if "://" in name and not name.startswith(_SCHEMES_HERE):
        return
    place: Any = files.STDIN if name == "-" else files.place_of(name)
    text = str(place.path if "://" in name else place)
    for match in [text] if os.path.exists(text) else iglob(text, recursive=True):  # noqa: PTH110, PTH207 take any text
        if os.path.isdir(match):  # noqa: PTH112 as above
            yield from Path(match).rglob("[!.]*")
        else:
            yield Path(match)


def _identity(file: Path) -> Hashable:
    """Return what all names of a file share; None of what is none, as a pipe or a folder."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return file.resolve()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if S_ISREG(status.st_mode) else None
