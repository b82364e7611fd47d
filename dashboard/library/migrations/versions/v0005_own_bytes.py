"""Uploads as their own bytes, those of before as the Parquet they are; boards say how large they are."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0005", "0004"


def upgrade() -> None:
    """Lead from version 0004, by which every upload is a Parquet."""
    op.add_column("uploads", sa.Column("ending", sa.String(8), nullable=False, server_default=".parquet"))
    for column in ("runs", "queries"):
        op.add_column("boards", sa.Column(column, sa.Integer))
