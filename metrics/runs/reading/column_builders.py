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

_MORE = 1.5
"""How much room is made where there is too little."""


class Growing(Protocol):
    """A column that takes its pieces one after the other."""

    def add(self, piece: pa.Array) -> None:
        """The next rows, none of them null."""

    def whole(self) -> pa.Array:
        """All rows in one piece; nothing is added afterwards."""


class _Room(Generic[Value]):
    """An array that holds what is put at its end; pages that nothing was put on cost nothing."""

    def __init__(self, kind: type[Value], times: float) -> None:
        self._values: npt.NDArray[Value] = np.empty(0, kind)
        self._times = times
        self.n = 0

    def put(self, values: npt.NDArray[Value]) -> None:
        end = self.n + len(values)
        if end > len(self._values):
            room = np.empty(int(max(end, self.n * _MORE, end * self._times)), self._values.dtype)
            room[: self.n] = self._values[: self.n]
            self._values, self._times = room, 1
        self._values[self.n : end] = values
        self.n = end

    @property
    def values(self) -> npt.NDArray[Value]:
        return self._values[: self.n]


class Numbers:
    """Float64 numbers."""

    def __init__(self, times: float) -> None:
        """Make room for so many times the first piece, if there is one."""
        self._values = _Room(np.float64, times)

    def add(self, piece: pa.Array) -> None:
        """The next numbers."""
        self._values.put(piece.to_numpy())

    def whole(self) -> pa.Array:
        """All numbers."""
        return pa.Array.from_buffers(pa.float64(), self._values.n, [None, pa.py_buffer(self._values.values)])


class Texts:
    """Texts that are mostly distinct."""

    def __init__(self, times: float) -> None:
        """Make room for so many times the first piece, if there is one."""
        self._letters, self._ends = _Room(np.uint8, times), _Room(np.int32, times)
        self._ends.put(np.zeros(1, np.int32))

    def add(self, piece: pa.Array) -> None:
        """The next texts."""
        _, offsets, letters = piece.buffers()
        ends = np.frombuffer(offsets, np.int32)[piece.offset : piece.offset + len(piece) + 1]
        self._ends.put(ends[1:] + np.int32(self._letters.n - ends[0]))
        self._letters.put(np.frombuffer(letters or b"", np.uint8)[ends[0] : ends[-1]])

    def whole(self) -> pa.Array:
        """All texts."""
        buffers = [None, pa.py_buffer(self._ends.values), pa.py_buffer(self._letters.values)]
        return pa.Array.from_buffers(pa.string(), self._ends.n - 1, buffers)


class Words:
    """Texts that are mostly the same as the one before; coded."""

    def __init__(self) -> None:
        self._distinct, self._lengths = Texts(1), _Room(np.int64, 1)

    def add(self, piece: pa.Array) -> None:
        """The next texts."""
        runs = pc.run_end_encode(piece, run_end_type=pa.int32())
        self._distinct.add(runs.values)
        self._lengths.put(np.diff(runs.run_ends.to_numpy(), prepend=0))

    def whole(self) -> pa.Array:
        """All texts as places among the distinct ones."""
        return repeated(self._distinct.whole(), self._lengths.values)
