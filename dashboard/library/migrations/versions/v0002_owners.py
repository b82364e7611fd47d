"""Owners of boards and uploads, and access to boards."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    """Upgrade from 0001; existing items belong to the owner without a name."""
    op.create_table(
        "shelves",
        sa.Column("owner", sa.String(320), primary_key=True),
        sa.Column("sha256", sa.String(64), sa.ForeignKey("uploads.sha256"), primary_key=True),
        sa.Column("name", sa.String(1000), nullable=False),
        sa.Column("note", sa.String(1000), nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("added", sa.DateTime, nullable=False),
        sa.Column("deleted", sa.DateTime),
    )
    op.execute(
        "INSERT INTO shelves (owner, sha256, name, note, pinned, added) "
        "SELECT '', sha256, name, note, pinned, added FROM uploads"
    )
    for column in ("name", "note", "pinned"):
        op.drop_column("uploads", column)
    op.create_table(
        "owners",
        sa.Column("owner", sa.String(320), primary_key=True),
        sa.Column("evict", sa.Boolean, nullable=False),
    )
    op.add_column("boards", sa.Column("owner", sa.String(320), nullable=False, server_default=""))
    op.add_column("boards", sa.Column("access", sa.String(7), nullable=False, server_default="private"))
    op.create_index("boards_of_owner", "boards", ["owner", "changed"])
