"""The tables of a new library; a library of another revision is refused and left as it is."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from boards import COARSE, QRELS, STRICT, board
from library_writer import PROCESSES

from dashboard.library import schema
from dashboard.library.database import url_of
from dashboard.library.schema import REVISION, metadata
from dashboard.library.store import Library
from metrics.errors import LibraryError

BOARD, OTHER = board(strict_trec=STRICT, qrels_txt=QRELS), board(coarse_trec=COARSE, qrels_txt=QRELS)
AT_ONCE = 3


@pytest.fixture
def engine(empty_url, tmp_path):
    new_engine = sa.create_engine(url_of(empty_url, tmp_path))
    yield new_engine
    new_engine.dispose()


def contents(engine):
    """Every row of every table."""
    with engine.connect() as connection:
        tables = sa.MetaData()
        tables.reflect(connection)
        return {name: connection.execute(sa.select(one)).all() for name, one in sorted(tables.tables.items())}


def test_the_tables_are_those_the_library_asks_for(library_at, empty_url, engine):
    library = library_at(empty_url)
    assert library.boards() == []
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_there_are_five_tables_at_most():
    assert len(metadata.tables) <= 5


def test_sqlite_gives_back_the_space_of_removed_uploads(library_at, sqlite_url):
    with library_at(sqlite_url).database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA auto_vacuum").scalar() == 2  # incremental
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_opening_it_again_changes_nothing(library_at, empty_url, engine):
    library_at(empty_url).keep(BOARD)
    before = contents(engine)
    assert library_at(empty_url).boards()
    assert contents(engine) == before
    assert before["alembic_version"] == [(REVISION,)]


def open_at_once(home, url, gate, answer):
    library = Library(Path(home), url)
    gate.wait()
    try:
        answer.put(len(library.boards()))
    except LibraryError as error:
        answer.put(str(error))


def test_several_processes_may_open_it_for_the_first_time_at_once(tmp_path, empty_url, engine):
    gate, answer = PROCESSES.Barrier(AT_ONCE), PROCESSES.Queue()
    arguments = str(tmp_path / "home"), empty_url, gate, answer
    processes = [PROCESSES.Process(target=open_at_once, args=arguments) for _ in range(AT_ONCE)]
    for process in processes:
        process.start()
    assert [answer.get(timeout=60) for _ in processes] == [0] * AT_ONCE
    for process in processes:
        process.join(60)
    assert contents(engine)["alembic_version"] == [(REVISION,)]


@pytest.mark.parametrize("revision", ["0001", "0006", "9999"])
def test_a_library_of_another_revision_is_refused_in_a_sentence_and_left_as_it_is(
    library_at, empty_url, engine, revision
):
    first = library_at(empty_url)
    first.keep(BOARD)
    first.close()
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :one"), {"one": revision})
    before = contents(engine)
    library = library_at(empty_url)
    for operation in (library.boards, library.uploads, lambda: library.keep(OTHER), library.end_expired):
        with pytest.raises(LibraryError) as caught:
            operation()
        assert str(caught.value).endswith(
            f" has schema {revision}, and this version of TieScope reads only {REVISION}: use the version that "
            "wrote it, or choose another database."
        )
    assert contents(engine) == before


def test_a_database_of_something_else_is_left_alone(library_at, empty_url, engine):
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE boards (wood INTEGER)"))
    library = library_at(empty_url)
    for operation in (library.boards, lambda: library.keep(BOARD), library.end_expired):
        with pytest.raises(
            LibraryError, match=r"contains tables of another program, such as boards\. Nothing was"
        ):
            operation()
    assert contents(engine) == {"boards": []}


def test_the_revision_is_that_of_the_newest_migration():
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]
