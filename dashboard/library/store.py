"""The library: uploads and boards that stay, for one person or several."""

import os
from datetime import timedelta

import sqlalchemy as sa

from dashboard.library.place import byte_limit, home
from dashboard.library.storage.base import USUAL
from dashboard.library.storage.board_methods import BoardMethods
from dashboard.library.storage.intake import MAX_LIBRARY, MAX_UPLOAD
from dashboard.library.storage.schema import now, sign_outs
from dashboard.library.storage.upload_methods import UploadMethods

URL = "TIESCOPE_DATABASE_URL"
"""Environment variable: another database."""
_LONGEST = timedelta(days=32)
"""No cookie is accepted longer, Streamlit's day of grace included: an older sign-out says nothing any more."""


class Library(BoardMethods, UploadMethods):
    """Uploads and boards in a folder and a database.

    Every method raises a LibraryError where the database or the disk is in the way, or where what is asked
    for is not there for this visitor; nothing is changed then. An owner is an address, or "" where nobody
    signs in.
    """

    @classmethod
    def open(cls) -> "Library":
        """Return the library the environment names."""
        return cls(
            home(),
            os.environ.get(URL),
            most_upload=byte_limit(MAX_UPLOAD, USUAL[MAX_UPLOAD]),
            most=byte_limit(MAX_LIBRARY, USUAL[MAX_LIBRARY]),
        )

    def end_sign_in(self, sign_in: str) -> None:
        """Note for every process of this library that a sign-in, told from others by a hash, has ended."""
        is_old = (sign_outs.c.sign_in == sign_in) | (sign_outs.c.ended < now() - _LONGEST)
        with self._database.writing() as connection:
            connection.execute(sign_outs.delete().where(is_old))
            connection.execute(sign_outs.insert().values(sign_in=sign_in, ended=now()))

    def has_ended(self, sign_in: str) -> bool:
        """Return whether a sign-in has ended."""
        with self._database.reading() as connection:
            return connection.scalar(sa.select(sign_outs).where(sign_outs.c.sign_in == sign_in)) is not None
