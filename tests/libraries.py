"""Boards that tests of the library keep, and what they look at afterwards."""

from datetime import timedelta

import sqlalchemy as sa
from boards import COARSE, QRELS, STRICT, board

from dashboard.library.boards import make_board
from dashboard.library.schema import boards, now, published_tables, uploads

ANNA, BERT = "anna@example.org", "bert@example.org"
FIRST = board(strict_trec=STRICT, qrels_txt=QRELS)
OTHER = board(coarse_trec=COARSE, qrels_txt=QRELS)


def keep_as(library, new_board, owner="", name="", view=None, access="private"):
    """Keep a board under a name, with a view and for others, as its owner does one after the other."""
    record = library.keep(new_board, owner)
    if name:
        library.rename(record.id, name, owner)
    if view:
        library.save_view(record.id, view, owner)
    if access != "private":
        library.share(record.id, access, owner)
    return library.find(record.id, owner)


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
        columns = uploads.c.data, published_tables.c.packed
        return sum(connection.scalar(sa.select(sa.func.sum(sa.func.length(one)))) or 0 for one in columns)


def stored(library):
    """Hashes of the uploads whose bytes are stored."""
    with library.database.reading() as connection:
        return sorted(connection.scalars(sa.select(uploads.c.sha256).distinct()))


def replace_bytes(library, sha256, data):
    """Have other bytes stored for an upload, or none."""
    mine = uploads.c.sha256 == sha256
    with library.database.writing() as connection:
        change = uploads.delete() if data is None else uploads.update().values(data=data)
        connection.execute(change.where(mine))


def aged(library, days, **columns):
    """Have boards be deleted or opened so many days ago: `opened=True` or `deleted=True`."""
    with library.database.writing() as connection:
        for name in columns:
            past = boards.c[name].is_not(None)
            connection.execute(boards.update().where(past).values({name: now() - timedelta(days)}))
