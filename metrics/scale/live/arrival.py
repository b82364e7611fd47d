"""What has come to be scored, and what it comes from."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from metrics.runs import Source, as_run

Waiting = Callable[[], AbstractContextManager[object]]
"""Entered while nothing but time passes, so that an interrupt need not wait."""


@dataclass(frozen=True)
class Arrival:
    """Lists that have come, read when they are to be scored.

    Attributes:
        source: reads them.
        parts: the same list by list, for where one of them cannot be read.
        refuse: called where they cannot be read: they may be mended.
    """

    source: Callable[[], Source]
    parts: tuple["Arrival", ...] = ()
    refuse: Callable[[], object] = lambda: None

    def read(self, name: str | None) -> Source:
        """Read the lists as a run, of a reranker of this name where one is given."""
        return replace(as_run(self.source()), name=name)


class Feed(Protocol):
    """Where lists come from."""

    def wait(self, seconds: float) -> list[Arrival] | None:
        """Wait at most so long, and return what has come; None where nothing will come any more."""
