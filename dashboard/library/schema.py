"""The library's tables in their current version."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

REVISION = "0006"
"""The revision of this schema; see `migrations/versions`."""

RETENTION = timedelta(days=30)
"""How long deleted uploads and boards can be restored."""

metadata = MetaData()
_SHA256, _BOARD, _OWNER, _NAME = 64, 12, 320, 1000

uploads = Table(
    "uploads",
    metadata,
    Column("sha256", String(_SHA256), primary_key=True),  # of the uploaded bytes
    Column("kind", String(5), nullable=False),  # run or qrels
    Column("rows", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),  # uploaded bytes
    Column("kept_size", BigInteger, nullable=False),  # stored bytes
    Column("ending", String(8), nullable=False),  # suffix of the stored file
    Column("reading", JSON, nullable=False),  # first reading: format, mapping, columns
    Column("profile", JSON, nullable=False),  # uploads.Profile
    Column("added", DateTime, nullable=False),  # UTC, here and below
)

shelves = Table(  # uploads in an owner's library, with notes
    "shelves",
    metadata,
    Column("owner", String(_OWNER), primary_key=True),
    Column("sha256", ForeignKey("uploads.sha256"), primary_key=True),
    Column("name", String(_NAME), nullable=False),
    Column("note", String(_NAME), nullable=False, default=""),
    Column("pinned", Boolean, nullable=False, default=False),
    Column("added", DateTime, nullable=False),
    Column("deleted", DateTime),
)

boards = Table(
    "boards",
    metadata,
    Column("id", String(_BOARD), primary_key=True),
    Column("owner", String(_OWNER), nullable=False),
    Column("access", String(7), nullable=False),  # private, link or edit
    Column("name", String(_NAME), nullable=False),
    Column("named", Boolean, nullable=False),  # chosen by a person
    Column("digest", String(_SHA256), nullable=False),  # of its spec
    Column("repeated", String(5), nullable=False),
    Column("names", JSON),  # shown rerankers: name in the files, shown name
    Column("runs", Integer, nullable=False),  # numbers
    Column("queries", Integer, nullable=False),
    Column("view", JSON, nullable=False),  # settings: key of a control → value
    Column("version", Integer, nullable=False),  # increases with every change
    Column("created", DateTime, nullable=False),
    Column("changed", DateTime, nullable=False),
    Column("deleted", DateTime),
    Index("boards_of_owner", "owner", "changed"),
)

board_files = Table(
    "board_files",
    metadata,
    Column("board_id", ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("sha256", ForeignKey("uploads.sha256"), nullable=False),
    Column("name", String(_NAME), nullable=False),
    Column("columns", JSON, nullable=False),  # chosen columns
    Column("reading", JSON, nullable=False),  # format, mapping
    Index("files_of_upload", "sha256"),
)

published_tables = Table(  # published results of a board
    "published_tables",
    metadata,
    Column("board_id", ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    Column("label", String(_NAME), nullable=False),  # label in links
    Column("size", BigInteger, nullable=False),  # stored bytes
    Column("packed", LargeBinary, nullable=False),  # names and contents
)

owners = Table(
    "owners",
    metadata,
    Column("owner", String(_OWNER), primary_key=True),
    Column("evict", Boolean, nullable=False),  # oldest uploads go when the library is full
)

library = Table(
    "library",
    metadata,
    Column("id", String(32), primary_key=True),  # a single row; also in the uploads folder
)

released_files = Table(  # deleted uploads whose files the next sweep removes
    "released_files",
    metadata,
    Column("sha256", String(_SHA256), primary_key=True),
    Column("released", DateTime, nullable=False),
)

sign_outs = Table(  # sign-ins that ended before their cookies
    "sign_outs",
    metadata,
    Column("sign_in", String(_SHA256), primary_key=True),  # hash of the sign-in
    Column("ended", DateTime, nullable=False),
)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def is_restorable(column: ColumnElement[datetime]) -> ColumnElement[bool]:
    """Return the condition that a deletion is recent enough to restore."""
    return column >= now() - RETENTION
