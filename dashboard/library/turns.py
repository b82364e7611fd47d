"""Turns limit how much expensive work runs at once, so that pages of other visitors stay responsive."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Semaphore

from metrics.errors import LibraryError
from metrics.support.progress import begin_step

MAX_AT_ONCE = "TIESCOPE_MAX_AT_ONCE"
"""Environment variable: maximum expensive tasks at once."""
DEAR_BYTES, DEAR_ROWS = 2**21, 100_000
"""Bytes of an unpacked file, and rows to join or score, from which work waits for a turn."""
WAITING = "Waiting"
"""Name of the waiting step."""
_SECONDS = 1.0
_HAS_TURN = ContextVar("has_turn", default=False)


def max_at_once() -> int:
    """Return the number of tasks at once, by default all cores but one, which is left for pages.

    Raises:
        LibraryError: the environment's value is invalid.
    """
    number = os.environ.get(MAX_AT_ONCE) or str(max(1, (os.cpu_count() or 1) - 1))
    if not (number.isascii() and number.isdecimal() and int(number[:4]) > 0):
        raise LibraryError(f"{MAX_AT_ONCE} is {number[:40]!r}. Use an integer of at least 1.")
    return int(number[:4])


@cache
def _free_turns() -> Semaphore:
    return Semaphore(max_at_once())


@contextmanager
def turn(*, is_dear: bool = True) -> Iterator[None]:
    """Wait until expensive work may run, and report the waiting; other work starts immediately.

    The waiting is reported every second, when Streamlit can stop the script.
    """
    if not is_dear or _HAS_TURN.get():
        yield
        return
    while not _free_turns().acquire(timeout=_SECONDS):
        begin_step(WAITING, 0, 0, "for other visitors' work")
    token = _HAS_TURN.set(True)
    try:
        yield
    finally:
        _HAS_TURN.reset(token)
        _free_turns().release()
