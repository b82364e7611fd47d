"""Write files completely or not at all, and never over a file that is read."""

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
"""Schemes of URLs of local files."""


def refuse_outputs(
    outputs: Sequence[Path], inputs: Iterable[str | PurePath] = (), appended: Sequence[Path] = ()
) -> None:
    """Raise a UsageError for files that cannot be written, are read, or are written twice."""
    old_files = [path for path in outputs if _status_if_writable(path) is not None]
    uses: dict[Hashable, str] = {}
    if old_files or any(path.is_file() for path in appended):
        for path in chain.from_iterable(map(_files_meant, inputs)):
            uses[_identity(path)] = f"{path}, which this command reads"
        uses.pop(None, None)
    for path in appended:
        _refuse_used(path, uses)
    for path in outputs:
        _refuse_used(path, uses)
        identity = _identity(path)
        if identity is not None:
            uses[identity] = f"{path}, which this command already writes"


def _refuse_used(path: Path, uses: Mapping[Hashable, str]) -> None:
    identity = _identity(path)
    if identity in uses:
        raise UsageError(f"{path}: this is {uses[identity]}. Name another file.")


@contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is written completely or not at all; pipes, devices and stdout are written directly."""
    status = _status_if_writable(path)
    if status is not None and _is_stdout(status):
        with BufferedWriter(_NamedFile(os.dup(_STDOUT), "wb", path)) as stream:
            yield stream
    elif status is not None and not S_ISREG(status.st_mode):
        with BufferedWriter(_NamedFile(path, "wb", path)) as stream:
            yield stream
    else:
        with _whole_file(_opened_path(path), path) as stream:
            yield stream


@contextmanager
def _whole_file(path: Path, name: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces the path when complete; errors name the path as the user gave it."""
    part = path.with_name(f".tiescope-{token_hex(8)}")
    mode = S_IMODE(path.stat().st_mode) if path.is_file() else None
    try:
        with BufferedWriter(_NamedFile(part, "xb", name, 0o666 if mode is None else 0o600)) as stream:
            yield stream
            stream.flush()
            with _refuse_unwritten(name):
                os.fsync(stream.fileno())
        with _refuse_unwritten(name):
            if mode is not None:
                part.chmod(mode)
            part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


class _NamedFile(FileIO):
    """A file whose errors name the path that the user gave, unlike those of what is read meanwhile."""

    def __init__(self, place: Path | int, mode: str, path: Path, permissions: int = 0o666) -> None:
        self._path = path
        with _refuse_unwritten(path):
            super().__init__(place, mode, opener=lambda name, flags: os.open(name, flags, permissions))

    def write(self, data: "ReadableBuffer") -> int:
        with _refuse_unwritten(self._path):
            return super().write(data)


@contextmanager
def _refuse_unwritten(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _status_if_writable(path: Path) -> os.stat_result | None:
    """Return the status of the file to replace, None for a new one; a UsageError if it cannot be written."""
    with _refuse_unwritten(path):
        try:
            status = path.stat()
        except FileNotFoundError:
            status = None
        if status is not None and S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder: name a file in it")
        if status is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
        folder = _opened_path(path).parent
        if (status is None or S_ISREG(status.st_mode)) and not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"the folder {path.parent} is read-only")
    return status


def _opened_path(path: Path) -> Path:
    """Return the path that the operating system opens or creates, without links and `..`.

    Only folders that exist have a parent: `nowhere/../file` is a FileNotFoundError, not `file`.
    """
    if path.exists():
        return path.resolve()
    try:
        folder = path.parent.resolve(strict=True)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, f"the folder {path.parent} does not exist") from None
    return _opened_path(folder / path.readlink()) if path.is_symlink() else folder / path.name


def _is_stdout(status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, os.fstat(_STDOUT))
    except OSError:
        return False


def _files_meant(path: str | PurePath) -> Iterator[Path]:
    """Yield the local files that a path, URL, chain of URLs, pattern or folder names; `-` is standard input."""
    name = str(path)
    for link in [name, *name.split("::")] if "://" in name else [name]:
        if "://" in link and not link.startswith(_SCHEMES_HERE):
            continue
        place: Any = files.STDIN if link == "-" else files.place_of(link)
        text = str(place.path if "://" in link else place)
        for match in [text] if os.path.exists(text) else iglob(text, recursive=True):  # noqa: PTH110, PTH207 any text
            is_folder = os.path.isdir(match)  # noqa: PTH112 as above
            yield from Path(match).rglob("[!.]*") if is_folder else [Path(match)]


def _identity(file: Path) -> Hashable:
    """Return an identity that all names of a file share; None for pipes, folders and the like."""
    try:
        status = file.stat()
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            return _opened_path(file)
        return None
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if S_ISREG(status.st_mode) else None
