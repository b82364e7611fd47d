"""The command `tiescope`."""

import os
import signal
from types import FrameType


def main() -> None:
    """Run `tiescope`; an interrupt ends it in one line from its first moment on."""
    before = signal.signal(signal.SIGINT, _exit_at_once)
    from dashboard.cli.commands import app, draw  # noqa: PLC0415 loads for a second
    from metrics.cli import run  # noqa: PLC0415

    signal.signal(signal.SIGINT, before)
    run(app, draw)


def _exit_at_once(_signal: int, _frame: FrameType | None) -> None:
    """End a command that has not begun: nothing is half done while modules are loaded."""
    os.write(2, b"tiescope: interrupted.\n")
    os._exit(130)
