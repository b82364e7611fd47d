"""Where what is kept lies on disk, how much of it there may be, and which database it belongs to."""

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from metrics.errors import LibraryError, UsageError
from metrics.support import environment

if TYPE_CHECKING:
    import sqlalchemy as sa

HOME = "TIESCOPE_HOME"
"""Environment variable: the folder of uploads, of SQLite and of what was scored by path."""
USUAL_DATABASE = "library.db"
"""The SQLite database in the home folder, where the environment names no other."""
_ID = re.compile("[0-9a-f]{32}")


def home() -> Path:
    """Return the folder that the environment names, else the user's data folder."""
    return Path(os.environ.get(HOME) or user_data_path("tiescope", appauthor=False)).expanduser()


def byte_limit(variable: str, default: int) -> int:
    """Return a limit of the environment, whole megabytes, in bytes; LibraryError where it is no number."""
    try:
        return environment.byte_limit(variable, default * 10**6)
    except ValueError as error:
        raise LibraryError(str(error)) from error


@dataclass(frozen=True)
class Owner:
    """The database that a folder of uploads belongs to.

    Attributes:
        id: the database holds it too, wherever it is moved.
        database: where it was; a path below the home folder is relative, an address has no user and password.
    """

    id: str
    database: str


class Ownership:
    """The folder of uploads, and the database that it is opened with.

    Args:
        home: folder of the uploads.
        url: address of the database.
    """

    def __init__(self, home: Path, url: "sa.URL") -> None:
        self._path = home / "uploads" / "library.json"
        self._folder = self._path.parent.resolve().parent
        self._database = _describe(url, self._folder)

    def owner(self) -> Owner | None:
        """Return the database that the folder belongs to; None where it belongs to none yet."""
        try:
            return _read_owner(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise LibraryError(f"{self._path} cannot be read. Restore a copy. {self._hatch}") from error

    def refuse_other(self, database_id: str | None, *, may_replace: bool) -> Owner | None:
        """Return the folder's owner; LibraryError where it is another database than this one.

        One that has no id of its own, or holds nothing, may stand in for one that was at the same place.
        """
        owner = self.owner()
        if owner is None or owner.id == database_id or (may_replace and owner.database == self._database):
            return owner
        ours = f" (id {database_id[:8]})" if database_id else ""
        hint = (
            "Unset TIESCOPE_DATABASE_URL"
            if owner.database == USUAL_DATABASE
            else "Set TIESCOPE_DATABASE_URL to it"
        )
        raise LibraryError(
            f"The uploads in {self._path.parent} belong to the database {self._named(owner.database)} "
            f"(id {owner.id[:8]}), not to {self._named(self._database)}{ours}. "
            f"{hint}, restore a copy of it, or choose another TIESCOPE_HOME. {self._hatch}"
        )

    def record(self, database_id: str) -> None:
        """Have the folder belong to this database; a folder that cannot be written cannot be swept either."""
        from metrics.runs.writing import whole_file  # noqa: PLC0415 the server answers before pandas is here

        owner = Owner(database_id, self._database)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(self._path) as stream:
                stream.write(json.dumps(asdict(owner), indent=1).encode())
        except (OSError, UsageError) as error:
            if os.access(self._path.parent, os.W_OK):
                raise LibraryError(f"The library's folder: {str(error).rstrip('.')}.") from error

    @property
    def _hatch(self) -> str:
        return f"Once {self._path} is removed, the folder belongs to the database that is opened next."

    def _named(self, database: str) -> str:
        return database if "://" in database else str(self._folder / database)


def _read_owner(path: Path) -> Owner:
    """Return what a file says of a database; a named pipe is not waited for."""
    if os.path.lexists(path) and not path.is_file():
        raise OSError(f"{path} is not a regular file")
    fields = json.loads(path.read_text(encoding="utf-8"))
    if not _ID.fullmatch(fields["id"]):
        raise ValueError("no database has this id")
    return Owner(fields["id"], str(fields["database"]))


def _describe(url: "sa.URL", folder: Path) -> str:
    """Return where a database is, as `Owner` says it: relative to the folder that really holds the uploads."""
    if url.get_backend_name() != "sqlite":
        host = url.host or url.query.get("host", "")
        return f"postgresql://{host}{f':{url.port}' if url.port else ''}/{url.database}"
    path = Path(url.database or "").absolute()
    path = path.parent.resolve() / path.name
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
