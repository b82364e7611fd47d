"""Published results of boards."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0004", "0003"


def upgrade() -> None:
    """Upgrade from 0003."""
    op.create_table(
        "published_tables",
        sa.Column("board_id", sa.String(12), sa.ForeignKey("boards.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("label", sa.String(1000), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
