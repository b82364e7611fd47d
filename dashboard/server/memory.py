"""Memory of the server's process: taken from the system by one allocator, which can give it back."""

import ctypes
import os
from contextlib import suppress

_VARIABLES = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # Arrow's own keeps what it once held: 70 MB after three uploads
    "NUMPY_MADVISE_HUGEPAGE": "0",  # a few bytes in use keep a huge page, 2 MB, in memory
}
"""Variable → what it says where the environment says nothing; numpy and pyarrow look as they are imported."""
_OPTIONS = {
    "MALLOC_ARENA_MAX": (-8, 1),  # each thread else has blocks of its own, free but not for others
    "MALLOC_MMAP_THRESHOLD_": (-3, 2**24),  # what is larger is mapped, and gone when it is freed
    "MALLOC_TRIM_THRESHOLD_": (-1, 2**25),  # a click does not return what the next one takes again
}
"""Variable by which glibc is told → the option of `mallopt` that says the same, and its value."""


def settle_memory() -> None:
    """Have the process share one allocator, before numpy and pyarrow are imported; the environment wins."""
    for name, text in _VARIABLES.items():
        os.environ.setdefault(name, text)
    with suppress(AttributeError, OSError, TypeError):  # not glibc; Windows wants the name of a library
        libc = ctypes.CDLL(None)
        for name, (option, value) in _OPTIONS.items():
            if name not in os.environ:
                libc.mallopt(option, value)
