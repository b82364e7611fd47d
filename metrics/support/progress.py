"""Progress of long work, shown on stderr if a person is watching."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Timer

from metrics.support.wording import count_of

PATIENCE = 1.0
"""Seconds before progress is shown."""


@contextmanager
def progress(task_name: str) -> Iterator[None]:
    """Draw the steps of long work on stderr if it takes longer than `PATIENCE` and stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 only on a terminal
    from rich.markup import escape  # noqa: PLC0415 likewise
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 likewise

    from metrics.support.escaping import clean  # noqa: PLC0415 likewise

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[part]}"),
        TimeElapsedColumn(),
    )
    display = Progress(*columns, console=Console(stderr=True), transient=True)
    task = display.add_task(task_name, total=None, part="")

    def show(step: Step) -> None:
        display.update(task, completed=step.completed, total=step.total, part=escape(clean(step.part)))

    timer = Timer(PATIENCE, display.start)
    timer.daemon = True
    timer.start()
    try:
        with listening(show):
            yield
    finally:
        timer.cancel()
        display.stop()


@dataclass(frozen=True)
class Step:
    """Progress of long work.

    Attributes:
        task: name of the work, such as Reading.
        completed: number of completed parts.
        total: number of parts, 0 if unknown.
        item: the current part.
        rows: rows completed so far, if counted.
    """

    task: str
    completed: int
    total: int
    item: str = ""
    rows: int = 0

    @property
    def part(self) -> str:
        """The current part as text: 7 of 15: bm25.trec, 350,000 rows so far."""
        if not self.total:
            return self.item
        item = f": {self.item}" if self.item else ""
        rows = f", {count_of(self.rows, 'row')} so far" if self.rows else ""
        return f"{min(self.completed + 1, self.total):,} of {self.total:,}{item}{rows}"


Listener = Callable[[Step], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send each step of the work inside to a listener, if any; its exceptions end the work."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def begin_step(task: str, completed: int, total: int, item: str = "", rows: int = 0) -> None:
    """Report that a part of long work begins."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(Step(task, completed, total, item, rows))
