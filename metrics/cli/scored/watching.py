"""Commands that score lists as they come: watch."""

from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from functools import partial
from math import ceil, inf
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from metrics.cli.messages import say, say_policies, traditional_order
from metrics.cli.options.files import NAME_HELP, FileUse, NamedPath, Qrels, parse_run
from metrics.cli.options.reading import ReadingOptions
from metrics.cli.options.shared import Measures, Traditional, with_shared_options
from metrics.cli.scored.live_table import LiveTable
from metrics.cli.scored.stopping import Stop, stop_at_interrupt
from metrics.errors import UsageError
from metrics.evaluation import DEFAULT_MEASURES, ScoringOptions
from metrics.evaluation.running import HALF_LIVES, Running
from metrics.runs import File, Runs, as_judgments, read
from metrics.runs.reading import files
from metrics.runs.reading.columns import ColumnChoice
from metrics.scale.live.arrival import Feed
from metrics.scale.live.folder import FolderFeed
from metrics.scale.live.lines import LineCutter
from metrics.scale.live.scores import LiveScores, running_for
from metrics.scale.live.stream import LineFeed
from metrics.support.wording import describe_part

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

    Args:
        path: of the folder, or -.
        qrels: the judgments, which may be in the folder.
        lines: what lines are, where this is chosen.
        reading: how files are read.
        stop: what an interrupt is told to.
        closing: closes in the end what is opened here.

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
