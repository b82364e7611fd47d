"""The library's tables in their current version."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

REVISION = "0007"
"""The revision of this schema; see `migrations/versions`."""

RETENTION = timedelta(days=30)
"""How long a board that nobody named is kept after it was last opened."""
UNDO = timedelta(days=1)
"""How long a deletion can be undone."""

metadata = MetaData()
_SHA256, _BOARD, _OWNER, _NAME = 64, 12, 320, 1000

uploads = Table(  # the bytes of uploads, in rows of 4 MB, each a zstd frame
    "uploads",
    metadata,
    Column("sha256", String(_SHA256), primary_key=True),  # of the uploaded bytes
    Column("position", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

boards = Table(
    "boards",
    metadata,
    Column("id", String(_BOARD), primary_key=True),
    Column("owner", String(_OWNER), nullable=False),
    Column("access", String(7), nullable=False),  # private or link
    Column("name", String(_NAME), nullable=False),
    Column("named", Boolean, nullable=False),  # chosen by a person
    Column("digest", String(_SHA256), nullable=False),  # of its spec
    Column("repeated", String(5), nullable=False),
    Column("names", JSON),  # shown rerankers: name in the files, shown name
    Column("runs", Integer, nullable=False),  # numbers
    Column("queries", Integer, nullable=False),
    Column("view", JSON, nullable=False),  # settings: key of a control → value
    Column("version", Integer, nullable=False),  # increases with every change
    Column("created", DateTime, nullable=False),  # UTC, here and below
    Column("changed", DateTime, nullable=False),
    Column("opened", DateTime, nullable=False),  # to the day
    Column("deleted", DateTime),
    Index("boards_of_owner", "owner", "changed"),
)

board_files = Table(
    "board_files",
    metadata,
    Column("board_id", ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("sha256", String(_SHA256), nullable=False),
    Column("name", String(_NAME), nullable=False),
    Column("columns", JSON, nullable=False),  # chosen columns
    Column("kind", String(5), nullable=False),  # run or qrels
    Column("rows", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),  # uploaded bytes
    Column("added", DateTime, nullable=False),  # to a board of this owner
    Index("files_of_upload", "sha256"),
)

published_tables = Table(  # published results of a board
    "published_tables",
    metadata,
    Column("board_id", ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    Column("label", String(_NAME), nullable=False),  # label in links
    Column("packed", LargeBinary, nullable=False),  # names and contents
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
