"""The command that scores lists as they arrive: watch."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from math import ceil, inf, isfinite
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from metrics.cli import options
from metrics.cli.messages import say, say_policies, traditional_order
from metrics.errors import UsageError
from metrics.support.escaping import clean
from metrics.support.wording import count_of, describe_part

if TYPE_CHECKING:
    from metrics.evaluation import ScoringOptions
    from metrics.runs import Runs
    from metrics.scale.live import ChangeWatch, Feed, LiveScores, NewChange

WINDOW = 20_000
"""Lists of each reranker whose values are kept, unless the window needs more; means of all lists need none."""
MAX_WINDOW = 10_000_000
MAX_HALF_LIFE = 188_679
"""The half-life whose `metrics.evaluation.running.HALF_LIVES` fill the largest window."""


class _Stop:
    """Turns Ctrl-C into a KeyboardInterrupt between two steps of work, at once in a wait or the second time."""

    def __init__(self) -> None:
        self._is_requested = self._is_waiting = False

    def raise_if_requested(self) -> None:
        """Raise a KeyboardInterrupt after Ctrl-C."""
        if self._is_requested:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let Ctrl-C end the wait inside at once."""
        self._is_waiting = True
        try:
            self.raise_if_requested()
            yield
        finally:
            self._is_waiting = False

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Handle Ctrl-C inside."""
        before = signal.signal(signal.SIGINT, self._request)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _request(self, _signal: int, _frame: FrameType | None) -> None:
        is_repeated, self._is_requested = self._is_requested, True
        if self._is_waiting or is_repeated:
            raise KeyboardInterrupt


@options.with_shared_options
def watch_command(
    run: Annotated[
        options.NamedPath,
        options.run_argument(
            "Folder to which run files are added, or - for lines of standard input. A file is read when two "
            "checks find the same size and modification time. Files that start with a dot or end in "
            ".part or .tmp are skipped until they are renamed.",
            "FOLDER|-",
        ),
        options.FileUse.READ,
    ],
    qrels: options.Qrels = None,
    measure: options.Measures = None,
    traditional: options.Traditional = None,
    last: Annotated[int | None, Option(min=1, max=MAX_WINDOW, help="Average over the latest N lists.")] = None,
    seconds: Annotated[
        float | None,
        Option(help=f"Average over the lists of the last N seconds (at most {WINDOW:,} lists)."),
    ] = None,
    halflife: Annotated[
        float | None,
        Option(
            max=MAX_HALF_LIFE, help="Average over all lists; a list's weight halves with every N newer lists."
        ),
    ] = None,
    lines: Annotated[
        Literal["table", "trec", "jsonl"] | None,
        Option(
            help="Format of standard input: a table with a header line, TREC fields without a header, or a "
            "JSON record per line (default: from the first line)."
        ),
    ] = None,
    every: Annotated[
        float,
        Option(
            min=0.05,
            max=3600,
            help="Seconds between checks of the folder, and minimum seconds between printed tables.",
        ),
    ] = 1.0,
    as_json: Annotated[bool, Option("--json", help="Print means and changes as lines of JSON.")] = False,
    *,
    reading: options.ReadingOptions,
    scoring: "ScoringOptions",
) -> None:
    """Print running means as files arrive in a folder, or lines on standard input.

    A list on standard input ends when the query changes, at a blank line, or at the end of the input.

    Judged queries that have not arrived do not count, whatever --missing says.

    Unreadable lists are reported on stderr and left out. Ctrl-C prints the last table and ends.
    """
    from metrics.evaluation import DEFAULT_MEASURES
    from metrics.evaluation.running import HALF_LIVES, Running
    from metrics.runs import File, as_judgments, files, read
    from metrics.runs.columns import ColumnChoice
    from metrics.scale.live import FolderFeed, LineCutter, LiveScores, line_feed

    window: dict[str, Any] = {"last": last, "seconds": seconds, "halflife": halflife}
    window = {name: width for name, width in window.items() if width is not None}
    keep = max(WINDOW, last or 0, ceil(HALF_LIVES * (halflife or 0)))
    choices: dict[str, Any] = {name: value for name, value in vars(scoring).items() if name != "missing"}

    def running(order: str) -> Running:
        return Running(measure or DEFAULT_MEASURES, order, keep=keep, **choices)

    running(traditional or "input").means(**window)  # refuses unknown names before it waits
    read_file = partial(read, columns=reading.columns, strict=False, missing_score=reading.missing_score)
    judgments = as_judgments(read_file(File.open(qrels))) if qrels else None

    def first_running(runs: "Runs") -> Running:
        return running(traditional_order(runs, traditional))

    scores = LiveScores(first_running, judgments, reading.repeated, run.name, say)
    stop = _Stop()
    with ExitStack() as closing, stop.handling():
        feed: Feed
        if run.path == "-":
            stream = closing.enter_context(files.STDIN.open("rb", buffering=0))
            choice = ColumnChoice(reading.columns, strict=False, missing_score=reading.missing_score)
            feed = line_feed(stream, LineCutter("stdin", choice, lines), say, every, stop.waiting)
        elif lines is not None:
            raise UsageError("--lines needs - (standard input). TieScope detects the format of files.")
        else:
            feed = FolderFeed(Path(run.path), read_file, say, every, qrels=qrels, waiting=stop.waiting)
        _follow(feed, scores, _Tables(scores, window, every, as_json=as_json), stop)


def _follow(feed: "Feed", scores: "LiveScores", tables: "_Tables", stop: _Stop) -> None:
    try:
        for arrivals in feed:
            for arrival in arrivals:
                scores.add(arrival)
                stop.raise_if_requested()
                tables.write_if_due()
            tables.write_if_due()
    except KeyboardInterrupt:
        pass
    tables.write_last()


class _Tables:
    """Prints the means of the scored lists if there are new ones, and each change once."""

    def __init__(self, scores: "LiveScores", window: Mapping[str, Any], every: float, *, as_json: bool) -> None:
        self._every, self._scores, self._window, self._as_json = every, scores, window, as_json
        self._changes: ChangeWatch | None = None
        self._version, self._written_at = 0, -inf

    def write_if_due(self) -> None:
        """Print a table if there is something new, and the last table is old enough."""
        if monotonic() - self._written_at >= self._every:
            self._write_news()

    def write_last(self) -> None:
        """Print the last table, and report the lists that did not count."""
        self._write_news()
        running = self._scores.running
        if running is None:
            say("No list was scored.")
            return
        for name, n_unjudged in self._scores.unjudged.items():
            if n_unjudged:
                n_lists = running.n_lists[name] + n_unjudged
                say(f"{name}: {describe_part(n_unjudged, n_lists, 'list', 'have no judgments')}, left out.")
        say_policies(running.policies, running.options)

    def _write_news(self) -> None:
        from metrics.cli.output import print_text, write_table
        from metrics.scale.live import ChangeWatch

        running = self._scores.running
        if running is None or self._scores.version == self._version:
            return
        self._changes = self._changes or ChangeWatch(running)
        means, changes = running.means(**self._window), self._changes.new_changes()
        now = datetime.now(UTC)
        if self._as_json:
            time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            rows = [{"kind": "means", "time": time, **self._window, **row} for row in means.to_dict("records")]
            rows += [
                {"kind": "change", "time": time, "reranker": name, "measure": measure, **vars(change)}
                for name, measure, change in changes
            ]
            print_text("".join(f"{json.dumps(_for_json(row), ensure_ascii=False)}\n" for row in rows))
        else:
            n_lists = count_of(sum(running.n_lists.values()), "list")
            widths = "".join(f" · {_WINDOWS[name].format(width)}" for name, width in self._window.items())
            sys.stdout.write(f"{now.astimezone():%H:%M:%S} · {n_lists}{widths}\n")
            write_table(means, "table", None)
            sys.stdout.writelines(f"{clean(_change_sentence(change))}\n" for change in changes)
        sys.stdout.flush()  # a pipe gets each table at once
        self._version, self._written_at = self._scores.version, monotonic()


_WINDOWS = {
    "last": "means over the last {:,.0f} lists of each reranker",
    "seconds": "means over the last {:,g} seconds",
    "halflife": "weighted means; the weight of a list halves with every {:,g} newer lists",
}


def _for_json(row: Mapping[str, object]) -> dict[str, object]:
    return {key: None if isinstance(cell, float) and not isfinite(cell) else cell for key, cell in row.items()}


def _change_sentence(new: "NewChange") -> str:
    change = new.change
    (low, high), (later_low, later_high) = change.before_bounds, change.after_bounds
    before, after = count_of(change.n_before, "list"), count_of(change.n_after, "list")
    return (
        f"Change · {new.reranker} · {new.measure} · from query {change.query_id}: {change.before:.4f} → "
        f"{change.after:.4f} tied ({before} before, {after} since). Ties alone cannot explain the change: "
        f"over all tie orders, the mean was between {low:.4f} and {high:.4f} before the change, and between "
        f"{later_low:.4f} and {later_high:.4f} after it."
    )
