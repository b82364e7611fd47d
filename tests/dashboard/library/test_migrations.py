"""A library of any earlier version opens as one of the newest, whole."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from boards import QRELS, STRICT, board
from library_writer import PROCESSES
from pyarrow import parquet

from dashboard.library import schema
from dashboard.library.database import url_of
from dashboard.library.schema import VERSIONS, metadata
from dashboard.library.store import Library
from metrics.errors import LibraryError

BOARD = board(strict_trec=STRICT, qrels_txt=QRELS)
AT_ONCE = 3


@pytest.fixture
def engine(empty_url, tmp_path):
    new_engine = sa.create_engine(url_of(empty_url, tmp_path))
    yield new_engine
    new_engine.dispose()


def upgraded(engine, version):
    """Bring a database to a version."""
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, version)


def contents(engine):
    """Every row of every table."""
    with engine.connect() as connection:
        tables = sa.MetaData()
        tables.reflect(connection)
        return {name: connection.execute(sa.select(one)).all() for name, one in sorted(tables.tables.items())}


@pytest.fixture
def stored_board(tmp_path):
    """A board as the first version kept it: rows of its tables, and Parquets of its uploads in the folder."""
    library = Library(tmp_path / "home")
    record = library.keep(BOARD, name="Mine", view={"depth": 5})
    library.pin(BOARD.spec.entries[0].file.sha256)
    library.describe(BOARD.spec.entries[0].file.sha256, "noted")
    library.close()
    (tmp_path / "home" / "uploads" / "library.json").unlink()  # which the first version did not write
    old = sa.create_engine(f"sqlite:///{tmp_path / 'home' / 'library.db'}")
    with old.connect() as connection:
        table_rows = {table.name: _rows(connection, sa.select(table)) for table in metadata.sorted_tables}
    old.dispose()
    shelves = {row["sha256"]: row for row in table_rows.pop("shelves")}
    table_rows.pop("owners")
    readings = {}
    for entry, source in zip(BOARD.spec.entries, BOARD.sources, strict=True):
        path = record.spec.entries[len(readings)].file.path
        path.unlink()
        parquet.write_table(source.table, path.with_suffix(".parquet"), compression="zstd")
        readings[entry.file.sha256] = {
            "format": source.format,
            "mapping": dict(source.mapping),
            "header": list(source.header),
            "unit": "line",
            "first": 1,
            "noted": [],
        }
    for row in table_rows["uploads"]:
        row.update({name: shelves[row["sha256"]][name] for name in ("name", "note", "pinned")})
        place = next((tmp_path / "home").glob(f"uploads/*/{row['sha256']}.parquet"))
        row["kept_sha256"] = sha256(place.read_bytes()).hexdigest()
        del row["ending"]
    for row in [*table_rows["uploads"], *table_rows["board_files"]]:
        row["reading"] = readings[row["sha256"]]
    for row in table_rows["boards"]:
        del row["owner"], row["access"], row["runs"], row["queries"]
    return record, table_rows


def _rows(connection, query):
    return [dict(row) for row in connection.execute(query).mappings()]


def filled(engine, table_rows):
    """Write rows of the first version, in types of the newest: JSON as JSON."""
    with engine.begin() as connection:
        for name in ("uploads", "boards", "board_files"):
            tables = sa.MetaData()
            table = sa.Table(name, tables, autoload_with=connection, resolve_fks=False)
            for column in table.columns:
                if column.name in metadata.tables[name].c:
                    column.type = metadata.tables[name].c[column.name].type
            connection.execute(table.insert(), table_rows[name])


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_what_an_earlier_version_kept_is_there(library_at, empty_url, engine, stored_board, version):
    record, table_rows = stored_board
    upgraded(engine, VERSIONS[0])
    filled(engine, table_rows)
    upgraded(engine, version)
    library = library_at(empty_url)
    again = library.find(record.id)
    assert replace(again, spec=record.spec, runs=record.runs, queries=record.queries) == record
    assert again.spec.digest == record.spec.digest
    assert [entry.read().table for entry in again.spec.entries] == [one.table for one in BOARD.sources]
    uploads = {(one.name, one.note, one.pinned, one.boards) for one in library.uploads()}
    on = ((record.id, "Mine"),)
    assert uploads == {("strict.trec", "noted", True, on), ("qrels.txt", "", False, on)}
    assert library.keep(BOARD).id != record.id


@pytest.mark.parametrize("version", ["base", *VERSIONS])
def test_the_tables_are_those_the_library_asks_for(library_at, empty_url, engine, version):
    if version != "base":
        upgraded(engine, version)
    library = library_at(empty_url)
    assert library.boards() == []
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_opening_it_again_changes_nothing(library_at, empty_url, engine):
    library_at(empty_url).keep(BOARD)
    before = contents(engine)
    assert library_at(empty_url).boards()
    assert contents(engine) == before
    assert before["alembic_version"] == [(VERSIONS[-1],)]


def open_at_once(home, url, gate, answer):
    library = Library(Path(home), url)
    gate.wait()
    try:
        answer.put(len(library.boards()))
    except LibraryError as error:
        answer.put(str(error))


@pytest.mark.parametrize("version", ["base", *VERSIONS[:-1]])
def test_several_processes_may_open_it_for_the_first_time_at_once(tmp_path, empty_url, engine, version):
    if version != "base":
        upgraded(engine, version)
    gate, answer = PROCESSES.Barrier(AT_ONCE), PROCESSES.Queue()
    arguments = str(tmp_path / "home"), empty_url, gate, answer
    processes = [PROCESSES.Process(target=open_at_once, args=arguments) for _ in range(AT_ONCE)]
    for process in processes:
        process.start()
    assert [answer.get(timeout=60) for _ in processes] == [0] * AT_ONCE
    for process in processes:
        process.join(60)
    assert contents(engine)["alembic_version"] == [(VERSIONS[-1],)]


def test_a_newer_schema_is_told_and_nothing_is_changed(library_at, empty_url, engine):
    upgraded(engine, "head")
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    before = contents(engine)
    library = library_at(empty_url)
    for operation in (library.boards, library.uploads, lambda: library.keep(BOARD), library.sweep):
        with pytest.raises(
            LibraryError,
            match=rf"written by a newer TieScope \(schema 9999; this version reads {VERSIONS[-1]}\)",
        ):
            operation()
    assert contents(engine) == before


def test_a_migration_that_fails_leaves_the_version_there_was(library_at, empty_url, engine, stored_board):
    upgraded(engine, "0001")
    filled(engine, stored_board[1])
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE owners (other INTEGER)"))
    before = contents(engine)
    library = library_at(empty_url)
    with pytest.raises(LibraryError, match=r"owners.* already exists.*Nothing was changed"):
        library.boards()
    assert contents(engine) == before


def test_a_database_of_something_else_is_left_alone(library_at, empty_url, engine):
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE boards (wood INTEGER)"))
    library = library_at(empty_url)
    for operation in (library.boards, lambda: library.keep(BOARD), library.sweep):
        with pytest.raises(
            LibraryError, match=r"contains tables of another program, such as boards\. Nothing was"
        ):
            operation()
    assert contents(engine) == {"boards": []}


def test_versions_name_every_migration_in_order():
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(one.revision for one in scripts)[::-1] == VERSIONS
