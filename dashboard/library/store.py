"""The library: uploads and boards that stay, for one person or several."""

import os

from dashboard.library.place import byte_limit, home
from dashboard.library.storage.base import USUAL
from dashboard.library.storage.board_methods import BoardMethods
from dashboard.library.storage.intake import MAX_LIBRARY, MAX_UPLOAD
from dashboard.library.storage.upload_methods import UploadMethods

URL = "TIESCOPE_DATABASE_URL"
"""Environment variable: another database."""


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
