"""The library's database: SQLite or PostgreSQL, with readable errors."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError

from dashboard.library.schema import REVISION
from metrics.errors import LibraryError

WAIT = 30.0
"""Seconds to wait for other writers; one that stores 200 MB needs some three."""
_AGAIN = 5
"""Seconds before retrying a database that could not be opened."""
_WRITERS = 7_146_873
"""Key of the PostgreSQL advisory lock that serializes writers."""
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
    "malformed": "it is damaged. Restore it from a backup, or move the damaged file away to start again with "
    "an empty library",
    "unable to open": "it cannot be opened. Check the folder, or choose another TIESCOPE_HOME",
    "disk i/o error": "the disk has errors. Check it, or choose another TIESCOPE_HOME",
    "connection": "it cannot be reached. Check TIESCOPE_DATABASE_URL, and check that the database server is "
    "running",
    "read-only transaction": "it is read-only. Check the permissions of the database user",
}
"""Part of a driver's message → its meaning and what to do."""


def url_of(address: str | None, home: Path) -> sa.URL:
    """Return the database URL, by default SQLite in the home folder."""
    try:
        url = sa.make_url(address) if address else sa.URL.create("sqlite", database=str(home / "library.db"))
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


class Database:
    """Connections to one database, opened on first use.

    Args:
        url: address of the database.
        wait: seconds to wait for another writer.
    """

    def __init__(self, url: sa.URL, wait: float = WAIT) -> None:
        self.url = url
        self._wait = wait
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
                with engine.begin() as connection:
                    is_new = self._is_new(connection)
                if is_new:
                    with _write_transaction(engine, self._wait) as connection:
                        if self._is_new(connection):
                            _create_tables(connection)
            except BaseException:
                engine.dispose()
                raise
            return engine

    def _create_file(self) -> None:
        """Create SQLite's file with all tables, readable by this account alone, then move it into place.

        SQLite itself starts with an empty file, which another process would take for a lost library.
        """
        if self.url.get_backend_name() != "sqlite" or (path := Path(self.url.database or "")).exists():
            return
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

    def _is_new(self, connection: sa.Connection) -> bool:
        """Return whether a PostgreSQL database has no tables; reject foreign tables and other revisions."""
        tables = sa.inspect(connection).get_table_names()
        if not tables and connection.dialect.name == "sqlite":
            raise LibraryError(
                f"The library ({self._name}) is empty. Restore it from a backup, or move the empty file away "
                "to start again."
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
    connect = partial(_connect, Path(url.database or ""), wait)
    engine = sa.create_engine(url, creator=connect, poolclass=sa.QueuePool)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    """Open an existing SQLite file; SQLite itself would create one."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, timeout=wait, check_same_thread=False, uri=True)


def _create_sqlite(path: Path, wait: float) -> None:
    path.touch(0o600)  # its logs get the same permissions
    engine = _engine(sa.URL.create("sqlite", database=str(path)), wait)
    try:
        with engine.begin() as connection:
            _create_tables(connection)
        with engine.connect() as connection:
            connection.connection.driver_connection.execute("PRAGMA journal_mode = WAL")  # type: ignore[union-attr]
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
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _prepare_sqlite(connection: Any, _: object) -> None:  # noqa: ANN401 a driver's connection
    connection.isolation_level = None  # SQLAlchemy says when a transaction begins
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA journal_size_limit = 67108864")  # after an upload of hundreds of megabytes
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
