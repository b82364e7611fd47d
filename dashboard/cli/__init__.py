"""The command `tiescope`."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from types import FrameType


def main() -> None:
    """Run `tiescope`; an interrupt ends it in one line from its first moment on.

    What a terminal cannot print is written as an escape.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with loading_modules():
        from dashboard.cli.commands import draw, tiescope

        if sys.argv[1:] in ([], ["--help"], ["--version"]):
            with suppress(OSError):  # such as a full disk: `run` meets it again, and says so
                tiescope()  # which needs nothing else, and ends here
        if sys.argv[1:2] == ["app"]:
            from dashboard.server.memory import settle_memory

            settle_memory()
        from metrics.cli import run
    run(tiescope, draw)


@contextmanager
def loading_modules() -> Iterator[None]:
    """Load modules inside, where an interrupt ends the process in one line: nothing is half done.

    What is loaded stays until the end, and Python does not go through it in search of garbage: that takes a
    quarter of a short command.
    """
    before = signal.signal(signal.SIGINT, _exit_at_once)
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if is_collecting:
            gc.enable()
        signal.signal(signal.SIGINT, before)


def _exit_at_once(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"tiescope: interrupted.\n")
    os._exit(130)
