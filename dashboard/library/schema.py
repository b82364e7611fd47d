"""The library's tables in their current version."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

REVISION = "0007"
"""The revision of this schema; see `migrations/versions`."""

RETENTION = timedelta(days=30)
"""How long a board that nobody named is kept after it was last opened."""
UNDO = timedelta(days=1)
"""How long a deletion can be undone."""

metadata = sa.MetaData()
_SHA256, _BOARD, _OWNER, _NAME = 64, 12, 320, 1000

uploads = sa.Table(  # the bytes of uploads, in rows of 4 MB, each a zstd frame
    "uploads",
    metadata,
    sa.Column("sha256", sa.String(_SHA256), primary_key=True),  # of the uploaded bytes
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

boards = sa.Table(
    "boards",
    metadata,
    sa.Column("id", sa.String(_BOARD), primary_key=True),
    sa.Column("owner", sa.String(_OWNER), nullable=False),
    sa.Column("access", sa.String(7), nullable=False),  # private or link
    sa.Column("name", sa.String(_NAME), nullable=False),
    sa.Column("named", sa.Boolean, nullable=False),  # chosen by a person
    sa.Column("digest", sa.String(_SHA256), nullable=False),  # of its spec
    sa.Column("repeated", sa.String(5), nullable=False),
    sa.Column("names", sa.JSON),  # shown rerankers: name in the files, shown name
    sa.Column("runs", sa.Integer, nullable=False),  # numbers
    sa.Column("queries", sa.Integer, nullable=False),
    sa.Column("view", sa.JSON, nullable=False),  # settings: key of a control → value
    sa.Column("version", sa.Integer, nullable=False),  # increases with every change
    sa.Column("created", sa.DateTime, nullable=False),  # UTC, here and below
    sa.Column("changed", sa.DateTime, nullable=False),
    sa.Column("opened", sa.DateTime, nullable=False),  # to the day
    sa.Column("deleted", sa.DateTime),
    sa.Index("boards_of_owner", "owner", "changed"),
)

board_files = sa.Table(
    "board_files",
    metadata,
    sa.Column("board_id", sa.ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("sha256", sa.String(_SHA256), nullable=False),
    sa.Column("name", sa.String(_NAME), nullable=False),
    sa.Column("columns", sa.JSON, nullable=False),  # chosen columns
    sa.Column("kind", sa.String(5), nullable=False),  # run or qrels
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),  # uploaded bytes
    sa.Column("added", sa.DateTime, nullable=False),  # to a board of this owner
    sa.Index("files_of_upload", "sha256"),
)

published_tables = sa.Table(  # published results of a board
    "published_tables",
    metadata,
    sa.Column("board_id", sa.ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("label", sa.String(_NAME), nullable=False),  # label in links
    sa.Column("packed", sa.LargeBinary, nullable=False),  # names and contents
)

sign_outs = sa.Table(  # sign-ins that ended before their cookies
    "sign_outs",
    metadata,
    sa.Column("sign_in", sa.String(_SHA256), primary_key=True),  # hash of the sign-in
    sa.Column("ended", sa.DateTime, nullable=False),
)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
