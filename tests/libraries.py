"""Boards that tests of the library keep, and what they look at afterwards."""

from datetime import timedelta

from boards import COARSE, QRELS, STRICT, board

from dashboard.library.boards import make_board
from dashboard.library.schema import now
from dashboard.library.store import used_bytes

ANNA, BERT = "anna@example.org", "bert@example.org"
FIRST = board(strict_trec=STRICT, qrels_txt=QRELS)
OTHER = board(coarse_trec=COARSE, qrels_txt=QRELS)


def shas(library, owner="", **options):
    return [one.sha256 for one in library.uploads(owner, **options)]


def sha(record, position=0):
    return record.spec.entries[position].file.sha256


def names_on(record):
    return [entry.file.name for entry in record.spec.entries]


def as_read(record):
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


def used(library):
    """Bytes of all that a library stores, which its limit applies to."""
    with library.database.reading() as connection:
        return used_bytes(connection)


def on_disk(home):
    return sorted(path.stem for path in (home / "uploads").glob("*/*.*"))


def aged(database, *tables, days=31):
    """Have what was deleted be deleted so long ago."""
    with database.writing() as connection:
        for table in tables:
            past = table.c.deleted.is_not(None)
            connection.execute(table.update().where(past).values(deleted=now() - timedelta(days)))
