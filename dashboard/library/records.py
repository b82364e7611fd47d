"""What the library tells of uploads and boards."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dashboard.library.boards import BoardSpec
    from dashboard.library.uploads import Profile, Reading

Access = Literal["private", "link", "edit"]
"""Who else may open a board: nobody, who has its link, or these may also change it."""
SEPARATOR = " · "
"""Between the name of a board and what identifies it."""
STRANGER = "visitor:"
"""How the owner begins that stands for one session of somebody who did not sign in."""


@dataclass(frozen=True)
class Upload:
    """A file in somebody's library.

    Attributes:
        sha256: of the bytes as they were uploaded.
        name: of the file.
        kind: `run` or `qrels`.
        rows: how many it has.
        size: its bytes as they were uploaded.
        kept_size: its bytes as they are kept.
        reading: what it was read as.
        profile: its shape.
        note: what its owner says of it.
        pinned: whether it stays when room is needed.
        added: when it came, in UTC.
        boards: the owner's boards it is used on: number and name.
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
        id: its number.
        owner: whose it is; "" where nobody signs in.
        access: who else may open it.
        name: what it is called.
        named: whether a person called it so; else it is told by its size.
        version: goes up by one with every change.
        created: when it was made, in UTC.
        changed: when it was changed last, in UTC.
        runs: how many rerankers it has; None of a board that an earlier version wrote.
        queries: how many queries.
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
        """Name and number: what the sidebar shows and a link carries."""
        return f"{self.name}{SEPARATOR}{self.id}"

    def may_see(self, owner: str) -> bool:
        """Return whether somebody who has the link may open it."""
        return owner == self.owner or self.access != "private"

    def may_change(self, owner: str) -> bool:
        """Return whether somebody who has the link may change what is on it."""
        return owner == self.owner or self.access == "edit"


@dataclass(frozen=True)
class Record(BoardListing):
    """A board, whole.

    Attributes:
        spec: what it is made from.
        view: baseline, policies and settings it is opened with: key of a control → value.
    """

    spec: "BoardSpec"
    view: Mapping[str, Any]


def id_of(label: str) -> str:
    """Return what identifies the board of a label, whatever it is called now."""
    return label.rpartition(SEPARATOR)[2]
