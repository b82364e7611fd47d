"""Cached evaluations of runs that visitors name by path."""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, NamedTuple

from dashboard.library.place import byte_limit, home
from dashboard.library.turns import Turns, turn
from metrics.errors import LibraryError, UsageError
from metrics.evaluation import Evaluation, evaluate
from metrics.runs import File, Runs
from metrics.runs.files import place_of
from metrics.runs.writing import whole_file
from metrics.scale.stored import VERSION, is_stored, write_parts
from metrics.scale.stream import Stream
from metrics.support.wording import count_of

MAX_SCORED = "TIESCOPE_MAX_SCORED_MB"
"""Environment variable: maximum megabytes of all such evaluations; the oldest are removed."""
USUAL = 20_000
_HASH = 12
_LABEL = re.compile(rf".* · ([0-9a-f]{{{_HASH}}})", re.DOTALL)
_LEFTOVER_SECONDS = 86_400
"""Seconds after which an incomplete file is removed."""
_one_at_a_time = Turns(1)

Place = Path | str
"""A path or URL."""


class ScoringOutcome(NamedTuple):
    """Label of a stored evaluation, and messages about its runs."""

    label: str
    messages: list[str]


@dataclass(frozen=True)
class ScoredRuns:
    """Evaluations on one server for one setting of allowed paths."""

    folder: Path  # folder that holds only these evaluations
    most_bytes: int  # maximum bytes of all evaluations

    @classmethod
    def of(cls, allowed: str) -> "ScoredRuns":
        """Return the evaluations made while these paths were allowed."""
        return cls(home() / "scored" / _hash(allowed), byte_limit(MAX_SCORED, USUAL))

    def find(self, label: str) -> Path | None:
        """Return the evaluation with this label and mark it as used, None if it does not exist."""
        match = _LABEL.fullmatch(label)
        path = self.folder / f"{match[1] if match else ''}.parquet"
        if not match or not path.is_file():
            return None
        with suppress(OSError):
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        return path

    def score(
        self,
        runs: Sequence[Place],
        qrels: Place | None,
        measures: Sequence[str],
        ties: Sequence[str],
        notify: Callable[[str], None],
    ) -> ScoringOutcome:
        """Score runs in parts, one visitor at a time, or download a stored evaluation."""
        label = _label(runs, qrels, [*measures, *ties])
        if self.find(label):
            return ScoringOutcome(label, [])
        with _one_at_a_time.take(lambda: notify("Waiting for another scoring job to finish …")), turn():
            if self.find(label):
                return ScoringOutcome(label, [])
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise LibraryError(f"{self.folder}: {(error.strerror or str(error)).lower()}.") from error
            with whole_file(self.folder / f"{label[-_HASH:]}.parquet") as stream:
                if len(runs) == 1 and is_stored(file := File.open(runs[0])):
                    messages = self._fetch(file, stream, notify)
                else:
                    score = partial(evaluate, measures=measures, ties=ties)
                    messages = self._score(Stream(runs, qrels), score, stream, notify)
                self._refuse_too_large(stream)
        self._make_room(keep=label[-_HASH:])
        return ScoringOutcome(label, messages)

    def _score(
        self,
        runs: Stream,
        score: Callable[[Runs], Evaluation],
        stream: IO[bytes],
        notify: Callable[[str], None],
    ) -> list[str]:
        n_lists = 0
        notify("Reading …")
        for part in write_parts(runs.parts(score), stream):
            n_lists += len(part.scores)
            notify(f"{count_of(n_lists, 'list')} scored …")
            self._refuse_too_large(stream)
        return [f"{one.file}: {one.message} {one.hint}" for one in runs.left_out.itertuples()]

    def _fetch(self, file: File, stream: IO[bytes], notify: Callable[[str], None]) -> list[str]:
        n_bytes = 0
        for block in replace(file, endless=True).blocks():
            n_bytes += stream.write(block)
            if n_bytes % 2**24 < len(block):
                notify(f"{n_bytes / 10**6:,.0f} MB fetched …")
                self._refuse_too_large(stream)
        return []

    def _refuse_too_large(self, stream: IO[bytes]) -> None:
        """Raise a LibraryError beyond the limit."""
        if stream.tell() > self.most_bytes:
            raise LibraryError(f"The stored evaluation exceeds this server's limit. Raise {MAX_SCORED}.")

    def _make_room(self, keep: str) -> None:
        """Remove the least recently used evaluations and incomplete files."""
        files = sorted(_files(self.folder.parent), key=lambda entry: entry[1].st_atime, reverse=True)
        room = self.most_bytes
        for path, status in files:
            room -= status.st_size
            is_kept = path.suffix == ".parquet"
            is_leftover = not is_kept and status.st_mtime < time.time() - _LEFTOVER_SECONDS
            if is_leftover or (is_kept and room < 0 and path.stem != keep):
                with suppress(OSError):
                    path.unlink()


def _files(folder: Path) -> Iterable[tuple[Path, os.stat_result]]:
    for path in folder.glob("*/*"):
        with suppress(OSError):
            yield path, path.stat()


def _label(runs: Sequence[Place], qrels: Place | None, options: list[str]) -> str:
    """Return the name of the first run and a hash of everything that determines the evaluation."""
    files = [_identity(one) for one in (*runs, *([qrels] if qrels else []))]
    more = f" and {len(runs) - 1} more" * (len(runs) > 1)
    made_by = [program_version(), str(VERSION)]
    return f"{place_of(runs[0]).name}{more} · {_hash(json.dumps([made_by, files, bool(qrels), options]))}"


@cache
def program_version() -> str:
    """Return the program's version; evaluations of other versions are not used."""
    try:
        return version("tiescope")
    except PackageNotFoundError:
        return ""


def _identity(place: Place) -> list[str]:
    try:
        status = place_of(place).stat()
    except (OSError, ValueError, NotImplementedError) as error:
        raise UsageError(f"{place}: it cannot be read.") from error
    return [str(place), str(status.st_size), str(status.st_mtime)]


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:_HASH]
