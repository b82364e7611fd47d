"""How far long work is: told by those who do it, to whoever shows it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from metrics.support.wording import count_of


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
