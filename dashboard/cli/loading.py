"""Modules that a command loads when it is called."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def loading_modules() -> Iterator[None]:
    """Load modules inside, where an interrupt ends the process in one line: nothing is half done."""
    before = signal.signal(signal.SIGINT, _exit_at_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _exit_at_once(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"tiescope: interrupted.\n")
    os._exit(130)
