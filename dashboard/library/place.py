"""Location and limits of the library, and the database that a folder of uploads belongs to."""

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
"""Environment variable: folder of uploads, SQLite and cached evaluations."""
USUAL_DATABASE = "library.db"
"""Default SQLite database in the home folder."""
_ID = re.compile("[0-9a-f]{32}")


def home() -> Path:
    """Return the folder that the environment names, by default the user's data folder."""
    return Path(os.environ.get(HOME) or user_data_path("tiescope", appauthor=False)).expanduser()


def byte_limit(variable: str, default: int) -> int:
    """Return a limit in bytes from a variable in megabytes; LibraryError if it is invalid."""
    try:
        return environment.byte_limit(variable, default * 10**6)
    except ValueError as error:
        raise LibraryError(str(error)) from error


@dataclass(frozen=True)
class Owner:
    """The database that a folder of uploads belongs to."""

    id: str  # also stored in the database, wherever it moves
    database: str  # its last location, relative if below the home folder, without user and password


class Ownership:
    """The relation of an uploads folder to the database it is opened with.

    Args:
        home: folder of the uploads.
        url: address of the database.
    """

    def __init__(self, home: Path, url: "sa.URL") -> None:
        self._path = home / "uploads" / "library.json"
        self._folder = self._path.parent.resolve().parent
        self._database = _describe(url, self._folder)

    def owner(self) -> Owner | None:
        """Return the database that the folder belongs to, None if it has none yet."""
        try:
            return _read_owner(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise LibraryError(f"{self._path} cannot be read. Restore a copy. {self._hatch}") from error

    def refuse_other(self, database_id: str | None, *, may_replace: bool) -> Owner | None:
        """Return the folder's owner; LibraryError if it is another database.

        A database without ID or content may replace one at the same location.
        """
        owner = self.owner()
        if owner is None or owner.id == database_id or (may_replace and owner.database == self._database):
            return owner
        ours = f" (id {database_id[:8]})" if database_id else ""
        hint = (
            "Unset TIESCOPE_DATABASE_URL"
            if owner.database == USUAL_DATABASE
            else "Set TIESCOPE_DATABASE_URL to that database"
        )
        raise LibraryError(
            f"The uploads in {self._path.parent} belong to the database {self._location(owner.database)} "
            f"(id {owner.id[:8]}), not to {self._location(self._database)}{ours}. "
            f"{hint}, restore a copy of that database, or choose another TIESCOPE_HOME. {self._hatch}"
        )

    def record(self, database_id: str) -> None:
        """Make the folder belong to this database; a read-only folder needs no owner."""
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
        return f"If you remove {self._path}, the folder will belong to the next database that opens it."

    def _location(self, database: str) -> str:
        return database if "://" in database else str(self._folder / database)


def _read_owner(path: Path) -> Owner:
    """Read an owner file; do not wait for a named pipe."""
    if os.path.lexists(path) and not path.is_file():
        raise OSError(f"{path} is not a regular file")
    fields = json.loads(path.read_text(encoding="utf-8"))
    if not _ID.fullmatch(fields["id"]):
        raise ValueError("this is not the ID of a database")
    return Owner(fields["id"], str(fields["database"]))


def _describe(url: "sa.URL", folder: Path) -> str:
    """Return the location of a database as in `Owner`."""
    if url.get_backend_name() != "sqlite":
        host = url.host or url.query.get("host", "")
        return f"postgresql://{host}{f':{url.port}' if url.port else ''}/{url.database}"
    path = Path(url.database or "").absolute()
    path = path.parent.resolve() / path.name
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
