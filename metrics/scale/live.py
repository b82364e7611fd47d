"""Lists scored as they arrive: files that come to a folder, or lines on standard input."""

import csv
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from io import RawIOBase
from math import ceil
from pathlib import Path
from select import select
from time import monotonic, sleep
from typing import Literal, NamedTuple, Protocol

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.evaluation import ScoringOptions
from metrics.evaluation.running import Change, Running
from metrics.runs import File, Repeated, Runs, Source, as_run, read
from metrics.runs.columns import ColumnChoice, recognise
from metrics.runs.files import BLOCK, MAX_LINE
from metrics.runs.formats.delimited import is_table
from metrics.runs.formats.format import Head
from metrics.runs.formats.json_records import DOCUMENT_ARRAYS, leaf_fields, parse
from metrics.scale.stream import QueryJudgments, split_by_reranker

LineShape = Literal["table", "trec", "jsonl"]
"""A table whose first line is its header, fields without a header, or a JSON record a line."""
MAX_LIST = 2**26
"""Most bytes of one list."""
_HEAD = 2**16
"""Bytes of a line that is too long in which its query is looked for."""
_WHOLE_LIST, _COMMENT = object(), object()
"""Keys of a record that is a whole list, and of a line that is no row."""
_TREC_FIELDS = 6


@dataclass(frozen=True)
class ListLines:
    """The lines of one list.

    Attributes:
        lines: as they came.
        numbers: number of each line, the first of all 1.
    """

    lines: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


class LineCutter:
    """Cuts what is written to a stream into lists, and reads these."""

    def __init__(self, name: str, choice: ColumnChoice, shape: LineShape | None = None) -> None:
        """Begin a stream."""
        self._name, self._choice, self._shape = name, choice, shape
        self._header: list[bytes] = []
        self._key_of: Callable[[bytes], object] | None = None
        self._rest, self._n_lines, self._size = b"", 0, 0
        self._open, self._key = ListLines(), object()
        self._refused_key, self._is_cut = object(), False

    def feed(self, data: bytes) -> Iterator[ListLines]:
        """Take the next bytes, and yield the lists that they end.

        Raises:
            ReadError: a line or list is too long. It is left out; the stream goes on.
            UsageError: the first line is to name the columns, and names no query.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._is_cut and lines:  # the end of a line that was too long
            self._n_lines, self._is_cut = self._n_lines + 1, False
            del lines[0]
        for line in lines:
            yield from self._add(line.removesuffix(b"\r"))
        if self._is_cut:
            self._rest = b""
        elif len(self._rest) > MAX_LINE or self._size > MAX_LIST:
            yield from self._refuse_list()
            problem = (
                f"a line of more than {MAX_LINE // 2**20} MB, or a list of more than {MAX_LIST // 2**20} MB"
            )
            raise ReadError(
                self._name, problem, "Begin a line for each document of a list.", line=self._n_lines + 1
            )

    def _refuse_list(self) -> Iterator[ListLines]:
        """Forget the list that is too long, and its further lines; yield the one before where it is whole."""
        if len(self._rest) > MAX_LINE:
            key = self._key_of(self._rest[:_HEAD]) if self._key_of else None
            self._rest, self._is_cut = b"", True
            if key is not None and key != self._key:
                yield from self._close()
                self._key = key
        self._refused_key, self._open, self._size = self._key, ListLines(), 0

    def end(self) -> Iterator[ListLines]:
        """Yield the last list, if there is one."""
        last_line, self._rest = self._rest, b""
        if last_line.strip():
            yield from self._add(last_line)
        yield from self._close()

    def read(self, lists: Sequence[ListLines]) -> Source:
        """Read lists, as a file that holds them alone would be; a ReadError names lines of the stream."""
        lines = [*self._header, *(line for entry in lists for line in entry.lines)]
        numbers = [1] * len(self._header) + [number for entry in lists for number in entry.numbers]

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
        """Take a line, and yield the lists that it ends."""
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
        is_loose = key is None and not self._open.lines
        self._open.lines.append(line)
        self._open.numbers.append(self._n_lines)
        self._size += len(line)
        if key is _WHOLE_LIST or is_loose:
            yield from self._close()

    def _close(self) -> Iterator[ListLines]:
        """Yield the list whose lines were taken, if there are any."""
        complete_list, self._open, self._key, self._size = self._open, ListLines(), object(), 0
        if complete_list.lines:
            yield complete_list

    def _recognise(self, line: bytes) -> Callable[[bytes], object]:
        """Return what tells the query of a line, None where it cannot; keep a header."""
        head = Head(File(self._name, line + b"\n"))
        shape = self._shape or ("jsonl" if head.is_json else "table" if is_table(head) else "trec")
        if shape == "jsonl":
            return self._key_of_record
        if shape == "trec":
            return self._key_of_fields
        columns = recognise(head.header, replace(self._choice, strict=False).among(head.header))
        delimiter, query = head.layout.delimiter, columns.get("query_id")
        if query is None:
            names = ", ".join(head.header)
            raise UsageError(
                f"{self._name}: no query_id column among {names}. Begin with a line that names the columns."
            )
        self._header, place = [line], head.header.index(query)

        def key_of_row(text: bytes) -> object:
            try:
                fields = next(csv.reader([text.decode("utf-8", "replace")], delimiter=delimiter), [])
            except csv.Error:  # such as a field that is too long: reading says what is wrong
                return None
            return fields[place] if place < len(fields) else None

        return key_of_row

    @staticmethod
    def _key_of_fields(line: bytes) -> object:
        fields = line.split()
        is_comment = line.startswith(b"#") and len(fields) != _TREC_FIELDS
        return _COMMENT if is_comment else fields[0]

    def _key_of_record(self, line: bytes) -> object:
        """Return the query of a JSON record, `_WHOLE_LIST` where it holds documents, None for no JSON."""
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
    """Return whether a field of a record is an array of documents."""
    return isinstance(value, list) and (
        name in DOCUMENT_ARRAYS or (bool(value) and all(isinstance(entry, dict) for entry in value))
    )


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


CHANCE = 0.01
"""Chance that a change is told of a reranker and measure, ever, where nothing changes."""
FIRST_LOOK, GROWTH = 20, 1.1
"""Lists at which a change is looked for first, and how many times as many there are at the next look."""


class NewChange(NamedTuple):
    """A change that was not told yet."""

    reranker: str
    measure: str
    change: Change


@dataclass
class _Looks:
    """Of a reranker and measure: lists before the last change; since, how often and when to look."""

    n_before: int = 0
    n_looks: int = 0
    next_look: int = FIRST_LOOK


class ChangeWatch:
    """Looks for changes as lists come.

    Who looks again and again finds something in the end. So looks are as far apart as lists grow by a tenth,
    and the k-th takes CHANCE / (k (k + 1)) of the chance of a false alarm; all of them together take CHANCE.
    After a change, lists before it are left out, and looks begin again.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._looks: dict[tuple[str, str], _Looks] = {}

    def new_changes(self) -> list[NewChange]:
        """Return the changes that are beyond ties and beyond chance, and were not returned before."""
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
"""Rerankers whose lists are kept, at most."""


class LiveScores:
    """Scores what arrives.

    Attributes:
        running: what was scored.
        unjudged: reranker → its lists that no judgment is about, and that do not count.
        version: a number that is another one after each list that counts.
    """

    def __init__(
        self,
        running: Callable[[Runs], Running],
        judgments: Source | None,
        repeated: Repeated,
        name: str | None,
        say: Callable[[str], None],
    ) -> None:
        """Begin.

        Raises:
            ReadError: a document is judged twice.
        """
        self._make, self._repeated, self._name, self._say = running, repeated, name, say
        self._judged = None if judgments is None else QueryJudgments.of(judgments, repeated)
        self._known_codes: set[str] = set()
        self.running: Running | None = None
        self.unjudged: Counter[str] = Counter()
        self.version = 0

    def add(self, arrival: Arrival) -> None:
        """Score what has come; where it cannot be read, list by list, and say which was left out."""
        try:
            source = arrival.read(self._name)
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
                self._say(f"{error} Left out.")
                arrival.refuse()
            for part in arrival.parts:
                self.add(part)
            return
        for finding in noted:
            if finding.code not in self._known_codes:
                self._known_codes.add(finding.code)
                self._say(f"{finding.severity} · {finding.file} · {finding.message} {finding.hint}")

    def _refuse_many(self, names: Sequence[str]) -> None:
        known_names = {*self.running.n_lists} if self.running else set()
        if len(known_names.union(names)) > MAX_RERANKERS:
            raise UsageError(
                f"{names[0]}: more than {MAX_RERANKERS} rerankers. NAME=PATH gives all lists one name."
            )


def running_for(measures: Sequence[str], traditional: str, options: ScoringOptions, keep: int) -> Running:
    """Return what scores lists by options made already; arguments as of `Running`.

    Raises:
        UsageError: a name that does not exist.
    """
    scoring = {name: value for name, value in vars(options).items() if name != "missing"}
    return Running(measures, traditional, keep=keep, **scoring)
