"""Uploads as their original bytes, earlier uploads as Parquet; sizes of boards."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0005", "0004"


def upgrade() -> None:
    """Upgrade from 0004, where every upload is a Parquet."""
    op.add_column("uploads", sa.Column("ending", sa.String(8), nullable=False, server_default=".parquet"))
    for column in ("runs", "queries"):
        op.add_column("boards", sa.Column(column, sa.Integer))
