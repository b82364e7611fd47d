"""Interrupts of a command that has not begun."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def exit_at_interrupt() -> Iterator[None]:
    """While modules are loaded inside, an interrupt ends the process in one line: nothing is half done."""
    before = signal.signal(signal.SIGINT, _exit_at_once)
    yield
    signal.signal(signal.SIGINT, before)


def _exit_at_once(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"tiescope: interrupted.\n")
    os._exit(130)
