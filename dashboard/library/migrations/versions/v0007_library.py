"""All tables of the library. A later revision adds to them, and then writes these out here."""

from alembic import op

from dashboard.library.schema import metadata

revision, down_revision = "0007", None


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind())
