"""Where runs come from as they are written: a folder, or lines on standard input."""

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from io import RawIOBase
from pathlib import Path
from select import select
from time import sleep
from typing import Protocol

from metrics.errors import ReadError, UsageError
from metrics.runs import File, Source, as_run
from metrics.runs.reading.files import BLOCK
from metrics.scale.live.lines import LineCutter, ListLines

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


_UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", ".swp", "~")
"""Endings of names that files have while they are written; so do those that begin with a dot."""
_MAX_ABSENT = 100_000
"""Files that were read and are gone, of which it is known that they were."""
Signature = tuple[int, int, int]
"""Size, time of the last change, and number of a file."""


@dataclass
class _Sighting:
    """A file as it was seen last.

    Attributes:
        signature: what tells whether it was written since.
        is_given: whether it was given to be read.
        is_refused: whether it could not be read.
        is_reported: whether it was said that it changed after it was read.
    """

    signature: Signature
    is_given: bool = False
    is_refused: bool = False
    is_reported: bool = False


class FolderFeed:
    """Gives each file of a folder when two looks in a row find it the same; an empty one is waited for.

    A file that could not be read is given again when it changes. One that was read is not, gone and back or
    changed: its lists count.
    Looks, not notices of the system, for network drives send none.
    """

    def __init__(
        self,
        folder: Path,
        read: Callable[[File], Source],
        say: Callable[[str], None],
        *,
        qrels: Path | None = None,
        waiting: Waiting = nullcontext,
    ) -> None:
        """Open a folder.

        Raises:
            UsageError: there is no such folder, or it cannot be read.
        """
        self._folder, self._read, self._say, self._waiting = folder, read, say, waiting
        self._left_out = qrels and qrels.resolve()
        self._sightings: dict[str, _Sighting] = {}
        self._absent: dict[str, _Sighting] = {}
        self._is_readable = True
        try:
            self._signatures()
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror or error}. Name a folder, or - for stdin.") from error
        self._has_looked = False

    def wait(self, seconds: float) -> list[Arrival]:
        """Wait so long, but before the first look, and return the files that are whole, the oldest first."""
        if self._has_looked:
            with self._waiting():
                sleep(seconds)
        self._has_looked = True
        try:
            signatures = self._signatures()
        except OSError as error:
            if self._is_readable:
                self._say(f"{self._folder}: {error.strerror or error}. Looking on until it is there again.")
            self._is_readable = False
            return []
        self._is_readable = True
        self._forget_all_but(signatures)
        by_time = sorted(signatures.items(), key=lambda entry: (entry[1][1], entry[0]))
        return [self._arrival(name) for name, signature in by_time if self._is_whole(name, signature)]

    def _forget_all_but(self, names: Collection[str]) -> None:
        """Forget files that are gone, but for those that count already: they may come back as they were."""
        for name in [name for name in self._sightings if name not in names]:
            sighting = self._sightings.pop(name)
            if self._counts(sighting):
                self._absent[name] = sighting
        for name in list(self._absent)[:-_MAX_ABSENT]:
            del self._absent[name]

    def _signatures(self) -> dict[str, Signature]:
        """Return what tells the state of each file that is no longer empty, by its name."""
        signatures = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                is_unfinished = entry.name.startswith(".") or entry.name.lower().endswith(_UNFINISHED)
                try:
                    if is_unfinished or not entry.is_file() or self._is_left_out(entry):
                        continue
                    status = entry.stat()
                except OSError:  # it is gone, or a link that leads to itself
                    continue
                if status.st_size:
                    signatures[entry.name] = (status.st_size, status.st_mtime_ns, status.st_ino)
        return signatures

    def _is_left_out(self, entry: "os.DirEntry[str]") -> bool:
        return self._left_out is not None and Path(entry.path).resolve() == self._left_out

    def _is_whole(self, name: str, signature: Signature) -> bool:
        """Return whether a file that was not given yet is as it was at the last look; note how it is now."""
        absent = self._absent.pop(name, None)
        if absent is not None and absent.signature == signature:
            self._sightings[name] = absent
        sighting = self._sightings.get(name)
        if sighting is None or (sighting.signature != signature and not self._counts(sighting)):
            self._sightings[name] = _Sighting(signature)
            return False
        if sighting.signature != signature and not sighting.is_reported:
            sighting.is_reported = True
            self._say(
                f"{name}: it changed after it was read; what it holds now does not count. Write a file under "
                "another name, and rename it when it is whole."
            )
        is_new, sighting.is_given = not sighting.is_given, True
        return is_new

    @staticmethod
    def _counts(sighting: _Sighting) -> bool:
        return sighting.is_given and not sighting.is_refused

    def _arrival(self, name: str) -> Arrival:
        sighting = self._sightings[name]
        return Arrival(
            lambda: self._read(File.open(self._folder / name)),
            refuse=partial(setattr, sighting, "is_refused", True),
        )


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
        """Begin to read."""
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
