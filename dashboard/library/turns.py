"""Turns: how much dear work runs at once, so that one visitor's leaves others their pages."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Semaphore

from metrics.errors import LibraryError
from metrics.support.progress import begin_step

MAX_AT_ONCE = "TIESCOPE_MAX_AT_ONCE"
"""Environment variable: how many pieces of dear work run at once; others wait."""
DEAR_BYTES, DEAR_ROWS = 2**21, 100_000
"""From so many bytes of a file, or rows that are joined or scored, work is dear; less never waits."""
WAITING = "Waiting"
"""The step of work that waits for its turn."""
_SECONDS = 1.0
_HAS_TURN = ContextVar("has_turn", default=False)


class Turns:
    """Turns that so many may hold at once."""

    def __init__(self, at_once: int) -> None:
        self._free = Semaphore(at_once)

    @contextmanager
    def take(self, notify: Callable[[], None]) -> Iterator[None]:
        """Wait for a turn and hold it; `notify` is called every second, which is when Streamlit can stop it."""
        while not self._free.acquire(timeout=_SECONDS):
            notify()
        try:
            yield
        finally:
            self._free.release()


def usual_at_once() -> int:
    """Return how many pieces of dear work run at once where nothing else is set: a core is left for pages."""
    return max(1, (os.cpu_count() or 1) - 1)


def max_at_once() -> int:
    """Return how many pieces of dear work run at once; LibraryError where that is no number."""
    number = os.environ.get(MAX_AT_ONCE) or str(usual_at_once())
    if not (number.isascii() and number.isdecimal() and int(number[:4]) > 0):
        raise LibraryError(f"{MAX_AT_ONCE} is {number[:40]!r}. Give a whole number from 1.")
    return int(number[:4])


@cache
def _turns() -> Turns:
    return Turns(max_at_once())


@contextmanager
def turn(*, is_dear: bool = True) -> Iterator[None]:
    """Wait until work that is dear may run, and tell whoever listens; all else runs at once."""
    if not is_dear or _HAS_TURN.get():
        yield
        return
    with _turns().take(lambda: begin_step(WAITING, 0, 0, "until other visitors' work is done")):
        token = _HAS_TURN.set(True)
        try:
            yield
        finally:
            _HAS_TURN.reset(token)
