"""Metadata of uploads and boards."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dashboard.library.boards import BoardSpec

Access = Literal["private", "link"]
"""Access of other people: none, or with the link."""
SEPARATOR = " · "
"""Separator between a board's name and its ID."""
STRANGER = "visitor:"
"""Prefix of owners that stand for one session without sign-in."""


@dataclass(frozen=True)
class Upload:
    """A file on somebody's boards."""

    sha256: str  # hash of the uploaded bytes
    name: str  # file name
    kind: Literal["run", "qrels"]  # `run` or `qrels`
    rows: int  # number of rows
    size: int  # uploaded bytes
    added: datetime  # time of upload in UTC
    boards: tuple[tuple[str, str], ...]  # ID and name of the owner's boards that use it


@dataclass(frozen=True)
class BoardListing:
    """A board in a list."""

    id: str  # its ID
    owner: str  # address of its owner, empty without sign-in
    access: Access  # access of other people
    name: str  # its name
    named: bool  # True if a person chose the name
    version: int  # increases with every change
    created: datetime  # time of creation in UTC
    changed: datetime  # time of the last change in UTC
    opened: datetime  # day of the last opening in UTC
    runs: int  # number of rerankers
    queries: int  # number of queries

    @property
    def label(self) -> str:
        """Name and ID, as in the sidebar and in links."""
        return f"{self.name}{SEPARATOR}{self.id}"

    def may_see(self, owner: str) -> bool:
        """Return whether this visitor may open the board if they have its link."""
        return owner == self.owner or self.access != "private"


@dataclass(frozen=True)
class Record(BoardListing):
    """A complete board."""

    spec: "BoardSpec"  # its files and how they are read
    view: Mapping[str, Any]  # its settings: key of a control → value


def id_of(label: str) -> str:
    """Return the ID in a board's label."""
    return label.rpartition(SEPARATOR)[2]
