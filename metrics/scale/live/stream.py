"""Standard input, or any stream of lines: lists as they end."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from io import RawIOBase
from select import select

from metrics.errors import ReadError
from metrics.runs.reading.files import BLOCK
from metrics.scale.live.arrival import Arrival, Waiting
from metrics.scale.live.lines import LineCutter, ListLines

_LISTS = 256
"""Lists that are read at once, at most."""


class LineFeed:
    """Gives the lists of a stream, some at once where they come faster than they are scored."""

    def __init__(
        self,
        stream: RawIOBase,
        cutter: LineCutter,
        say: Callable[[str], None],
        waiting: Waiting = nullcontext,
    ) -> None:
        """Begin to read.

        Args:
            stream: a file that is not buffered.
            cutter: cuts and reads its lines.
            say: takes what a person should know.
            waiting: entered while no line comes.
        """
        self._stream, self._cutter, self._say, self._waiting = stream, cutter, say, waiting
        self._has_ended = False

    def wait(self, seconds: float) -> list[Arrival] | None:
        """Wait at most so long, and return lists that have ended; None after the last."""
        if self._has_ended:
            return None
        with self._waiting():
            is_ready = select([self._stream], [], [], seconds)[0]
        if not is_ready:
            return []
        data = os.read(self._stream.fileno(), BLOCK)
        self._has_ended = not data
        lists: list[ListLines] = []
        try:
            for entry in self._cutter.feed(data) if data else self._cutter.end():
                lists.append(entry)  # noqa: PERF402 those before a line that is refused are whole
        except ReadError as error:
            self._say(f"{error} Left out.")
        return [self._arrival(lists[start : start + _LISTS]) for start in range(0, len(lists), _LISTS)]

    def _arrival(self, lists: list[ListLines]) -> Arrival:
        parts = tuple(Arrival(partial(self._cutter.read, [entry])) for entry in lists)
        return Arrival(partial(self._cutter.read, lists), parts) if len(parts) > 1 else parts[0]
