"""How a command ends: by which code, and with which line where it did not go as it should.

0 ok, 1 a check failed, 2 unusable input or no room for the output, 70 a defect of TieScope, 130 interrupted,
141 whoever read the output has left, 128 and its number where another signal ended it.
"""

import atexit
import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

import typer

from metrics.cli.messages import say
from metrics.errors import TieScopeError
from metrics.support.escaping import visible

UNUSABLE, DEFECT, INTERRUPTED, UNREAD = 2, 70, 130, 141
_BAD_COMMAND_LINE: Any = typer.BadParameter.__base__
"""What Typer raises where it cannot read a command line; it exports only this kind of it."""


def exit_code(command: Callable[[], None]) -> int:
    """Run a command to its end; return the code of the process, and say why where it is not the command's."""
    code = 0
    try:
        with _ended_by_signals():
            command()
            sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except SystemExit as stop:
        is_unread = isinstance(stop.__context__, BrokenPipeError)  # so ends Rich, which prints the help
        code = UNREAD if is_unread else stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BrokenPipeError:
        code = UNREAD
    except KeyboardInterrupt:
        code = INTERRUPTED
    except _BAD_COMMAND_LINE as error:
        code, error.message = UNUSABLE, visible(error.message)
        with suppress(OSError):
            error.show()
    except (TieScopeError, MemoryError, OSError) as error:
        code = UNUSABLE
        _say_last(f"tiescope: {_reason(error)}")
    except Exception:  # noqa: BLE001 a defect is no failed check
        code = DEFECT
        with suppress(OSError):
            traceback.print_exc()
        _say_last("tiescope: this is a defect of TieScope; the lines above say where. Please report them.")
    if code == INTERRUPTED:
        _say_last("tiescope: interrupted.")
    return code


def _reason(error: TieScopeError | MemoryError | OSError) -> str:
    """Return a sentence on what could not be done."""
    if isinstance(error, MemoryError):
        return "there is not enough memory. Ask for less, or evaluate with --stream or --engine dask."
    if not isinstance(error, OSError):
        return str(error)
    if error.errno == errno.EBADF:
        return "standard output is closed."
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."


def _say_last(text: str) -> None:
    """Write a message to stderr, if it is still there: the exit code tells as much."""
    with suppress(OSError):
        say(text)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End what is done inside where a signal asks for it, so that nothing half done is left."""
    received: list[int] = []

    def end_by(number: int, _frame: FrameType | None) -> NoReturn:
        received.append(number)
        # a second one would cut short what is put in order; but whoever presses Ctrl-C twice wants that
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_IGN)
        sys.exit(128 + number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, end_by)
    try:
        yield
    except BaseException:
        if received:  # Python makes other errors of an exit in the middle of an import, and libraries do
            sys.exit(128 + received[0])
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end(code: int) -> NoReturn:
    """End the process; an interrupt on its way out is as quiet, and what nobody takes is not written again."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
