"""The command `tiescope`."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType

_MALLOC_OPTIONS = {
    "MALLOC_ARENA_MAX": (-8, 1),  # else each thread keeps free memory of its own
    "MALLOC_MMAP_THRESHOLD_": (-3, 2**24),  # map larger blocks, which are returned when freed
    "MALLOC_TRIM_THRESHOLD_": (-1, 2**25),  # keep what the next click needs again
}
"""Environment variable of glibc → the same option of `mallopt`, and its value."""


def main() -> None:
    """Run `tiescope`; Ctrl-C ends it with one line, and characters a terminal cannot print are escaped."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    before = signal.signal(signal.SIGINT, _exit_at_once)
    try:
        if sys.argv[1:2] == ["app"]:
            settle_memory()
        from dashboard.cli.commands import draw, tiescope
        from metrics.cli.messages import run
    finally:
        signal.signal(signal.SIGINT, before)
    run(tiescope, draw)


def settle_memory() -> None:
    """Make glibc return freed memory to the system, so that closed boards leave room for others.

    It must come before numpy and pyarrow are imported; the environment takes precedence. Without it, four
    sessions on a million rows left 470 MB instead of 350.
    """
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")  # a few bytes in use keep a huge page, 2 MB
    with suppress(AttributeError, OSError, TypeError):  # not glibc; Windows wants the name of a library
        libc = ctypes.CDLL(None)
        for name, (option, value) in _MALLOC_OPTIONS.items():
            if name not in os.environ:
                libc.mallopt(option, value)


def _exit_at_once(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"tiescope: interrupted.\n")
    os._exit(130)


def _open_closed_streams() -> None:
    """Open closed standard streams, so that no other file gets their numbers.

    The new stderr drops its input. The new stdout is read-only, so that writing to it fails as on a full
    disk; only a server, which writes no data, gets a writable one.
    """
    is_server = sys.argv[1:2] == ["app"]
    flags = {"stdin": os.O_RDONLY, "stdout": os.O_WRONLY if is_server else os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, flag in flags.items():
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), "r" if name == "stdin" else "w"))
