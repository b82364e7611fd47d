"""Boards held in memory: those of the library for whoever may open them, the others each for one visitor."""

from collections import OrderedDict
from dataclasses import replace
from secrets import token_hex
from threading import Lock

from dashboard.library.boards import Board, default_name
from dashboard.library.storage.records import SEPARATOR
from metrics.errors import UsageError

MOST_BYTES = 2**30
"""Bytes held at most; the boards unused longest go first."""


class LoadedBoards:
    """Boards of the library by what tells their content from any other, those of one visitor by a random id."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._boards: OrderedDict[str, Board] = OrderedDict()
        self._visitors: dict[str, str] = {}
        self._most = most_bytes
        self._lock = Lock()

    def hold(self, board: Board) -> Board:
        """Hold a board that the library keeps, or the command opened; one of the same key is the same files.

        Raises:
            UsageError: it alone is larger than the memory set aside.
        """
        with self._lock:
            self._put(board.key, board)
        return board

    def get(self, key: str) -> Board | None:
        """Return a board that is held so."""
        with self._lock:
            return None if key in self._visitors else self._take(key)

    def drop(self, key: str) -> None:
        """Hold such a board no longer."""
        with self._lock:
            if key not in self._visitors:
                self._boards.pop(key, None)

    def add(self, board: Board, visitor: str = "", board_id: str = "") -> Board:
        """Hold a board that is nowhere else.

        Args:
            board: to hold.
            visitor: whom alone it opens for.
            board_id: of a board of this visitor, whose place it takes; of any other or none, it is the one of
                the same content, else it gets a new id.

        Returns:
            The board, its id in its label.

        Raises:
            UsageError: it alone is larger than the memory set aside.
        """
        with self._lock:
            own = [key for key, owner in self._visitors.items() if owner == visitor]
            if board_id not in own:
                same = (key for key in own if self._boards[key].key == board.key)
                board_id = next(same, token_hex(16))
            board = replace(board, label=f"{board.spec.title or default_name(board)}{SEPARATOR}{board_id}")
            self._put(board_id, board)
            self._visitors[board_id] = visitor
        return board

    def find(self, board_id: str, visitor: str) -> Board | None:
        """Return a board of this visitor."""
        with self._lock:
            return self._take(board_id) if self._visitors.get(board_id) == visitor else None

    def remove(self, board_id: str, visitor: str) -> None:
        """Forget a board of this visitor: nobody opens it any more."""
        with self._lock:
            if self._visitors.get(board_id) == visitor:
                del self._visitors[board_id], self._boards[board_id]

    def remove_of(self, visitor: str) -> None:
        """Forget all boards of a visitor."""
        for board_id in [board_id for board_id, owner in list(self._visitors.items()) if owner == visitor]:
            self.remove(board_id, visitor)

    def demand_room(self, board: Board) -> None:
        """Raise a UsageError where a board alone is larger than the memory set aside."""
        if board.size > self._most:
            raise UsageError(f"These files hold {board.size:,} bytes; the app holds {self._most:,} at most.")

    def _put(self, key: str, board: Board) -> None:
        self.demand_room(board)
        self._boards[key] = board
        self._boards.move_to_end(key)
        while sum(kept.size for kept in self._boards.values()) > self._most:
            oldest, _ = self._boards.popitem(last=False)
            self._visitors.pop(oldest, None)

    def _take(self, key: str) -> Board | None:
        if key in self._boards:
            self._boards.move_to_end(key)
        return self._boards.get(key)
