"""Uploads and boards of a single user."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0001", None


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "uploads",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(1000), nullable=False),
        sa.Column("note", sa.String(1000), nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("kind", sa.String(5), nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("kept_size", sa.BigInteger, nullable=False),
        sa.Column("kept_sha256", sa.String(64), nullable=False),
        sa.Column("reading", sa.JSON, nullable=False),
        sa.Column("profile", sa.JSON, nullable=False),
        sa.Column("added", sa.DateTime, nullable=False),
    )
    op.create_table(
        "boards",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("name", sa.String(1000), nullable=False),
        sa.Column("named", sa.Boolean, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("repeated", sa.String(5), nullable=False),
        sa.Column("names", sa.JSON),
        sa.Column("view", sa.JSON, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
        sa.Column("deleted", sa.DateTime),
    )
    op.create_table(
        "board_files",
        sa.Column("board_id", sa.String(12), sa.ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("sha256", sa.String(64), sa.ForeignKey("uploads.sha256"), nullable=False),
        sa.Column("name", sa.String(1000), nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        sa.Column("reading", sa.JSON, nullable=False),
    )
    op.create_index("files_of_upload", "board_files", ["sha256"])
