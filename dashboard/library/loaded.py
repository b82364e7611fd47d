"""Boards held in memory, shared by all sessions of the server."""

from collections import OrderedDict
from threading import Lock

from dashboard.library.boards import HASH, Board
from metrics.errors import UsageError

MOST_BYTES = 2**30
"""Bytes held at most; the boards unused longest go first."""


class LoadedBoards:
    """Boards by what tells their content from any other."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._boards: OrderedDict[str, Board] = OrderedDict()
        self._linked: set[str] = set()
        self._most = most_bytes
        self._lock = Lock()

    def add(self, board: Board, *, has_link: bool = True) -> Board:
        """Hold a board; one of the same key is the same files.

        Args:
            board: to hold.
            has_link: whether its key opens it; what the library keeps is opened by its id, by whoever may.

        Raises:
            UsageError: it alone is larger than the memory set aside.
        """
        if board.size > self._most:
            raise UsageError(f"These files hold {board.size:,} bytes; the app holds {self._most:,} at most.")
        with self._lock:
            self._boards[board.key] = board
            self._boards.move_to_end(board.key)
            (self._linked.add if has_link else self._linked.discard)(board.key)
            while sum(kept.size for kept in self._boards.values()) > self._most:
                self._boards.popitem(last=False)
        return board

    def swap(self, old: Board, new: Board) -> None:
        """Hold a board that the library keeps in place of another."""
        with self._lock:
            self._boards.pop(old.key, None)
        self.add(new, has_link=False)

    def drop(self, key: str) -> None:
        """Hold a board no longer, unless its key opens it: nothing else would bring it back."""
        with self._lock:
            if key not in self._linked:
                self._boards.pop(key, None)

    def get(self, start: str, *, by_link: bool = False) -> Board | None:
        """Return the board whose key begins so, None for none; with `by_link`, of those that a key opens."""
        with self._lock:
            keys = [key for key in self._boards if not by_link or key in self._linked]
            key = next((key for key in keys if len(start) >= HASH and key.startswith(start)), None)
            if key is None:
                return None
            self._boards.move_to_end(key)
            return self._boards[key]
