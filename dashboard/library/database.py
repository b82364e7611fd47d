"""The library's database: SQLite or PostgreSQL, with readable errors.

A folder of uploads belongs to one database.
"""

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError

from dashboard.library.schema import REVISION, boards, library, released_files, uploads
from dashboard.library.uploads import sync_folder
from metrics.errors import LibraryError, UsageError
from metrics.runs.writing import whole_file

WAIT = 10.0
"""Seconds to wait for another writer."""
_AGAIN = 5
"""Seconds before retrying a database that could not be opened."""
_WRITERS = 7_146_873
"""Key of the PostgreSQL advisory lock that serializes writers."""
_USUAL_DATABASE = "library.db"
"""Default SQLite database in the home folder."""
_ID = re.compile("[0-9a-f]{32}")
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOGS = ("-wal", "-shm", "-journal")
"""Suffixes of SQLite's auxiliary files."""
_REASONS = {
    "database is locked": "another program is writing to it. Try again in a moment",
    "lock timeout": "another program is writing to it. Try again in a moment",
    "readonly database": "it is read-only. Change its permissions, or choose another TIESCOPE_HOME",
    "disk is full": "the disk is full. Free some space, or choose another TIESCOPE_HOME",
    "no space left": "the disk is full. Free some space",
    "not a database": "it is not a database. Move it away, or choose another TIESCOPE_HOME",
    "malformed": "it is damaged. Restore it from a backup, or move the damaged file away to start again: the "
    "uploads remain",
    "unable to open": "it cannot be opened. Check the folder, or choose another TIESCOPE_HOME",
    "disk i/o error": "the disk has errors. Check it, or choose another TIESCOPE_HOME",
    "foreign key": "one of the files was removed. Upload it again",
    "connection": "it cannot be reached. Check TIESCOPE_DATABASE_URL, and check that the database server is "
    "running",
    "read-only transaction": "it is read-only. Check the permissions of the database user",
}
"""Part of a driver's message → its meaning and what to do."""


def url_of(address: str | None, home: Path) -> sa.URL:
    """Return the database URL, by default SQLite in the home folder."""
    try:
        url = sa.make_url(address) if address else sa.URL.create("sqlite", database=str(home / _USUAL_DATABASE))
    except (ArgumentError, ValueError) as error:
        raise LibraryError(
            "TIESCOPE_DATABASE_URL is not a database address. Write postgresql://USER:PASSWORD@HOST/DATABASE."
        ) from error
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite":
        databases = "TieScope supports SQLite and PostgreSQL"
        raise LibraryError(f"TIESCOPE_DATABASE_URL names {url.get_backend_name()}; {databases}.")
    if url.database in (None, "", ":memory:"):
        raise LibraryError("TIESCOPE_DATABASE_URL does not name a file. Write sqlite:////FOLDER/library.db.")
    return url.set(drivername="sqlite")


@dataclass(frozen=True)
class Owner:
    """The database that a folder of uploads belongs to."""

    id: str  # also stored in the database, wherever it moves
    database: str  # its last location, relative if inside the home folder, without user and password


class Ownership:
    """The relation of an uploads folder to the database it is opened with.

    Args:
        home: folder of the uploads.
        url: address of the database.
    """

    def __init__(self, home: Path, url: sa.URL) -> None:
        self._path = home / "uploads" / "library.json"
        self._folder = self._path.parent.resolve().parent
        self._database = _describe(url, self._folder)

    def refuse_other(self, database_id: str | None, *, may_replace: bool) -> Owner | None:
        """Return the folder's owner, None if it has none yet; LibraryError if it is another database.

        A database without ID or content may replace one at the same location.
        """
        try:
            owner = _read_owner(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise LibraryError(f"{self._path} cannot be read. Restore a copy. {self._hatch}") from error
        if owner.id == database_id or (may_replace and owner.database == self._database):
            return owner
        ours = f" (id {database_id[:8]})" if database_id else ""
        hint = (
            "Unset TIESCOPE_DATABASE_URL"
            if owner.database == _USUAL_DATABASE
            else "Set TIESCOPE_DATABASE_URL to that database"
        )
        raise LibraryError(
            f"The uploads in {self._path.parent} belong to the database {self._location(owner.database)} "
            f"(id {owner.id[:8]}), not to {self._location(self._database)}{ours}. "
            f"{hint}, restore a copy of that database, or choose another TIESCOPE_HOME. {self._hatch}"
        )

    def record(self, database_id: str) -> None:
        """Make the folder belong to this database; a read-only folder needs no owner."""
        owner = Owner(database_id, self._database)
        try:
            self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
            with whole_file(self._path) as stream:
                stream.write(json.dumps(asdict(owner), indent=1).encode())
        except (OSError, UsageError) as error:
            if os.access(self._path.parent, os.W_OK):
                raise LibraryError(f"The library's folder: {str(error).rstrip('.')}.") from error

    @property
    def _hatch(self) -> str:
        return (
            f"If you remove the file {self._path}, TieScope assigns the folder to the database it opens next."
        )

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


def _describe(url: sa.URL, folder: Path) -> str:
    """Return the location of a database as in `Owner`."""
    if url.get_backend_name() != "sqlite":
        host = url.host or url.query.get("host", "")
        return f"postgresql://{host}{f':{url.port}' if url.port else ''}/{url.database}"
    path = Path(url.database or "").absolute()
    path = path.parent.resolve() / path.name
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


class Database:
    """Connections to one database, opened on first use.

    Args:
        url: address of the database.
        home: folder of its uploads, which must not belong to another database.
        wait: seconds to wait for another writer.
    """

    def __init__(self, url: sa.URL, home: Path, wait: float = WAIT) -> None:
        self.url = url
        self._wait = wait
        self._ownership = Ownership(home, url)
        self._engine: sa.Engine | None = None
        self._lock = Lock()
        self._trouble: tuple[float, LibraryError] | None = None

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection with a consistent snapshot; LibraryError if the database cannot be read."""
        engine = self._open_engine()
        if engine.dialect.name == "postgresql":  # SQLite has one state in every transaction
            engine = engine.execution_options(isolation_level="REPEATABLE READ")
        with self._plain_errors(), engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield the only writing connection, committed at the end; LibraryError if it cannot be written."""
        with self._plain_errors(), _write_transaction(self._open_engine(), self._wait) as connection:
            yield connection

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    def _open_engine(self) -> sa.Engine:
        with self._lock:
            if self._engine is None:
                if self._trouble is not None and time.monotonic() < self._trouble[0]:
                    raise self._trouble[1].with_traceback(None)
                try:
                    self._engine = self._open()
                except LibraryError as error:
                    self._trouble = time.monotonic() + _AGAIN, error
                    raise
            return self._engine

    def _open(self) -> sa.Engine:
        with self._plain_errors():
            self._create_file()
            engine = _engine(self.url, self._wait)
            try:
                self._settle(engine)
            except BaseException:
                engine.dispose()
                raise
            return engine

    def _create_file(self) -> None:
        """Create SQLite's file with all tables, readable by this account alone, then move it into place.

        SQLite itself starts with an empty file, which another process would take for a lost library.
        """
        path = _sqlite_path(self.url)
        if path is None or path.exists() or "mode" in self.url.query:
            return
        self._ownership.refuse_other(None, may_replace=True)
        try:
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f"{path.name}.", dir=path.parent) as folder:
                part = Path(folder, path.name)
                _create_sqlite(part, self._wait)
                _put_in_place(part, path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LibraryError(
                f"The library's folder {path.parent}: {reason}. Choose another TIESCOPE_HOME."
            ) from error

    def _settle(self, engine: sa.Engine) -> None:
        """Create the tables of a new database; reject a folder of uploads that belongs to another database."""
        with engine.begin() as connection:
            is_new, database_id = self._is_new(connection), _id(connection)
            owner = self._refuse_other(connection)
        path = _sqlite_path(self.url)
        can_write = bool(self.url.query) or path is None or _is_writable(path)
        if is_new or (can_write and owner and owner.id != database_id):
            with _write_transaction(engine, self._wait) as connection:
                owner = self._refuse_other(connection)
                if self._is_new(connection):
                    _create_tables(connection)
                if owner:
                    connection.execute(library.update().values(id=owner.id))
                database_id = _id(connection)
        if owner is None and database_id:
            self._ownership.record(database_id)

    def _refuse_other(self, connection: sa.Connection) -> Owner | None:
        """Return the owner of the uploads folder; LibraryError if it is another database."""
        database_id = _id(connection)
        return self._ownership.refuse_other(database_id, may_replace=not database_id or _is_empty(connection))

    def _is_new(self, connection: sa.Connection) -> bool:
        """Return whether a PostgreSQL database has no tables; reject foreign tables and other revisions."""
        tables = sa.inspect(connection).get_table_names()
        if not tables and connection.dialect.name == "sqlite":
            raise LibraryError(
                f"The library ({self._name}) is empty, so the metadata of the uploads is lost. "
                "Restore it from a backup, or move the empty file away to start again."
            )
        if not tables:
            return True
        version = "alembic_version" in tables and connection.scalar(
            sa.text("SELECT version_num FROM alembic_version")
        )
        if not version or not {"uploads", "boards"} <= set(tables):
            raise LibraryError(
                f"The library ({self._name}) contains tables of another program, such as {min(tables)}. "
                "Nothing was changed. Choose another database."
            )
        if version != REVISION:
            raise LibraryError(
                f"The library ({self._name}) has schema {version}, and this version of TieScope reads only "
                f"{REVISION}: use the version that wrote it, or choose another database."
            )
        return False

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Convert driver errors to a LibraryError."""
        try:
            yield
        except (DBAPIError, sqlite3.Error, sa.exc.TimeoutError, ModuleNotFoundError) as error:
            raise LibraryError(f"The library ({self._name}): {_reason(error)}.") from error

    @property
    def _name(self) -> str:
        if self.url.get_backend_name() == "sqlite":
            return self.url.database or ""
        return str(self.url.host or self.url.query.get("host") or "PostgreSQL")


def _reason(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return 'PostgreSQL\'s driver is missing. Install it: pip install "tiescope[postgresql]"'
    message = " ".join(str(getattr(error, "orig", error)).split())
    reasons = (told for part, told in _REASONS.items() if part in message.casefold())
    return next(reasons, f"{message[:300]}. Nothing was changed")


def _engine(url: sa.URL, wait: float) -> sa.Engine:
    if url.get_backend_name() == "postgresql":
        return sa.create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 5})
    path = _sqlite_path(url)
    if path is None or url.query:
        engine = sa.create_engine(url, connect_args={"timeout": wait})
    else:
        pool = sa.QueuePool if _is_writable(path) else sa.NullPool  # see what other processes write
        engine = sa.create_engine(url, creator=partial(_connect, path, wait), poolclass=pool)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _sqlite_path(url: sa.URL) -> Path | None:
    return Path((url.database or "").removeprefix("file:")) if url.get_backend_name() == "sqlite" else None


def _is_writable(path: Path) -> bool:
    """Return whether SQLite can write, which includes creating files in the folder."""
    return all(os.access(place, os.W_OK) for place in (path, path.parent) if place.exists())


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    """Open an existing SQLite file.

    A read-only file is opened as immutable unless its log has content, because reading a log requires a lock.
    """
    log = Path(f"{path}-wal")
    mode = "mode=rw" if _is_writable(path) else "mode=ro"
    if mode == "mode=ro" and not (log.exists() and log.stat().st_size):
        mode += "&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", wait, check_same_thread=False, uri=True)


def _create_sqlite(path: Path, wait: float) -> None:
    path.touch(0o600)  # its logs get the same permissions
    engine = _engine(sa.URL.create("sqlite", database=str(path)), wait)
    try:
        with engine.connect() as connection:
            connection.connection.driver_connection.execute("PRAGMA journal_mode = WAL")  # type: ignore[union-attr]
        with _write_transaction(engine, wait) as connection:
            _create_tables(connection)
    finally:
        engine.dispose()


def _put_in_place(part: Path, path: Path) -> None:
    """Move a new database to its path unless one exists by then.

    Log files of a removed database are renamed, because SQLite would apply them to the new one.
    """
    logs = [log for suffix in _LOGS if (log := Path(f"{path}{suffix}")).exists()]
    if path.exists():
        return
    for log in logs:
        with suppress(FileNotFoundError):
            log.rename(f"{log}.{token_hex(4)}")
    try:
        os.link(part, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links: no two processes may come here at the same moment
        if not path.exists():
            part.rename(path)
    sync_folder(path.parent)


def _prepare_sqlite(connection: Any, _: object) -> None:  # noqa: ANN401 a driver's connection
    connection.isolation_level = None  # SQLAlchemy says when a transaction begins
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    alone = connection.get_execution_options().get("alone")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if alone else "BEGIN")


@contextmanager
def _write_transaction(engine: sa.Engine, wait: float) -> Iterator[sa.Connection]:
    with engine.connect().execution_options(alone=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, round(wait * 1000))}")
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_WRITERS)))
        yield connection


def _create_tables(connection: sa.Connection) -> None:
    from alembic import command  # noqa: PLC0415 a seventh of a second that most starts need not pay
    from alembic.config import Config  # noqa: PLC0415 as above

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _id(connection: sa.Connection) -> str | None:
    """Return the ID that the uploads folder also has, None before it exists."""
    has_id = sa.inspect(connection).has_table(library.name)
    return connection.scalar(sa.select(library.c.id)) if has_id else None


def _is_empty(connection: sa.Connection) -> bool:
    """Return whether a database has no uploads, boards or released files."""
    ids = (uploads.c.sha256, boards.c.id, released_files.c.sha256)
    return not connection.scalar(sa.select(sa.or_(*(sa.exists(sa.select(id_)) for id_ in ids))))
