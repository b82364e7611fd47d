"""The library's ID, released files, and ended sign-ins."""

import secrets

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0003", "0002"


def upgrade() -> None:
    """Upgrade from 0002; the library gets an ID."""
    library = op.create_table("library", sa.Column("id", sa.String(32), primary_key=True))
    op.bulk_insert(library, [{"id": secrets.token_hex(16)}])
    op.create_table(
        "released_files",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("released", sa.DateTime, nullable=False),
    )
    op.create_table(
        "sign_outs",
        sa.Column("sign_in", sa.String(64), primary_key=True),
        sa.Column("ended", sa.DateTime, nullable=False),
    )
