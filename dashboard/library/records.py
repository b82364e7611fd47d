"""Metadata of uploads and boards."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dashboard.library.boards import BoardSpec
    from dashboard.library.uploads import Profile, Reading

Access = Literal["private", "link", "edit"]
"""Access of other people: none, with the link, or with the link and permission to edit."""
SEPARATOR = " · "
"""Separator between a board's name and its ID."""
STRANGER = "visitor:"
"""Prefix of owners that stand for one session without sign-in."""


@dataclass(frozen=True)
class Upload:
    """A file in somebody's library.

    Attributes:
        sha256: hash of the uploaded bytes.
        name: file name.
        kind: `run` or `qrels`.
        rows: number of rows.
        size: uploaded bytes.
        kept_size: stored bytes.
        reading: how the file was read.
        profile: its shape.
        note: the owner's note.
        pinned: True if it is never evicted.
        added: time of upload in UTC.
        boards: ID and name of the owner's boards that use it.
    """

    sha256: str
    name: str
    kind: Literal["run", "qrels"]
    rows: int
    size: int
    kept_size: int
    reading: "Reading"
    profile: "Profile"
    note: str
    pinned: bool
    added: datetime
    boards: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BoardListing:
    """A board in a list.

    Attributes:
        id: its ID.
        owner: address of its owner, empty without sign-in.
        access: access of other people.
        name: its name.
        named: True if a person chose the name.
        version: increases with every change.
        created: time of creation in UTC.
        changed: time of the last change in UTC.
        runs: number of rerankers, None if an earlier version wrote the board.
        queries: number of queries, likewise.
    """

    id: str
    owner: str
    access: Access
    name: str
    named: bool
    version: int
    created: datetime
    changed: datetime
    runs: int | None
    queries: int | None

    @property
    def label(self) -> str:
        """Name and ID, as in the sidebar and in links."""
        return f"{self.name}{SEPARATOR}{self.id}"

    def may_see(self, owner: str) -> bool:
        """Return whether this visitor may open the board if they have its link."""
        return owner == self.owner or self.access != "private"

    def may_change(self, owner: str) -> bool:
        """Return whether this visitor may edit the board if they have its link."""
        return owner == self.owner or self.access == "edit"


@dataclass(frozen=True)
class Record(BoardListing):
    """A complete board.

    Attributes:
        spec: its files and how they are read.
        view: its settings: key of a control → value.
    """

    spec: "BoardSpec"
    view: Mapping[str, Any]


def id_of(label: str) -> str:
    """Return the ID in a board's label."""
    return label.rpartition(SEPARATOR)[2]
