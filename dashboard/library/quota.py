"""Room for another upload: what may go so that it fits, and whether its owner chose so."""

import sqlalchemy as sa

from dashboard.library import rows
from dashboard.library.schema import (
    board_files,
    boards,
    owners,
    published_tables,
    shelves,
    uploads,
)
from metrics.errors import LibraryError


def is_evicting(connection: sa.Connection, owner: str) -> bool:
    """Return whether somebody chose that the oldest uploads go when the library is full."""
    return bool(connection.scalar(sa.select(owners.c.evict).where(owners.c.owner == owner)))


def set_eviction(connection: sa.Connection, owner: str, *, evict: bool) -> None:
    """Write down what somebody chose."""
    if not connection.execute(owners.update().where(owners.c.owner == owner).values(evict=evict)).rowcount:
        connection.execute(owners.insert().values(owner=owner, evict=evict))


def used_bytes(connection: sa.Connection) -> int:
    """Return the bytes of all kept uploads and published tables."""
    sizes = (uploads.c.kept_size, published_tables.c.size)
    return sum(int(connection.scalar(sa.select(sa.func.coalesce(sa.func.sum(size), 0))) or 0) for size in sizes)


def free_space(connection: sa.Connection, owner: str, n_bytes: int, limit: int, keep: set[str]) -> bool:
    """See to it that so many bytes fit, by what somebody chose; returns whether an upload had to go.

    What they deleted goes first; the oldest of the others follow, if they chose so. Pinned uploads stay,
    those on a board that was given a name, those of other people and on their boards, even deleted ones,
    and `keep`.

    Raises:
        LibraryError: they do not fit.
    """
    over = used_bytes(connection) + n_bytes - limit
    if over <= 0:
        return False
    going = _oldest(connection, owner, over, keep)
    if going is None:
        raise LibraryError(
            f"The library is full: {limit / 10**6:,.0f} MB. Delete uploads, raise TIESCOPE_MAX_LIBRARY_MB, "
            "or let the oldest go (Data, Library)."
        )
    using = sa.select(board_files.c.board_id).where(board_files.c.sha256.in_(going))
    connection.execute(boards.delete().where(boards.c.id.in_(using)))
    connection.execute(shelves.delete().where(shelves.c.sha256.in_(going)))
    rows.delete_uploads(connection, uploads.c.sha256.in_(going))
    return True


def _oldest(connection: sa.Connection, owner: str, over: int, keep: set[str]) -> list[str] | None:
    """Return the oldest uploads that may go and make so many bytes of room; None where there are not enough."""
    evict = is_evicting(connection, owner)
    deleted = shelves.c.deleted.is_not(None)
    other_shelves = sa.select(shelves.c.sha256).where(shelves.c.owner != owner)
    is_present = boards.c.deleted.is_(None)
    spared = (boards.c.owner != owner) | (is_present & boards.c.named if evict else is_present)
    used = sa.select(board_files.c.sha256).join(boards, boards.c.id == board_files.c.board_id).where(spared)
    query = (
        sa.select(uploads.c.sha256, uploads.c.kept_size)
        .join(shelves, shelves.c.sha256 == uploads.c.sha256)
        .where(
            shelves.c.owner == owner,
            deleted | shelves.c.pinned.is_(False) if evict else deleted,
            uploads.c.sha256.not_in(keep),
            uploads.c.sha256.not_in(other_shelves),
            uploads.c.sha256.not_in(used),
        )
        .order_by(deleted.desc(), shelves.c.added)
    )
    going: list[str] = []
    for sha256, size in connection.execute(query):
        if over <= 0:
            break
        going.append(sha256)
        over -= size
    return going if over <= 0 else None
