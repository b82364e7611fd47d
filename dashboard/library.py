"""Runs kept while the server lives, found again by the hash of their files. No streamlit inside."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from metrics.errors import ReadError, UsageError
from metrics.runs import File, Runs, Source, as_judgments, as_run, read

MOST_BYTES = 2**30
"""Bytes kept at most; the boards unused longest go first."""
_PER_ROW = 32


@dataclass(frozen=True, eq=False)
class Board:
    """Runs and judgments that belong together.

    Attributes:
        label: name and short hash: what the sidebar shows and a link carries.
        files: as given.
        sources: what each file held.
        runs: all of them joined.
        n_queries: queries of the judgments, else of the runs.
    """

    label: str
    files: tuple[File, ...]
    sources: tuple[Source, ...]
    runs: Runs
    n_queries: int

    @property
    def size(self) -> int:
        """Bytes it holds, about: its files, its tables, and what is kept to look up their rows."""
        tables = sum(source.table.nbytes + _PER_ROW * len(source.table) for source in self.sources)
        return int(tables) + sum(file.size for file in self.files)


def make_board(files: Sequence[File], sources: Sequence[Source], name: str | None = None) -> Board:
    """Join files that were read.

    Raises:
        TieScopeError: they do not go together.
    """
    for source in sources:
        if not len(source.table):
            raise ReadError(
                source.file, "there is a header and no row", "Export it again and check its size.", line=1
            )
    runs = Runs.from_sources(sources)
    asked = runs.queries.values() if runs.qrels is None else [runs.judged_pairs.queries]
    n_queries = max(map(len, asked))
    count = len(runs.tables)
    label = name or f"{count} run{'s' * (count != 1)}, {queries_text(n_queries)} · {digest_of(files)[:8]}"
    return Board(label, tuple(files), tuple(sources), runs, n_queries)


def queries_text(count: int) -> str:
    """So many queries, in words."""
    return "1 query" if count == 1 else f"{count:,} queries"


def digest_of(files: Sequence[File]) -> str:
    """Hash of names and contents, in whatever order."""
    return sha256("\n".join(sorted(f"{file.name} {file.sha256}" for file in files)).encode()).hexdigest()


def open_files(paths: Sequence[str], qrels: str | None, name: str | None = None) -> Board:
    """A board of files on disk.

    Raises:
        TieScopeError: one cannot be read, or they do not go together.
    """
    files = [File.open(path) for path in paths]
    sources = [as_run(read(file)) for file in files]
    if qrels:
        files.append(File.open(qrels))
        sources.append(as_judgments(read(files[-1])))
    return make_board(files, sources, name)


class Library:
    """Boards by label, shared by all sessions of the server."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._boards: OrderedDict[str, Board] = OrderedDict()
        self._most = most_bytes
        self._lock = Lock()

    def add(self, board: Board) -> Board:
        """Keep a board; one of the same label is the same files.

        Raises:
            UsageError: it alone is larger than the library.
        """
        if board.size > self._most:
            raise UsageError(f"These files hold {board.size:,} bytes; the app keeps {self._most:,} at most.")
        with self._lock:
            self._boards[board.label] = board
            self._boards.move_to_end(board.label)
            while sum(kept.size for kept in self._boards.values()) > self._most:
                self._boards.popitem(last=False)
        return board

    def get(self, label: str) -> Board | None:
        """The board of that label, None where it is not kept (any more)."""
        with self._lock:
            if label in self._boards:
                self._boards.move_to_end(label)
            return self._boards.get(label)
