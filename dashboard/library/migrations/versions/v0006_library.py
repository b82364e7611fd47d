"""All tables of the library, and its ID. A later revision adds to them, and then writes these out here."""

import secrets

from alembic import op

from dashboard.library.schema import library, metadata

revision, down_revision = "0006", None


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind())
    op.bulk_insert(library, [{"id": secrets.token_hex(16)}])
