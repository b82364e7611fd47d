"""The tables of the library, as the newest migration leaves them."""

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

VERSIONS = ("0001", "0002", "0003", "0004", "0005")
"""Every version of the schema there was, the newest last; `migrations/versions` leads from one to the next."""

RETENTION = timedelta(days=30)
"""How long what was deleted can be brought back."""

metadata = MetaData()
_SHA256, _BOARD, _OWNER, _NAME = 64, 12, 320, 1000

uploads = Table(
    "uploads",
    metadata,
    Column("sha256", String(_SHA256), primary_key=True),  # of the bytes as they were uploaded
    Column("kind", String(5), nullable=False),  # run or qrels
    Column("rows", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),  # bytes as they were uploaded
    Column("kept_size", BigInteger, nullable=False),  # bytes as they are kept
    Column("kept_sha256", String(_SHA256), nullable=False),  # of the Parquet of versions 0.1 and 0.2, else ""
    Column("ending", String(8), nullable=False),  # of the file in the folder: how it is kept
    Column("reading", JSON, nullable=False),  # what it was read as first: format, mapping, columns chosen
    Column("profile", JSON, nullable=False),  # what a list of uploads shows: uploads.Profile
    Column("added", DateTime, nullable=False),  # UTC, here and below
)

shelves = Table(  # whose library an upload is in, and what its owner says of it
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
    Column("named", Boolean, nullable=False),  # by a person, not told by its size
    Column("digest", String(_SHA256), nullable=False),  # of its spec
    Column("repeated", String(5), nullable=False),
    Column("names", JSON),  # rerankers kept, in order: name in the files and name shown
    Column("runs", Integer),  # how many rerankers, and queries; NULL until a newer version writes the board
    Column("queries", Integer),
    Column("view", JSON, nullable=False),  # baseline, policies and settings: key of a control → value
    Column("version", Integer, nullable=False),  # goes up by one with every change
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
    Column("columns", JSON, nullable=False),  # what the user chose
    Column(
        "reading", JSON, nullable=False
    ),  # what it was read as: format, mapping; of earlier uploads all of it
    Index("files_of_upload", "sha256"),
)

published_tables = Table(  # the results that a board is audited against
    "published_tables",
    metadata,
    Column("board_id", ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    Column("label", String(_NAME), nullable=False),  # what a link calls them
    Column("size", BigInteger, nullable=False),  # bytes as they are kept
    Column("packed", LargeBinary, nullable=False),  # names and contents of the files
)

owners = Table(
    "owners",
    metadata,
    Column("owner", String(_OWNER), primary_key=True),
    Column("evict", Boolean, nullable=False),  # whether the oldest goes when the library is full
)

library = Table(
    "library",
    metadata,
    Column("id", String(32), primary_key=True),  # one row; the folder of uploads holds the same id
)

released_files = Table(  # uploads that this library deleted, whose files the next sweep removes
    "released_files",
    metadata,
    Column("sha256", String(_SHA256), primary_key=True),
    Column("released", DateTime, nullable=False),
)

sign_outs = Table(  # sign-ins that ended before their cookie did
    "sign_outs",
    metadata,
    Column("sign_in", String(_SHA256), primary_key=True),  # sha256 of what identifies the sign-in
    Column("ended", DateTime, nullable=False),
)


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def is_restorable(column: ColumnElement[datetime]) -> ColumnElement[bool]:
    """Return whether something was deleted at this time, and can be brought back."""
    return column >= now() - RETENTION
