"""Columns that grow batch by batch: what a parser yields in pieces lies in one piece at the end.

Joining the pieces afterwards would hold both for a while, and leave holes where the pieces lay.
"""

from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.support.arrays import repeated

Value = TypeVar("Value", bound=np.generic)

_GROWTH = 1.5
"""How many times the room there was is made where there is too little."""


class ColumnBuilder(Protocol):
    """Builds a column from pieces that are added one after the other."""

    def add(self, piece: pa.Array) -> None:
        """Append the next rows, none of them null."""

    def finish(self) -> pa.Array:
        """Return all rows in one piece; nothing is added afterwards."""


class _Buffer(Generic[Value]):
    """An array that grows at its end; memory that nothing was written to costs nothing."""

    def __init__(self, dtype: type[Value], times: float) -> None:
        self._array: npt.NDArray[Value] = np.empty(0, dtype)
        self._times = times
        self.n = 0

    def append(self, values: npt.NDArray[Value]) -> None:
        end = self.n + len(values)
        if end > len(self._array):
            larger = np.empty(int(max(end, self.n * _GROWTH, end * self._times)), self._array.dtype)
            larger[: self.n] = self._array[: self.n]
            self._array, self._times = larger, 1
        self._array[self.n : end] = values
        self.n = end

    @property
    def values(self) -> npt.NDArray[Value]:
        return self._array[: self.n]


class NumberBuilder:
    """Builds a column of float64 numbers."""

    def __init__(self, times: float) -> None:
        """Make room for `times` the first piece, when it comes."""
        self._numbers = _Buffer(np.float64, times)

    def add(self, piece: pa.Array) -> None:
        """Append the next numbers."""
        self._numbers.append(piece.to_numpy())

    def finish(self) -> pa.Array:
        """Return all numbers."""
        return pa.Array.from_buffers(pa.float64(), self._numbers.n, [None, pa.py_buffer(self._numbers.values)])


class TextBuilder:
    """Builds a column of texts that are mostly distinct."""

    def __init__(self, times: float) -> None:
        """Make room for `times` the first piece, when it comes."""
        self._letters, self._ends = _Buffer(np.uint8, times), _Buffer(np.int32, times)
        self._ends.append(np.zeros(1, np.int32))

    def add(self, piece: pa.Array) -> None:
        """Append the next texts."""
        _, offsets, letters = piece.buffers()
        ends = np.frombuffer(offsets, np.int32)[piece.offset : piece.offset + len(piece) + 1]
        self._ends.append(ends[1:] + np.int32(self._letters.n - ends[0]))
        self._letters.append(np.frombuffer(letters or b"", np.uint8)[ends[0] : ends[-1]])

    def finish(self) -> pa.Array:
        """Return all texts."""
        buffers = [None, pa.py_buffer(self._ends.values), pa.py_buffer(self._letters.values)]
        return pa.Array.from_buffers(pa.string(), self._ends.n - 1, buffers)


class CodedTextBuilder:
    """Builds a column of texts that are mostly the same as the one before, as a dictionary."""

    def __init__(self) -> None:
        self._distinct, self._lengths = TextBuilder(1), _Buffer(np.int64, 1)

    def add(self, piece: pa.Array) -> None:
        """Append the next texts."""
        runs = pc.run_end_encode(piece, run_end_type=pa.int32())
        self._distinct.add(runs.values)
        self._lengths.append(np.diff(runs.run_ends.to_numpy(), prepend=0))

    def finish(self) -> pa.Array:
        """Return all texts as places among the distinct ones."""
        return repeated(self._distinct.finish(), self._lengths.values)
