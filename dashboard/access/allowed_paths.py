"""Folders and addresses that the server's owner allows visitors to open."""

import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from metrics.errors import UsageError

MOST_MATCHES = 100
"""Maximum files that a pattern may match."""
_LONGEST, _MAX_QUOTED = 4096, 200
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://[A-Za-z0-9._:\[\]-]+(/[A-Za-z0-9 !$&'()+,=_.~:-]+)*/?")
"""Excludes %, ?, #, @, \\ and empty parts, all of which can be ambiguous or lead elsewhere."""
_LOCAL = {"file", "local", "memory"}
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class AllowedPaths:
    """Folders and address prefixes whose files may be opened."""

    folders: tuple[tuple[Path, Path], ...] = ()  # absolute path as given, and its real path
    addresses: tuple[str, ...] = ()  # scheme, host and path, ending in /

    @classmethod
    def of(cls, texts: Iterable[str]) -> "AllowedPaths":
        """Return the paths that the server's owner names.

        Raises:
            UsageError: a text is neither an existing folder nor an address.
        """
        folders, addresses = [], []
        for text in texts:
            if "://" in text or (_SCHEME.match(text) and not Path(text).is_dir()):  # the latter: s3:bucket
                addresses.append(_address(text))
                continue
            folder = Path(text).absolute()
            if not text or not folder.is_dir():
                raise UsageError(f"--allow-paths {text}: this folder does not exist.")
            folders.append((folder.resolve() if ".." in folder.parts else folder, folder.resolve()))
        return cls(tuple(folders), tuple(addresses))

    def __bool__(self) -> bool:
        return bool(self.folders or self.addresses)

    def __str__(self) -> str:
        return ", ".join([*(str(folder) for folder, _ in self.folders), *self.addresses])

    def files(self, text: str) -> list[Path | str]:
        """Return the real paths of the files at a path, a pattern in a folder, or an address.

        Paths may be relative to an allowed folder. The last part may contain * ? [ ].

        Raises:
            UsageError: no such file may be opened. The message reveals nothing about other files.
        """
        text = text.strip()
        if len(text) > _LONGEST or not text.isprintable():
            raise self._refused(text)
        files: list[Path | str] = []
        if "://" in text:
            files += [text] if self.has_address(text) else []
        else:
            files += self._on_disk(text)
        if not files:
            raise self._refused(text)
        if len(files) > MOST_MATCHES:
            raise UsageError(f"{text}: more than {MOST_MATCHES} files. Name fewer.")
        return files

    def _refused(self, text: str) -> UsageError:
        quoted = text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]} ..."
        return UsageError(
            f"{quoted}: this file does not exist, or may not be opened here. You can open files in {self}."
        )

    def has_address(self, text: str) -> bool:
        """Return whether an address is unambiguous and begins with an allowed one."""
        parts = text.split("/")
        return (
            _URL.fullmatch(text) is not None
            and "::" not in text
            and not {".", ".."} & set(parts)
            and not text.endswith("/")
            and any(text.startswith(one) for one in self.addresses)
        )

    def _on_disk(self, text: str) -> list[Path]:
        """Return files in an allowed folder, following links, without looking at other folders."""
        relative = Path(text)
        if not text or ".." in relative.parts or "::" in text:
            return []
        for folder, real in self.folders:
            path = folder / relative
            if path.is_relative_to(folder) or path.is_relative_to(real):
                files = [file for one in self._matches(path) if (file := _real(one)) and self._holds(file)]
                if files:
                    return files
        return []

    def _matches(self, path: Path) -> list[Path]:
        """Return the path itself, or the files that match its name as a pattern."""
        if _real(path) or not _WILD.search(path.name):
            return [path]
        with suppress(OSError, RuntimeError, ValueError):
            folder = path.parent.resolve(strict=True)
            if self._holds(folder):
                return sorted(one for one in folder.iterdir() if fnmatchcase(one.name, path.name))
        return []

    def _holds(self, path: Path) -> bool:
        return any(path.is_relative_to(real) for _, real in self.folders)


def _real(path: Path) -> Path | None:
    """Return the real path of a regular file, None if there is none."""
    try:
        real = path.resolve(strict=True)
        return real if stat.S_ISREG(real.stat().st_mode) else None
    except (OSError, RuntimeError, ValueError):
        return None


def _address(text: str) -> str:
    parts = urlsplit(text)
    scheme, _, host_and_path = text.partition("://")
    text = f"{scheme.lower()}://{host_and_path.removesuffix('/')}/"
    plain = _URL.fullmatch(text) and "::" not in text and not {".", ".."} & set(text.split("/"))
    if not plain or parts.netloc != parts.netloc.lower() or parts.scheme in _LOCAL:
        raise UsageError(
            f"--allow-paths {text}: give a folder, or an address such as s3://bucket/runs/. Write the host in "
            "lower case, and leave out user names, %, ? and #."
        )
    return text
