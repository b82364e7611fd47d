"""Ctrl-C as the usual end of a command that would go on for ever."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Ends a wait at once, and work between two steps of it; asked for again, at once."""

    def __init__(self) -> None:
        self._is_requested = self._is_waiting = False

    def raise_if_requested(self) -> None:
        """Raise a KeyboardInterrupt if there was an interrupt."""
        if self._is_requested:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let an interrupt inside come at once."""
        self._is_waiting = True
        try:
            self.raise_if_requested()
            yield
        finally:
            self._is_waiting = False

    def request(self, _signal: int, _frame: FrameType | None) -> None:
        """Take an interrupt."""
        is_repeated, self._is_requested = self._is_requested, True
        if self._is_waiting or is_repeated:
            raise KeyboardInterrupt


@contextmanager
def stop_at_interrupt() -> Iterator[Stop]:
    """Let the `Stop` that is yielded decide what an interrupt inside becomes."""
    stop = Stop()
    before = signal.signal(signal.SIGINT, stop.request)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
