"""Where rows came from: the file, and the line in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, TieScopeError
from metrics.support.arrays import IntArray


def _no_ranks() -> None:
    """Return None: the file states no ranks."""


@dataclass(eq=False)
class FileProvenance:
    """The file that rows came from: the one thing known of it that changes is where a copy of it lies.

    Attributes:
        file: its name.
        line_of: row, the first 0 → its line, the first 1.
        unit: what is counted: a line, a row, an entry.
        ranks: reads the ranks the file states beside its scores, if it does.
    """

    file: str
    line_of: Callable[[int], int]
    unit: str = "line"
    ranks: Callable[[], pa.Array | None] = _no_ranks

    def move(self, copy: "FileProvenance") -> None:
        """Have lines and ranks read from a copy of the file, where it counts the same: the file can go."""
        if copy.unit == self.unit:
            self.line_of, self.ranks = copy.line_of, copy.ranks

    def refuse(
        self, is_bad: pa.Array, column: pa.Array, problem_of: Callable[[object], str], hint: str
    ) -> None:
        """Raise a ReadError at the first bad row, if there is one.

        Args:
            is_bad: (n_rows,) whether each row is bad.
            column: (n_rows,) what was read.
            problem_of: says what is wrong with a value of `column`.
            hint: what to do about it.
        """
        row = pc.index(is_bad, value=True).as_py()
        if row >= 0:
            raise self.error(row, problem_of(column[row].as_py()), hint)

    def error(self, row: int, problem: str, hint: str) -> ReadError:
        """Return the error of a row."""
        return ReadError(self.file, problem, hint, line=self.line_of(row), unit=self.unit)


@dataclass(frozen=True)
class RowProvenance:
    """Where the rows of one reranker, or of the judgments, came from.

    Attributes:
        origin: the file.
        rows: (n_rows,) row of the file that each was; None where it is the same.
    """

    origin: FileProvenance
    rows: IntArray | range | None = None

    @classmethod
    def memory(cls, name: str) -> "RowProvenance":
        """Return the provenance of rows that came from no file."""
        return cls(FileProvenance(name, lambda row: row + 1, "row"))

    @classmethod
    def concat(cls, parts: Sequence["RowProvenance"], lengths: Sequence[int]) -> "RowProvenance":
        """Return the provenance of the rows of several files, one after the other; of one as it is."""
        if len(parts) == 1:
            return parts[0]
        ends = np.cumsum(lengths)

        def line_of(row: int) -> int:
            part = int(np.searchsorted(ends, row, side="right"))
            return parts[part].line_of(row - int(ends[part]) + lengths[part])

        return cls(FileProvenance(", ".join(part.file for part in parts), line_of))

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.origin.file

    @property
    def unit(self) -> str:
        """What is counted: a line, a row, an entry."""
        return self.origin.unit

    def line_of(self, row: int) -> int:
        """Return the line of a row."""
        return self.origin.line_of(row if self.rows is None else int(self.rows[row]))

    def ranks(self) -> pa.Array | None:
        """Return the (n_rows,) ranks the file states beside its scores, if it does and still can be read."""
        try:
            ranks = self.origin.ranks()
        except TieScopeError:
            return None
        return ranks if ranks is None or self.rows is None else ranks.take(pa.array(np.asarray(self.rows)))

    def slice(self, start: int, end: int) -> "RowProvenance":
        """Return where the rows from `start` to before `end` came from."""
        return RowProvenance(self.origin, range(start, end) if self.rows is None else self.rows[start:end])

    def take(self, rows: IntArray) -> "RowProvenance":
        """Return where some of the rows came from."""
        return RowProvenance(self.origin, rows if self.rows is None else np.asarray(self.rows)[rows])
