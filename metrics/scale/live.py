"""Lists scored as they arrive: files in a folder, or lines on standard input."""

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from io import RawIOBase
from itertools import chain
from math import ceil
from pathlib import Path
from select import select
from time import monotonic, sleep
from typing import Literal, NamedTuple, TypeAlias

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.evaluation.running import Change, Running
from metrics.runs import File, Repeated, Runs, Source, as_run, read
from metrics.runs.columns import ColumnChoice, recognise
from metrics.runs.files import BLOCK, MAX_LINE
from metrics.runs.formats.delimited import is_table
from metrics.runs.formats.format import Head
from metrics.runs.formats.json_records import DOCUMENT_ARRAYS, leaf_fields, parse
from metrics.scale.stream import QueryJudgments, split_by_reranker

LineShape = Literal["table", "trec", "jsonl"]
"""A table with a header line, TREC fields without a header, or a JSON record per line."""
MAX_LIST = 2**26
"""Maximum bytes of one list."""
_HEAD = 2**16
"""Bytes at the start of an overlong line that are searched for its query."""
_WHOLE_LIST, _COMMENT = object(), object()
"""Keys of a record that is a whole list, and of a comment line."""
_TREC_FIELDS = 6


ListLines: TypeAlias = list[tuple[int, bytes]]
"""The lines of one list, unparsed, with their numbers in the stream, from 1."""


class LineCutter:
    """Cuts a stream of lines into lists, and reads them."""

    def __init__(self, name: str, choice: ColumnChoice, shape: LineShape | None = None) -> None:
        self._name, self._choice, self._shape = name, choice, shape
        self._header: list[bytes] = []
        self._key_of: Callable[[bytes], object] | None = None
        self._rest, self._n_lines, self._size = b"", 0, 0
        self._open: ListLines = []
        self._key = object()
        self._refused_key, self._is_cut = object(), False

    def feed(self, data: bytes) -> Iterator[ListLines]:
        """Take the next bytes, and yield the lists that they complete.

        Raises:
            ReadError: a line or list is too long. It is left out; the stream goes on.
            UsageError: the header line has no query column.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._is_cut and lines:  # the end of an overlong line
            self._n_lines, self._is_cut = self._n_lines + 1, False
            del lines[0]
        for line in lines:
            yield from self._add(line.removesuffix(b"\r"))
        if self._is_cut:
            self._rest = b""
        elif len(self._rest) > MAX_LINE or self._size > MAX_LIST:
            yield from self._refuse_list()
            problem = (
                f"a line is larger than {MAX_LINE // 2**20} MB, or a list larger than {MAX_LIST // 2**20} MB"
            )
            raise ReadError(self._name, problem, "Write one line per document.", line=self._n_lines + 1)

    def _refuse_list(self) -> Iterator[ListLines]:
        """Drop a list that is too long and its further lines; yield the list before it if that is complete."""
        if len(self._rest) > MAX_LINE:
            key = self._key_of(self._rest[:_HEAD]) if self._key_of else None
            self._rest, self._is_cut = b"", True
            if key is not None and key != self._key:
                yield from self._close()
                self._key = key
        self._refused_key, self._open, self._size = self._key, [], 0

    def end(self) -> Iterator[ListLines]:
        """Yield the last list, if any."""
        last_line, self._rest = self._rest, b""
        if last_line.strip():
            yield from self._add(last_line)
        yield from self._close()

    def read(self, lists: Sequence[ListLines]) -> Source:
        """Read lists as if a file held only them; a ReadError names lines of the stream."""
        numbered = [*((1, line) for line in self._header), *chain.from_iterable(lists)]
        numbers, lines = [number for number, _ in numbered], [line for _, line in numbered]

        def number_of(line: int) -> int:
            return numbers[min(line, len(numbers)) - 1]

        try:
            file = File(self._name, b"\n".join([*lines, b""]))
            source = read(file, self._choice.columns, strict=False, missing_score=self._choice.missing_score)
        except ReadError as error:
            line = None if error.line is None else number_of(error.line)
            raise ReadError(error.file, error.problem, error.hint, line=line, unit=error.unit) from error
        line_of = source.origin.line_of
        origin = replace(source.origin, line_of=lambda row: number_of(line_of(row)))
        return replace(source, origin=origin)

    def _add(self, line: bytes) -> Iterator[ListLines]:
        """Take a line, and yield the lists that it completes."""
        self._n_lines += 1
        if not line.strip():
            yield from self._close()
            self._refused_key = object()
            return
        if self._key_of is None:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._key_of = self._recognise(line)
            if self._header:
                return
        key = self._key_of(line)
        if key is _COMMENT or key == self._refused_key:
            return
        self._refused_key = object() if key is not None else self._refused_key
        if key is not None and (key != self._key or key is _WHOLE_LIST):
            yield from self._close()
            self._key = key
        is_loose = key is None and not self._open
        self._open.append((self._n_lines, line))
        self._size += len(line)
        if key is _WHOLE_LIST or is_loose:
            yield from self._close()

    def _close(self) -> Iterator[ListLines]:
        complete_list, self._open, self._key, self._size = self._open, [], object(), 0
        if complete_list:
            yield complete_list

    def _recognise(self, line: bytes) -> Callable[[bytes], object]:
        """Return a function that finds the query of a line, None if it has none; keep a header line."""
        head = Head(File(self._name, line + b"\n"))
        shape = self._shape or ("jsonl" if head.is_json else "table" if is_table(head) else "trec")
        if shape == "jsonl":
            return self._key_of_record
        if shape == "trec":
            return self._key_of_fields
        columns = recognise(head.header, replace(self._choice, strict=False).among(head.header))
        delimiter, query = head.delimiter, columns.get("query_id")
        if query is None:
            names = ", ".join(head.header)
            raise UsageError(
                f"{self._name}: there is no query_id column among {names}. Begin with a header line."
            )
        self._header, place = [line], head.header.index(query)

        def key_of_row(text: bytes) -> object:
            try:
                fields = next(csv.reader([text.decode("utf-8", "replace")], delimiter=delimiter), [])
            except csv.Error:  # such as an overlong field, which reading reports
                return None
            return fields[place] if place < len(fields) else None

        return key_of_row

    @staticmethod
    def _key_of_fields(line: bytes) -> object:
        fields = line.split()
        is_comment = line.startswith(b"#") and len(fields) != _TREC_FIELDS
        return _COMMENT if is_comment else fields[0]

    def _key_of_record(self, line: bytes) -> object:
        """Return the query of a JSON record, `_WHOLE_LIST` if it holds documents, None if it is not JSON."""
        try:
            record = parse(File(self._name, line), line)
        except ReadError:
            return None
        if not isinstance(record, dict):
            return None
        leaves = dict(leaf_fields(record))
        if any(_holds_documents(name, value) for name, value in leaves.items()):
            return _WHOLE_LIST
        header = list(leaves)
        query = recognise(header, replace(self._choice, strict=False).among(header)).get("query_id")
        return _WHOLE_LIST if query is None else str(leaves[query])


def _holds_documents(name: str, value: object) -> bool:
    return isinstance(value, list) and (
        name in DOCUMENT_ARRAYS or (bool(value) and all(isinstance(entry, dict) for entry in value))
    )


Waiting = Callable[[], AbstractContextManager[object]]
"""Context of a wait, in which an interrupt can end it at once."""


@dataclass(frozen=True)
class Arrival:
    """Lists that have arrived, read when they are scored.

    Attributes:
        source: reads them.
        parts: each list on its own, in case one cannot be read.
        refuse: called if they cannot be read; a changed file is then read again.
    """

    source: Callable[[], Source]
    parts: tuple["Arrival", ...] = ()
    refuse: Callable[[], object] = lambda: None


Feed = Iterable[list[Arrival]]
"""The lists that are new at each look; the wait before the next look lasts at most a given time."""


_UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", ".swp", "~")
"""Name endings of files in the making; so are names that start with a dot."""
_MAX_MISSING = 100_000
"""Most files that are remembered after they left the folder."""
Signature = tuple[int, int, int]
"""Size, modification time and inode number of a file."""


class FolderFeed:
    """Gives each file of a folder once it is complete: not empty, and unchanged between two looks.

    A file that could not be read is given again when it changes. The lists of a file that was read count once,
    even if the file changes or disappears and comes back. It polls, because network drives send no notices.
    """

    def __init__(
        self,
        folder: Path,
        read: Callable[[File], Source],
        report: Callable[[str], None],
        every: float,
        *,
        qrels: Path | None = None,
        waiting: Waiting = nullcontext,
    ) -> None:
        """Open a folder, to look into it again and again after so many seconds.

        Raises:
            UsageError: there is no such folder, or it cannot be read.
        """
        self._folder, self._read, self._report = folder, read, report
        self._every, self._waiting = every, waiting
        self._left_out = qrels and qrels.resolve()
        self._seen: dict[str, Signature] = {}  # at the last look
        self._given: dict[str, Signature] = {}
        self._refused: dict[str, Signature] = {}  # could not be read
        self._missing: dict[str, Signature] = {}  # given, then gone, the longest first
        self._reported: set[str] = set()  # changed after they were given
        self._is_readable = True
        try:
            self._signatures()
        except OSError as error:
            raise UsageError(
                f"{folder}: {error.strerror or error}. Name a folder, or - for standard input."
            ) from error

    def __iter__(self) -> Iterator[list[Arrival]]:
        """Yield the files that are complete at each look, oldest first."""
        while True:
            yield self._look()
            with self._waiting():
                sleep(self._every)

    def _look(self) -> list[Arrival]:
        try:
            signatures = self._signatures()
        except OSError as error:
            if self._is_readable:
                self._report(
                    f"{self._folder}: {error.strerror or error}. TieScope waits until the folder is back."
                )
            self._is_readable = False
            return []
        self._is_readable = True
        gone = [name for name in self._given if name not in signatures]
        self._missing |= {name: self._given.pop(name) for name in gone}
        for name in [*self._missing][: max(len(self._missing) - _MAX_MISSING, 0)]:
            del self._missing[name]
            self._reported.discard(name)
        self._refused = {name: last for name, last in self._refused.items() if name in signatures}
        by_time = sorted(signatures.items(), key=lambda entry: (entry[1][1], entry[0]))
        arrivals = [self._arrival(*entry) for entry in by_time if self._is_whole(*entry)]
        self._seen = signatures
        return arrivals

    def _signatures(self) -> dict[str, Signature]:
        """Return name → signature of the files that are not empty."""
        signatures = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                is_unfinished = entry.name.startswith(".") or entry.name.lower().endswith(_UNFINISHED)
                try:
                    if is_unfinished or not entry.is_file():
                        continue
                    if self._left_out and Path(entry.path).resolve() == self._left_out:
                        continue
                    status = entry.stat()
                except OSError:  # it has gone, or is a link to itself
                    continue
                if status.st_size:
                    signatures[entry.name] = (status.st_size, status.st_mtime_ns, status.st_ino)
        return signatures

    def _is_whole(self, name: str, signature: Signature) -> bool:
        """Tell whether a new file is unchanged since the last look; report a change after reading."""
        if self._missing.get(name) == signature:
            self._given[name] = self._missing.pop(name)
        elif name in self._given:
            if self._given[name] != signature and name not in self._reported:
                self._reported.add(name)
                self._report(
                    f"{name} changed after it was read; TieScope ignores the changes. Write a file under "
                    "another name, and rename it when it is complete."
                )
        else:
            return self._refused.get(name) != signature == self._seen.get(name)
        return False

    def _arrival(self, name: str, signature: Signature) -> Arrival:
        self._given[name] = signature
        self._missing.pop(name, None)
        self._reported.discard(name)

        def refuse() -> None:
            self._given.pop(name, None)
            self._refused[name] = signature

        return Arrival(lambda: self._read(File.open(self._folder / name)), refuse=refuse)


_LISTS = 256
"""Maximum number of lists read together."""


def line_feed(
    stream: RawIOBase,
    cutter: LineCutter,
    report: Callable[[str], None],
    every: float,
    waiting: Waiting = nullcontext,
) -> Iterator[list[Arrival]]:
    """Yield the lists of a stream, several at a time if they arrive faster than they are scored."""

    def arrival(lists: list[ListLines]) -> Arrival:
        parts = tuple(Arrival(partial(cutter.read, [entry])) for entry in lists)
        return Arrival(partial(cutter.read, lists), parts) if len(parts) > 1 else parts[0]

    has_ended = False
    while not has_ended:
        with waiting():
            is_ready = select([stream], [], [], every)[0]
        lists: list[ListLines] = []
        if is_ready:
            data = os.read(stream.fileno(), BLOCK)
            has_ended = not data
            try:
                for entry in cutter.feed(data) if data else cutter.end():
                    lists.append(entry)  # noqa: PERF402 those before a line that is refused are whole
            except ReadError as error:
                report(f"{error} TieScope skips this input.")
        yield [arrival(lists[start : start + _LISTS]) for start in range(0, len(lists), _LISTS)]


CHANCE = 0.01
"""Chance of ever reporting a change of a reranker and measure if there is none."""
FIRST_LOOK, GROWTH = 20, 1.1
"""Lists before the first look for a change, and how much their number grows until the next look."""


class NewChange(NamedTuple):
    """A change that was not reported before."""

    reranker: str
    measure: str
    change: Change


@dataclass
class _Looks:
    """For a reranker and measure: the lists before the last change, and the looks since."""

    n_before: int = 0
    n_looks: int = 0
    next_look: int = FIRST_LOOK


class ChangeWatch:
    """Looks for changes as lists arrive.

    Repeated looks would find a change by chance sooner or later. So the number of lists grows by a tenth
    between two looks, and the k-th look may use CHANCE / (k (k + 1)) of the chance of a false alarm; all looks
    together use CHANCE. After a change, only the lists since count, and the looks begin again.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._looks: dict[tuple[str, str], _Looks] = {}

    def new_changes(self) -> list[NewChange]:
        """Return the new changes that neither ties nor chance explain."""
        changes = []
        for reranker, n_lists in self._running.n_lists.items():
            for measure in self._running.measures:
                looks = self._looks.setdefault((reranker, measure), _Looks())
                if n_lists - looks.n_before < looks.next_look:
                    continue
                looks.n_looks += 1
                looks.next_look = ceil(GROWTH * (n_lists - looks.n_before))
                change = self._running.change(reranker, measure, after=looks.n_before)
                limit = CHANCE / (looks.n_looks * (looks.n_looks + 1))
                if change is not None and change.is_beyond_ties and change.p <= limit:
                    changes.append(NewChange(reranker, measure, change))
                    self._looks[reranker, measure] = _Looks(n_lists - change.n_after)
        return changes


MAX_RERANKERS = 200
"""Maximum number of rerankers whose lists are kept."""


class LiveScores:
    """Scores arriving lists.

    Attributes:
        running: the scores so far.
        unjudged: reranker → number of its lists without judgments, which do not count.
        version: changes whenever lists are added.
    """

    def __init__(
        self,
        running: Callable[[Runs], Running],
        judgments: Source | None,
        repeated: Repeated,
        name: str | None,
        report: Callable[[str], None],
    ) -> None:
        """Read the judgments.

        Raises:
            ReadError: a document is judged twice.
        """
        self._make, self._repeated, self._name, self._report = running, repeated, name, report
        self._judged = None if judgments is None else QueryJudgments.of(judgments, repeated)
        self._known_codes: set[str] = set()
        self.running: Running | None = None
        self.unjudged: Counter[str] = Counter()
        self.version = 0

    def add(self, arrival: Arrival) -> None:
        """Score new lists; if they cannot be read, one by one, and report those left out."""
        try:
            source = replace(as_run(arrival.source()), name=self._name)
            lists, noted = split_by_reranker(source, self._judged, self._repeated)
            if self.running is None:
                self.running = self._make(lists[0][0])
            self._refuse_many([stats.name for _, rerankers in lists for stats in rerankers])
            for runs, rerankers in lists:
                self.running.add(runs, at=monotonic())
                for stats in rerankers:
                    self.unjudged[stats.name] += (stats.n_queries - len(stats.places)) * bool(self._judged)
            self.version += 1
        except TieScopeError as error:
            if not arrival.parts:
                self._report(f"{error} TieScope skips this input.")
                arrival.refuse()
            for part in arrival.parts:
                self.add(part)
            return
        for finding in noted:
            if finding.code not in self._known_codes:
                self._known_codes.add(finding.code)
                self._report(f"{finding.severity} · {finding.file} · {finding.message} {finding.hint}")

    def _refuse_many(self, names: Sequence[str]) -> None:
        known_names = {*self.running.n_lists} if self.running else set()
        if len(known_names.union(names)) > MAX_RERANKERS:
            raise UsageError(
                f"{names[0]}: there are more than {MAX_RERANKERS} rerankers. Give all lists the same "
                "reranker name: NAME=PATH."
            )
