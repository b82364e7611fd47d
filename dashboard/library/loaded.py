"""Boards in memory: stored boards for everybody who may open them, unsaved boards for one visitor."""

import json
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from secrets import token_hex
from threading import Lock

from dashboard.library.boards import Board, default_name
from dashboard.library.records import SEPARATOR
from metrics.errors import LibraryError, UsageError
from metrics.runs import File

Published = tuple[str, bytes]
"""Published results: label in links, and the packed files."""
MOST_BYTES = 2**30
"""Maximum bytes in memory; the least recently used boards are dropped."""
MOST_PUBLISHED = 20
"""Maximum published results in memory."""
_DIGEST_BYTES = 8
_MOST_PUBLISHED_BYTES = 10**8
"""Maximum bytes of a board's published results."""


class LoadedBoards:
    """Stored boards by content key, and visitors' unsaved boards by random ID."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._boards: OrderedDict[str, Board] = OrderedDict()
        self._visitors: dict[str, str] = {}
        self._published: dict[tuple[str, str], Published] = {}
        self._most = most_bytes
        self._lock = Lock()

    def hold(self, board: Board) -> Board:
        """Keep a stored board, or the command line's board."""
        with self._lock:
            self._put(board.key, board)
        return board

    def get(self, key: str) -> Board | None:
        """Return a board that `hold` keeps."""
        with self._lock:
            return None if key in self._visitors else self._take(key)

    def add(self, board: Board, visitor: str = "", board_id: str = "") -> Board:
        """Keep an unsaved board for one visitor; its label contains its ID.

        It replaces their board of this ID, or their board of equal content, or gets a new ID.
        """
        with self._lock:
            own = [key for key, owner in self._visitors.items() if owner == visitor]
            if board_id not in own:
                equal_ids = (key for key in own if self._boards[key].key == board.key)
                board_id = next(equal_ids, token_hex(16))
            board = replace(board, label=f"{board.spec.title or default_name(board)}{SEPARATOR}{board_id}")
            self._put(board_id, board)
            self._visitors[board_id] = visitor
        return board

    def find(self, board_id: str, visitor: str) -> Board | None:
        """Return a visitor's unsaved board."""
        with self._lock:
            return self._take(board_id) if self._visitors.get(board_id) == visitor else None

    def publish(self, board_id: str, visitor: str, published: Published) -> None:
        """Keep the published results of a visitor's board; the oldest of all are dropped."""
        with self._lock:
            self._published.pop((board_id, visitor), None)
            self._published[board_id, visitor] = published
            while len(self._published) > MOST_PUBLISHED:
                del self._published[next(iter(self._published))]

    def published(self, board_id: str, visitor: str) -> Published | None:
        """Return the published results of a visitor's board."""
        return self._published.get((board_id, visitor))

    def remove(self, board_id: str, visitor: str) -> None:
        """Forget a visitor's board."""
        with self._lock:
            self._published.pop((board_id, visitor), None)
            if self._visitors.get(board_id) == visitor:
                del self._visitors[board_id], self._boards[board_id]

    def remove_of(self, visitor: str) -> None:
        """Forget all boards of a visitor."""
        for board_id in [board_id for board_id, owner in list(self._visitors.items()) if owner == visitor]:
            self.remove(board_id, visitor)
        for board_id, owner in list(self._published):
            if owner == visitor:
                self._published.pop((board_id, owner), None)

    def demand_room(self, board: Board) -> None:
        """Raise a UsageError if a board exceeds the memory limit."""
        if board.size > self._most:
            raise UsageError(f"These files need {board.size:,} bytes of memory; the limit is {self._most:,}.")

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


def packed_files(files: Sequence[File]) -> bytes:
    """Return names and contents of small files as one value; LibraryError if they are too large."""
    contents, n_left = [], _MOST_PUBLISHED_BYTES
    for file in files:
        parts = []
        for block in file.blocks():
            n_left -= len(block)
            if n_left < 0:
                limit = f"{_MOST_PUBLISHED_BYTES / 10**6:,.0f} MB"
                raise LibraryError(f"The published results are larger than {limit}. Upload only the means.")
            parts.append(block)
        contents.append((file.name.encode("utf-8", "replace").decode(), b"".join(parts).decode("latin-1")))
    return zlib.compress(json.dumps(contents).encode())


def unpacked_files(packed: bytes) -> tuple[File, ...]:
    """Return the files in the result of `packed_files`."""
    return tuple(File(name, text.encode("latin-1")) for name, text in json.loads(zlib.decompress(packed)))


def table_label(files: Sequence[File]) -> str:
    """Return the label of published results in links: first file name, and a hash of all names and contents."""
    content = json.dumps([(file.name, file.sha256) for file in files])
    digest = blake2b(content.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{files[0].name[:40]}~{digest}"
