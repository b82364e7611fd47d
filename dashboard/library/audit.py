"""The audit log: one JSON line per event, if the server's owner configures a file."""

import inspect
import json
import logging
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import ParamSpec, TypeVar

from dashboard.library.records import STRANGER, Record
from metrics.errors import UsageError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

AUDIT_LOG = "TIESCOPE_AUDIT_LOG"
"""Environment variable: file to append events to."""
_LOG = logging.getLogger(__name__)
_LONGEST = 200
"""Maximum letters of a name."""
_LETTERS_OF_STRANGER = len(STRANGER) + 8
_NAMES = {"board_id": "board", "sha256": "upload", "access": "access"}
"""Parameter of a library method → its name in events."""
_alone = Lock()


def record_event(action: str, who: str, **details: str | Sequence[str]) -> None:
    """Append an event to the audit log if there is one; failures go to the server's log.

    Each line is a single append, so that processes do not interleave lines. A line that a full disk cuts is
    removed. JSON escapes all non-ASCII letters.
    """
    path = os.environ.get(AUDIT_LOG)
    if not path:
        return
    owner = who[:_LETTERS_OF_STRANGER] if who.startswith(STRANGER) else who
    event = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "who": owner, "action": action}
    line = json.dumps(event | {name: _cut(value) for name, value in details.items()})
    try:
        _append(path, f"{line}\n".encode())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        _LOG.error("The audit log %s cannot be written (%s): %s", path, reason, line)


def audited(action: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Make a library method record its action, board or upload, and owner after it succeeds."""

    def decorate(method: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(method)

        @wraps(method)
        def recording(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
            result = method(*args, **options)
            if os.environ.get(AUDIT_LOG):
                bound = signature.bind(*args, **options)
                bound.apply_defaults()
                details = {
                    ours: bound.arguments[name] for name, ours in _NAMES.items() if name in bound.arguments
                }
                record_event(action, bound.arguments["owner"], **(details | _details_of(result)))
            return result

        return recording

    return decorate


def _details_of(result: object) -> dict[str, str | list[str]]:
    """Return the details of a board that a method returns."""
    if not isinstance(result, Record):
        return {}
    files = [entry.file.name for entry in result.spec.entries]
    return {"board": result.id, "name": result.name, "access": result.access, "files": files}


def _cut(value: str | Sequence[str]) -> str | list[str]:
    return value[:_LONGEST] if isinstance(value, str) else [text[:_LONGEST] for text in value]


def prepare_audit_log(path: Path) -> str:
    """Create a log that can be appended to; return its path or raise a UsageError."""
    try:
        _append(str(path), b"")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"The audit log {path} cannot be written ({reason}). Choose another file.") from error
    return str(path.absolute())


def _append(path: str, line: bytes) -> None:
    """Append a line to a private file, entirely or not at all."""
    with _alone:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK  # reject a pipe without a reader
        descriptor = os.open(path, flags, 0o600)
        try:
            n_written = os.write(descriptor, line)
            if n_written < len(line):
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - n_written)
                raise OSError("the disk is full")
        finally:
            os.close(descriptor)
