"""The command `tiescope`."""

import os
import signal
import sys
from io import TextIOWrapper
from types import FrameType


def main() -> None:
    """Run `tiescope`; Ctrl-C ends it with one line, and characters a terminal cannot print are escaped."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    before = signal.signal(signal.SIGINT, _exit_at_once)
    try:
        if sys.argv[1:2] == ["app"]:
            from dashboard.server.memory import settle_memory

            settle_memory()
        from dashboard.cli.commands import draw, tiescope
        from metrics.cli import run
    finally:
        signal.signal(signal.SIGINT, before)
    run(tiescope, draw)


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
