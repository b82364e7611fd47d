"""Where the library keeps its things: a folder of uploads, a database, and room for no more than its bounds."""

from pathlib import Path

from dashboard.library.storage import quota
from dashboard.library.storage.database import WAIT, Database, url_of
from dashboard.library.storage.intake import MAX_LIBRARY, MAX_UPLOAD, Intake
from dashboard.library.storage.parquets import Parquets

USUAL = {MAX_UPLOAD: 2_200, MAX_LIBRARY: 20_000}
"""What they are where they are not set."""


class LibraryBase:
    """A folder of uploads and a database.

    Args:
        home: folder of the uploads, and of the database if it is SQLite.
        url: address of another database.
        most_upload: bytes of one upload, as given.
        most: bytes of all uploads, as kept.
        wait: seconds to wait for another's write to end.
    """

    def __init__(
        self,
        home: Path,
        url: str | None = None,
        *,
        most_upload: int = USUAL[MAX_UPLOAD] * 10**6,
        most: int = USUAL[MAX_LIBRARY] * 10**6,
        wait: float = WAIT,
    ) -> None:
        self._parquets = Parquets(home / "uploads")
        self._database = Database(url_of(url, home), wait, home)
        self._intake = Intake(self._database, self._parquets, most_upload, most)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def is_evicting(self, owner: str = "") -> bool:
        """Return whether the oldest uploads go when the library is full."""
        with self._database.reading() as connection:
            return quota.is_evicting(connection, owner)

    def set_eviction(self, owner: str = "", *, evict: bool) -> None:
        """Say whether the oldest uploads go when the library is full."""
        with self._database.writing() as connection:
            quota.set_eviction(connection, owner, evict=evict)

    def room(self) -> tuple[int, int]:
        """Return the bytes taken, and the most there may be."""
        with self._database.reading() as connection:
            return quota.used_bytes(connection), self._intake.most

    def sweep(self) -> None:
        """Forget what was deleted 30 days ago or left by strangers, and remove files that no upload needs."""
        self._intake.sweep()
