"""How a command ends: by which code, and with which line where it did not go as it should.

0 ok, 1 a check failed, 2 unusable input or no room for the output, 70 a defect of TieScope, 130 interrupted,
141 whoever read the output has left.
"""

import atexit
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import NoReturn

from metrics.cli.messages import say
from metrics.errors import TieScopeError

UNUSABLE, DEFECT, INTERRUPTED, UNREAD = 2, 70, 130, 141


class _ReaderLeft(Exception):  # noqa: N818 no error
    """Whoever read standard output has left; typer would take a BrokenPipeError for a failed check."""


def with_reader_left(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that says, in a way of its own, that nobody reads what it writes."""

    @wraps(command)
    def run(*arguments: object, **options: object) -> None:
        try:
            command(*arguments, **options)
        except BrokenPipeError:
            raise _ReaderLeft from None

    return run


def exit_code(command: Callable[[], None]) -> int:
    """Run a command to its end; return the code of the process, and say why where it is not the command's."""
    try:
        code = _run(command)
        sys.stdout.flush()
    except TieScopeError as error:
        say(f"tiescope: {error}")
        return UNUSABLE
    except (BrokenPipeError, _ReaderLeft):
        return UNREAD
    except MemoryError:
        say("tiescope: there is not enough memory. Ask for less, or evaluate with --stream or --engine dask.")
        return UNUSABLE
    except OSError as error:
        say(f"tiescope: {error.strerror or error}{f': {error.filename}' if error.filename else ''}.")
        return UNUSABLE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception:  # noqa: BLE001 a defect is no failed check
        traceback.print_exc()
        say("tiescope: this is a defect of TieScope; the lines above say where. Please report them.")
        return DEFECT
    if code == INTERRUPTED:
        say("tiescope: interrupted.")
    return code


def _run(command: Callable[[], None]) -> int:
    try:
        command()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    return 0


def end(code: int) -> NoReturn:
    """End the process; an interrupt on its way out is as quiet, and nothing is written to who has left.

    All memory goes with the process: Python need not search it for garbage before.
    """
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)
    gc.freeze()
    if code == UNREAD:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
