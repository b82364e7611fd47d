"""A library of each test, on SQLite and on PostgreSQL: both must pass the same tests."""

import shutil
from datetime import timedelta
from functools import partial
from itertools import count

import postgresql
import psycopg
import pytest

from dashboard.library import schema, store
from dashboard.library.database import Database, url_of
from dashboard.library.store import Library


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server, of this process alone."""
    programs = postgresql.find()
    if programs is None:
        pytest.skip("no PostgreSQL server here: python tests/postgresql.py")
    with postgresql.serving(programs) as running:
        yield running


@pytest.fixture(scope="session")
def migrated(server, tmp_path_factory):
    """A database of the server that is migrated already."""
    _order(server, "CREATE DATABASE migrated")
    _open_once(Library(tmp_path_factory.mktemp("migrated"), server.url("migrated")))
    return server.url("migrated")


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory):
    """A file of SQLite that is migrated already."""
    home = tmp_path_factory.mktemp("migrated")
    _open_once(Library(home))
    return home / "library.db"


def _open_once(library):
    library.boards()
    library.close()


def _order(server, command, database="postgres"):
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        connection.execute(command)


_NUMBERS = count()


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def kind(request):
    """Which database a test runs on."""
    return request.param


@pytest.fixture
def sqlite_url(migrated_file, tmp_path):
    """Address of a database of SQLite without boards."""
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path)}"


@pytest.fixture
def postgresql_url(server, migrated):
    """Address of a database of PostgreSQL without boards."""
    tables = ", ".join(schema.metadata.tables)
    _order(server, f"TRUNCATE {tables}", "migrated")  # a tenth of the time that a new one takes
    return migrated


@pytest.fixture
def url(kind, request):
    """Address of a database without boards."""
    return request.getfixturevalue(f"{kind.lower()}_url")


@pytest.fixture
def empty_url(kind, request, tmp_path):
    """Address of a database without a table."""
    if kind == "SQLite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
    else:
        server, name = request.getfixturevalue("server"), f"library{next(_NUMBERS)}"
        _order(server, f"CREATE DATABASE {name} TEMPLATE template0")
        yield server.url(name)
        _order(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def open_database(tmp_path):
    """Look into a database, and change it by hand."""
    databases = []

    def open_url(address):
        databases.append(Database(url_of(address, tmp_path)))
        return databases[-1]

    yield open_url
    for database in databases:
        database.close()


@pytest.fixture
def database(url, open_database):
    """The library's database, to look into and to change by hand."""
    return open_database(url)


@pytest.fixture
def library_at(tmp_path):
    """Open a library of some database."""
    libraries = []

    def open_url(address, **options):
        libraries.append(Library(tmp_path / "home", address, **options))
        return libraries[-1]

    yield open_url
    for library in libraries:
        library.close()


@pytest.fixture
def open_library(library_at, url):
    """Open the library of this test, once or more, as several processes do or after a restart."""
    return partial(library_at, url)


@pytest.fixture
def library(open_library):
    """A library that keeps nothing yet."""
    return open_library()


@pytest.fixture
def calendar(monkeypatch):
    """Time that goes on by a minute whenever it is asked for."""
    start = schema.now()
    times = (start + timedelta(minutes=at) for at in range(10_000))
    monkeypatch.setattr(store, "now", lambda: next(times))


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """Where anything temporary would be left; board files leave nothing."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())
