"""Progress on stderr, shown where work takes longer than a person waits for."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

PATIENCE = 1.0
"""Seconds of work before progress is shown."""


def progress(task_name: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """Say on stderr what is being done, if it takes longer than a second and a person is watching."""
    return _timed(task_name, SpinnerColumn(), TextColumn(f"{task_name} ..."), TimeElapsedColumn())


def bar(task_name: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """The same with a bar; what is yielded takes how much is done, and of how much."""
    return _timed(task_name, TextColumn(task_name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@contextmanager
def _timed(task_name: str, *columns: ProgressColumn) -> Iterator[Callable[[int, int], None]]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _unwatched
        return
    display = Progress(*columns, console=console, transient=True)
    task = display.add_task(task_name, total=None)
    timer = Timer(PATIENCE, display.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda completed, total: display.update(task, completed=completed, total=total)
    finally:
        timer.cancel()
        display.stop()


def _unwatched(_completed: int, _total: int) -> None:
    """Nobody looks."""
