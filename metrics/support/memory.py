"""One allocator for numpy and pyarrow while files are read and scored: what one frees the other can use."""

import ctypes
from contextlib import ContextDecorator, suppress
from threading import Lock

import numpy as np
import pyarrow as pa

_REUSED = 2**24
"""Bytes of the largest block that glibc, having seen one freed, keeps for others instead of unmapping it.

Else each array of a megabyte is mapped, and its pages are cleared, anew: a seventh of the time of a first call.
"""


class _OneAllocator(ContextDecorator):
    """While anyone is inside, pyarrow takes memory from the system, as numpy does; then as before.

    pyarrow's usual allocator keeps what it once held: 10 MB for a file of a million rows.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._before = pa.default_memory_pool()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                np.empty(_REUSED, np.uint8)
                self._before = pa.default_memory_pool()
                pa.set_memory_pool(pa.system_memory_pool())
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                pa.set_memory_pool(self._before)


one_allocator = _OneAllocator()


def give_back_memory() -> None:
    """Return to the system what is free between blocks in use, where the system's allocator can (glibc)."""
    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
