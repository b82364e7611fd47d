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


def progress(what: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """Say on stderr what is being done, if it takes longer than a second and a person is watching."""
    return _shown(what, SpinnerColumn(), TextColumn(f"{what} ..."), TimeElapsedColumn())


def bar(what: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """The same with a bar; what is yielded takes how much is done, and of how much."""
    return _shown(what, TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@contextmanager
def _shown(what: str, *columns: ProgressColumn) -> Iterator[Callable[[int, int], None]]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _unwatched
        return
    shown = Progress(*columns, console=console, transient=True)
    task = shown.add_task(what, total=None)
    timer = Timer(PATIENCE, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, known: shown.update(task, completed=done, total=known)
    finally:
        timer.cancel()
        shown.stop()


def _unwatched(_done: int, _known: int) -> None:
    """Nobody looks."""
