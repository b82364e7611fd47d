"""The database under the library: SQLite or PostgreSQL, of the newest schema, its errors told plainly."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError

from dashboard.library.storage.schema import VERSIONS
from metrics.errors import LibraryError

WAIT = 10.0
"""Seconds to wait for another's write to end."""
_PAUSE = 0.05
"""Seconds before what was locked is tried again."""
_AGAIN = 5
"""Seconds before a database that could not be opened is tried again."""
_WRITERS = 7_146_873
"""Number of PostgreSQL's advisory lock that one writer holds at a time."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_REASONS = {
    "database is locked": "another program writes to it. Try again in a moment",
    "lock timeout": "another program writes to it. Try again in a moment",
    "readonly database": "it can only be read. Allow yourself to write, or choose another TIESCOPE_HOME",
    "disk is full": "the disk is full. Free some space, or choose another TIESCOPE_HOME",
    "no space left": "the disk is full. Free some space",
    "not a database": "it is no database. Move it away, or choose another TIESCOPE_HOME",
    "malformed": "it is damaged. Restore a copy, or choose another TIESCOPE_HOME",
    "unable to open": "it cannot be opened. Check the folder, or choose another TIESCOPE_HOME",
    "disk i/o error": "the disk fails. Check it, or choose another TIESCOPE_HOME",
    "foreign key": "one of the files was removed meanwhile. Upload it again",
    "connection": "it cannot be reached. Check TIESCOPE_DATABASE_URL and that the server runs",
    "read-only transaction": "it can only be read. Check the rights of its user",
}
"""Part of a driver's message → what it means, and what to do."""


def url_of(address: str | None, home: Path) -> sa.URL:
    """Return the address of the database: as given, else SQLite in the home folder.

    Raises:
        LibraryError: it is no address of a database that can be used.
    """
    try:
        url = sa.make_url(address) if address else sa.URL.create("sqlite", database=str(home / "library.db"))
    except (ArgumentError, ValueError) as error:
        raise LibraryError(
            "TIESCOPE_DATABASE_URL is no address. Write postgresql://USER:PASSWORD@HOST/DATABASE."
        ) from error
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite":
        databases = "SQLite and PostgreSQL are known"
        raise LibraryError(f"TIESCOPE_DATABASE_URL names {url.get_backend_name()}; {databases}.")
    if url.database in (None, "", ":memory:"):
        raise LibraryError("TIESCOPE_DATABASE_URL names no file. Write sqlite:////FOLDER/library.db.")
    return url.set(drivername="sqlite")


class Database:
    """Connections to one database; nothing is opened before it is needed.

    Args:
        url: where it is.
        wait: seconds to wait for another's write to end.
    """

    def __init__(self, url: sa.URL, wait: float = WAIT) -> None:
        self.url = url
        self._wait = wait
        self._engine: sa.Engine | None = None
        self._lock = Lock()
        self._trouble: tuple[float, LibraryError] | None = None

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees one state of the database; LibraryError where it cannot be read."""
        with self._plain_errors(), _one_state(self._migrated_engine()).begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection that alone may write, all at the end or nothing; LibraryError where it cannot."""
        with self._plain_errors(), _write_transaction(self._migrated_engine(), self._wait) as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    def _migrated_engine(self) -> sa.Engine:
        """Return the engine, its schema the newest."""
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
            engine = _engine(self.url, self._wait)
            try:
                _migrate(engine, self._wait)
            except BaseException:
                engine.dispose()
                raise
            return engine

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn what a driver raises into an error of ours."""
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
        return "PostgreSQL's driver is missing. Install tiescope[postgresql]"
    message = " ".join(str(getattr(error, "orig", error)).split())
    reasons = (told for part, told in _REASONS.items() if part in message.casefold())
    return next(reasons, f"{message[:300]}. Nothing was changed")


def _engine(url: sa.URL, wait: float) -> sa.Engine:
    if url.get_backend_name() == "postgresql":
        return sa.create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 5})
    if url.database and not url.query:
        try:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LibraryError(
                f"The library's folder {error.filename}: {reason}. Choose another TIESCOPE_HOME."
            ) from error
    engine = sa.create_engine(url, connect_args={"timeout": wait})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:  # noqa: ANN401 a driver's connection
    connection.isolation_level = None  # SQLAlchemy says when a transaction begins
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    alone = connection.get_execution_options().get("alone")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if alone else "BEGIN")


def _one_state(engine: sa.Engine) -> sa.Engine:
    """Return the engine, every transaction seeing one state: SQLite's do anyway."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ")
    return engine


@contextmanager
def _write_transaction(engine: sa.Engine, wait: float) -> Iterator[sa.Connection]:
    with engine.connect().execution_options(alone=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, round(wait * 1000))}")
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_WRITERS)))
        yield connection


def _log_ahead(connection: sa.Connection, end: float) -> None:
    """Let SQLite write ahead to a log; try again until `end`: it does not wait where another does the same."""
    while True:
        try:
            connection.connection.driver_connection.execute("PRAGMA journal_mode = WAL")  # type: ignore[union-attr]
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _migrate(engine: sa.Engine, wait: float) -> None:
    """Bring the schema to the newest version; LibraryError where it is newer than any known here."""
    with engine.begin() as connection:
        if _version(connection) == VERSIONS[-1]:
            return
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            _log_ahead(connection, time.monotonic() + wait)
    with _write_transaction(engine, wait) as connection:
        version = _version(connection)
        if version == VERSIONS[-1]:
            return
        if version is not None and version not in VERSIONS:
            raise LibraryError(
                f"The library is of a newer TieScope (schema {version}; this one knows {VERSIONS[-1]}). "
                "Update TieScope, or choose another TIESCOPE_HOME."
            )
        from alembic import command  # noqa: PLC0415 a seventh of a second that most starts need not pay
        from alembic.config import Config  # noqa: PLC0415 as above

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if version is None else str(version)
