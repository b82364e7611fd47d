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
        self._most = most_bytes
        self._lock = Lock()

    def add(self, board: Board) -> Board:
        """Hold a board; one of the same key is the same files.

        Raises:
            UsageError: it alone is larger than the memory set aside.
        """
        if board.size > self._most:
            raise UsageError(f"These files hold {board.size:,} bytes; the app holds {self._most:,} at most.")
        with self._lock:
            self._boards[board.key] = board
            self._boards.move_to_end(board.key)
            while sum(kept.size for kept in self._boards.values()) > self._most:
                self._boards.popitem(last=False)
        return board

    def swap(self, old: Board, new: Board) -> None:
        """Hold a board in place of another."""
        with self._lock:
            self._boards.pop(old.key, None)
        self.add(new)

    def get(self, start: str) -> Board | None:
        """The board whose key begins so, None where it is not held (any more)."""
        with self._lock:
            key = next((key for key in self._boards if len(start) >= HASH and key.startswith(start)), None)
            if key is None:
                return None
            self._boards.move_to_end(key)
            return self._boards[key]
