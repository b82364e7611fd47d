"""How far long work is: told by those who do it, and shown on stderr where it takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Timer

from metrics.support.escaping import clean
from metrics.support.wording import count_of

PATIENCE = 1.0
"""Seconds of work before progress is shown."""


@contextmanager
def progress(task_name: str, *, follows_steps: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Draw a bar on stderr, if the work inside takes longer than a second and a person is watching.

    What is yielded takes how much is done, and of how much.
    """
    if not sys.stderr.isatty():
        yield _unwatched
        return
    from rich.console import Console  # noqa: PLC0415 only where a person looks
    from rich.markup import escape  # noqa: PLC0415 likewise
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 likewise

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[part]}"),
        TimeElapsedColumn(),
    )
    display = Progress(*columns, console=Console(stderr=True), transient=True)
    task = display.add_task(task_name, total=None, part="")

    def show(completed: int, total: int, part: str = "") -> None:
        text = escape(clean(part)) or f"{completed:,} of {total:,}"
        display.update(task, completed=completed, total=total, part=text)

    timer = Timer(PATIENCE, display.start)
    timer.daemon = True
    timer.start()
    try:
        follow = (lambda step: show(step.completed, step.total, step.part)) if follows_steps else None
        with listening(follow):
            yield show
    finally:
        timer.cancel()
        display.stop()


def _unwatched(_completed: int, _total: int) -> None:
    """Do nothing: nobody looks."""


@dataclass(frozen=True)
class Step:
    """Where long work is.

    Attributes:
        task: what is done, such as Reading.
        completed: how many parts of it are done.
        total: of how many; 0 where nobody knows.
        item: the part that is done now.
        rows: rows done so far, where they are counted.
    """

    task: str
    completed: int
    total: int
    item: str = ""
    rows: int = 0

    @property
    def part(self) -> str:
        """The part that is done now, as text: 7 of 15: bm25.trec, 350,000 rows so far."""
        if not self.total:
            return self.item
        item = f": {self.item}" if self.item else ""
        rows = f", {count_of(self.rows, 'row')} so far" if self.rows else ""
        return f"{min(self.completed + 1, self.total):,} of {self.total:,}{item}{rows}"


Listener = Callable[[Step], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell a listener of each step of the work inside, none where None; what it raises ends the work."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def begin_step(task: str, completed: int, total: int, item: str = "", rows: int = 0) -> None:
    """Tell whoever listens that a part of long work begins."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(Step(task, completed, total, item, rows))
