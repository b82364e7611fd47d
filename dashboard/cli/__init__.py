"""The command `tiescope`."""

import os
import sys
from io import TextIOWrapper

from dashboard.cli.loading import loading_modules


def main() -> None:
    """Run `tiescope`; an interrupt ends it in one line from its first moment on.

    What a terminal cannot print is written as an escape.
    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with loading_modules():
        from dashboard.cli.commands import draw, tiescope

        if sys.argv[1:2] == ["app"]:
            from dashboard.server.memory import settle_memory

            settle_memory()
        from metrics.cli import run
    run(tiescope, draw)


def _open_closed_streams() -> None:
    """Open the standard streams that are closed, so that no other file comes by their numbers.

    What is written to stderr is then dropped. What is written to stdout fails as on a full disk, for it is
    opened to be read; but a server, which writes no data, goes on without.
    """
    is_server = sys.argv[1:2] == ["app"]
    flags = {"stdin": os.O_RDONLY, "stdout": os.O_WRONLY if is_server else os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, flag in flags.items():
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), "r" if name == "stdin" else "w"))
