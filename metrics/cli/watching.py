"""Commands that score lists as they come: watch."""

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from math import ceil, inf, isfinite
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Annotated, Any

import typer

from metrics.cli.file_options import NAME_HELP, FileUse, NamedPath, Qrels, parse_run
from metrics.cli.messages import say, say_policies, traditional_order
from metrics.cli.options import Measures, ReadingOptions, Traditional, with_shared_options
from metrics.cli.output import print_text, write_table
from metrics.errors import UsageError
from metrics.evaluation import DEFAULT_MEASURES, ScoringOptions
from metrics.evaluation.running import HALF_LIVES, Running
from metrics.runs import File, Runs, as_judgments, files, read
from metrics.runs.columns import ColumnChoice
from metrics.scale.live import (
    ChangeWatch,
    Feed,
    FolderFeed,
    LineCutter,
    LineFeed,
    LiveScores,
    NewChange,
    running_for,
)
from metrics.support.escaping import clean
from metrics.support.wording import count_of, describe_part


class LiveTable:
    """Prints the means of what was scored, and each change once."""

    def __init__(self, running: Running, window: Mapping[str, Any], *, as_json: bool) -> None:
        """Take what was scored, the window of its means and its width, and whether programs read them."""
        self._running, self._window, self._as_json = running, window, as_json
        self._changes = ChangeWatch(running)

    def write(self) -> None:
        """Print the means as they are now, and the changes that are new; who reads a pipe has them at once."""
        means, changes = self._running.means(**self._window), self._changes.new_changes()
        now = datetime.now(UTC)
        if self._as_json:
            time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            rows = [{"kind": "means", "time": time, **self._window, **row} for row in means.to_dict("records")]
            rows += [
                {"kind": "change", "time": time, "reranker": name, "measure": measure, **vars(change)}
                for name, measure, change in changes
            ]
            print_text("".join(f"{json.dumps(_plain(row), ensure_ascii=False)}\n" for row in rows))
        else:
            n_lists = count_of(sum(self._running.n_lists.values()), "list")
            sys.stdout.write(f"{now.astimezone():%H:%M:%S} · {n_lists}{self._window_words()}\n")
            write_table(means, "table", None)
            sys.stdout.writelines(f"{clean(_change_sentence(change))}\n" for change in changes)
        sys.stdout.flush()

    def _window_words(self) -> str:
        words = {
            "last": "the last {:,.0f} of each reranker",
            "seconds": "those of the last {:,g} seconds",
            "halflife": "half the weight after {:,g} lists",
        }
        return "".join(f" · {words[name].format(width)}" for name, width in self._window.items())


def _plain(row: Mapping[str, object]) -> dict[str, object]:
    """Return what JSON can say: no number that is none."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()
    }


def _change_sentence(new: NewChange) -> str:
    """Say where a mean changed, from what to what, and what any order of ties would give."""
    change = new.change
    (low, high), (other_low, other_high) = change.before_bounds, change.after_bounds
    before, after = count_of(change.n_before, "list"), count_of(change.n_after, "list")
    return (
        f"Change · {new.reranker} · {new.measure} · from query {change.query_id} on: {change.before:.4f} → "
        f"{change.after:.4f} tied ({before} before, {after} since). Ties alone cannot explain it: any order of "
        f"them gives {low:.4f} to {high:.4f} before, {other_low:.4f} to {other_high:.4f} since."
    )


class Stop:
    """Ends a wait at once, and work between two steps of it; asked for again, at once."""

    def __init__(self) -> None:
        self._is_requested = self._is_waiting = False

    def raise_if_requested(self) -> None:
        """Raise a KeyboardInterrupt if there was an interrupt."""
        if self._is_requested:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let an interrupt inside come at once."""
        self._is_waiting = True
        try:
            self.raise_if_requested()
            yield
        finally:
            self._is_waiting = False

    def request(self, _signal: int, _frame: FrameType | None) -> None:
        """Take an interrupt."""
        is_repeated, self._is_requested = self._is_requested, True
        if self._is_waiting or is_repeated:
            raise KeyboardInterrupt


@contextmanager
def stop_at_interrupt() -> Iterator[Stop]:
    """Let the `Stop` that is yielded decide what an interrupt inside becomes."""
    stop = Stop()
    before = signal.signal(signal.SIGINT, stop.request)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


USUAL_WINDOW = 20_000
"""Lists of each reranker whose values are kept, where no window needs more; means of all lists need none."""

MAX_WINDOW = 10_000_000
"""Lists of each reranker whose values are kept, at most."""


class LineShape(StrEnum):
    """What lines of standard input are."""

    table = "table"
    trec = "trec"
    jsonl = "jsonl"


@with_shared_options
def watch_command(
    run: Annotated[
        NamedPath,
        typer.Argument(
            metavar="FOLDER|-",
            parser=parse_run,
            help="Folder that run files come to, or - for lines of standard input. A file is read when two "
            "looks find it the same; one that begins with a dot, or ends in .part or .tmp, is waited for. "
            f"{NAME_HELP}",
        ),
        FileUse.READ,
    ],
    qrels: Qrels = None,
    measure: Measures = None,
    traditional: Traditional = None,
    last: Annotated[
        int | None, typer.Option(min=1, max=MAX_WINDOW, help="Means of so many of the latest lists.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help=f"Means of lists that came so recently, of the last {USUAL_WINDOW:,}.")
    ] = None,
    halflife: Annotated[
        float | None,
        typer.Option(
            max=MAX_WINDOW // HALF_LIVES,
            help="A list weighs half as much as one that came so many lists later.",
        ),
    ] = None,
    lines: Annotated[
        LineShape | None,
        typer.Option(
            help="What lines of standard input are: a table whose first line names the columns, fields without "
            "a header, or a JSON record each; else as the first line shows."
        ),
    ] = None,
    every: Annotated[
        float,
        typer.Option(
            min=0.05, max=3600, help="Seconds between two looks at the folder, and between two tables."
        ),
    ] = 1.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each mean and each change.")
    ] = False,
    *,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Print running means as files arrive in a folder, or lines on standard input.

    A list of lines ends where the next query begins, at a blank line, or at the end.

    Judged queries that have not come do not count, whatever --missing says.

    What cannot be read is said on stderr and left out. Ctrl-C ends with the last table.
    """
    reading.in_parts()  # refuses what takes all rows of a run
    window: dict[str, Any] = {
        name: width
        for name, width in (("last", last), ("seconds", seconds), ("halflife", halflife))
        if width is not None
    }
    keep = max(USUAL_WINDOW, last or 0, ceil(HALF_LIVES * (halflife or 0)))
    make_running = partial(running_for, measure or DEFAULT_MEASURES, options=scoring, keep=keep)
    make_running(traditional or "input").means(**window)  # refuses what does not exist before it waits
    judgments = None
    if qrels is not None:
        source = read(File.open(qrels), reading.columns, strict=False, missing_score=reading.missing_score)
        judgments = as_judgments(source)

    def first(runs: Runs) -> Running:
        return make_running(traditional_order(runs, traditional))

    scores = LiveScores(first, judgments, reading.repeated, run.name, say)
    with ExitStack() as closing, stop_at_interrupt() as stop:
        feed = _open_feed(run.path, qrels, lines, reading, stop, closing)
        make_table = partial(LiveTable, window=window, as_json=as_json)
        _follow(feed, scores, _Tables(scores, make_table, every), stop)


def _open_feed(
    path: str,
    qrels: Path | None,
    lines: LineShape | None,
    reading: ReadingOptions,
    stop: Stop,
    closing: ExitStack,
) -> Feed:
    """Return what gives the lists of a folder, or of standard input.

    Raises:
        UsageError: there is no such folder, or lines are chosen for one.
    """
    if path == "-":
        stream = closing.enter_context(files.STDIN.open("rb", buffering=0))
        choice = ColumnChoice(reading.columns, strict=False, missing_score=reading.missing_score)
        cutter = LineCutter("stdin", choice, None if lines is None else lines.value)
        return LineFeed(stream, cutter, say, stop.waiting)
    if lines is not None:
        raise UsageError("--lines goes with -, standard input; files of a folder say themselves what they are.")
    read_file = partial(read, columns=reading.columns, strict=False, missing_score=reading.missing_score)
    return FolderFeed(Path(path), read_file, say, qrels=qrels, waiting=stop.waiting)


def _follow(feed: Feed, scores: LiveScores, tables: "_Tables", stop: Stop) -> None:
    """Score what comes until nothing will, or an interrupt."""
    try:
        while (arrivals := feed.wait(tables.every)) is not None:
            for arrival in arrivals:
                scores.add(arrival)
                stop.raise_if_requested()
                tables.write_if_due()
            tables.write_if_due()
    except KeyboardInterrupt:
        pass
    tables.write_last()


class _Tables:
    """Prints tables of what is scored, where there is something new, and not too often."""

    def __init__(self, scores: LiveScores, make_running: Callable[[Running], LiveTable], every: float) -> None:
        self.every, self._scores, self._make = every, scores, make_running
        self._table: LiveTable | None = None
        self._version, self._written_at = 0, -inf

    def write_if_due(self) -> None:
        """Print a table if there is something new, and the last one is long enough ago."""
        if monotonic() - self._written_at >= self.every:
            self._write_news()

    def write_last(self) -> None:
        """Print what was not printed yet, and say what did not count."""
        self._write_news()
        if self._scores.running is None:
            say("No list was scored.")
            return
        counts = self._scores.running.n_lists
        for name, n_unjudged in self._scores.unjudged.items():
            if n_unjudged:
                part = describe_part(n_unjudged, counts[name] + n_unjudged, "list", "have no judgments")
                say(f"{name}: {part}, left out.")
        say_policies(self._scores.running.policies, self._scores.running.options)

    def _write_news(self) -> None:
        running = self._scores.running
        if running is None or self._scores.version == self._version:
            return
        self._table = self._table or self._make(running)
        self._table.write()
        self._version, self._written_at = self._scores.version, monotonic()
