"""Progress on stderr, shown where work takes longer than a person waits for."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from metrics.support.escaping import clean
from metrics.support.steps import listening

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
