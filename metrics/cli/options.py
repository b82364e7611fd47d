"""Options that commands share: how files are read, how lists are scored, what is written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import pandas as pd
import typer

from metrics.cli.file_options import FileUse, NamedPath, output_option
from metrics.cli.messages import say
from metrics.cli.output import csv_rows, write_table
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, Policy, ScoringOptions, Unjudged
from metrics.runs import MissingScore as MissingScoreRule
from metrics.runs import Repeated as RepeatRule
from metrics.runs import Runs, read_runs
from metrics.runs.columns import SpreadKind
from metrics.runs.repeats import Repeats, parse_repeats
from metrics.runs.source import MAX_RERANKERS, allow_rerankers
from metrics.ties import PRECISIONS


class Repeated(StrEnum):
    """Refuse, keep the first row, or keep the highest."""

    error = "error"
    first = "first"
    max = "max"


class MissingScore(StrEnum):
    """Refuse, put the document last, or leave it out."""

    error = "error"
    last = "last"
    drop = "drop"


Options = TypeVar("Options", bound=Callable[..., object])
"""A function whose parameters are options of commands."""
_SPREAD: SpreadKind = "order"
"""What `score_std` of repeats is where nothing else is chosen."""
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Read a column of ours from one of the files', ours=theirs: query_id=topic, score=scores.llm "
        "(inside JSON); latency= leaves it out. Repeatable.",
    ),
]


@dataclass(frozen=True)
class ReadingOptions:
    """How files are read.

    Attributes:
        columns: our name → the name in the files.
        repeated: what is done about a document twice in one list.
        missing_score: what is done about a score that is no number.
        repeats: scorings of one reranker that are combined.
        repeats_std: whose standard deviation `score_std` of repeats is.
    """

    columns: Mapping[str, str]
    repeated: RepeatRule
    missing_score: MissingScoreRule
    repeats: Repeats
    repeats_std: SpreadKind

    def read(self, paths: Sequence[NamedPath], qrels: Path | str | None) -> Runs:
        """Return the runs of these files."""
        return read_runs(paths, qrels, **vars(self))

    def in_parts(self) -> dict[str, Any]:
        """Return the options that runs in parts are read with; UsageError for repeats, which take all rows."""
        if self.repeats or self.repeats_std != _SPREAD:
            name = "--repeats" if self.repeats else "--repeats-std"
            raise UsageError(
                f"{name} is for runs in memory: leave out --stream and --engine dask; watch has none."
            )
        return {"columns": self.columns, "repeated": self.repeated, "missing_score": self.missing_score}


def in_panel(title: str) -> Callable[[Options], Options]:
    """Return what puts all options of a function into one panel of the help."""

    def with_panel(options: Options) -> Options:
        for parameter in signature(options).parameters.values():
            parameter.annotation.__metadata__[0].rich_help_panel = title
        return options

    return with_panel


@in_panel("How files are read")
def reading_options(
    column: Columns = None,
    repeated: Annotated[
        Repeated,
        typer.Option(help="A document twice in one list: refuse it, keep the first row, or the highest score."),
    ] = Repeated.error,
    missing_score: Annotated[
        MissingScore,
        typer.Option(
            help="A score that is no number, such as N/A: refuse it, put the document last in its list (tied "
            "with others like it), or drop it."
        ),
    ] = MissingScore.error,
    repeats: Annotated[
        list[str] | None,
        typer.Option(
            help="Scorings of one reranker, combined to their mean and score_std: seeds (names that differ in "
            "a seed alone), NAME=A,B,C (rerankers; repeatable), or A,B,C (columns of scores)."
        ),
    ] = None,
    repeats_std: Annotated[
        SpreadKind,
        typer.Option(
            help="What score_std of repeats is: the scatter of one run, for order without what shifts a whole "
            "list, or the standard error of the mean."
        ),
    ] = _SPREAD,
    max_rerankers: Annotated[
        int | None,
        typer.Option(min=1, help=f"Most rerankers of one table, {MAX_RERANKERS:,} unless given."),
    ] = None,
) -> ReadingOptions:
    """Return how files are read."""
    if max_rerankers is not None:
        allow_rerankers(max_rerankers)
    repeat_choice = parse_repeats(repeats) if repeats else ()
    return ReadingOptions(
        parse_columns(column), repeated.value, missing_score.value, repeat_choice, repeats_std
    )


def parse_columns(columns: list[str] | None) -> dict[str, str]:
    """Return columns given as ours=theirs, ours= for none; a UsageError names one without = or ours."""
    wrong = [text for text in columns or [] if not all(text.partition("=")[:2])]
    if wrong:
        raise UsageError(f"--column {wrong[0]}: write ours=theirs, such as query_id=topic.")
    return dict(text.split("=", 1) for text in columns or [])


class OutputFormat(StrEnum):
    """How values are printed."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"
    latex = "latex"
    parquet = "parquet"


FOR_PEOPLE = (OutputFormat.table, OutputFormat.markdown, OutputFormat.latex)
"""Formats that are read, not parsed."""
PRINTED_ROWS = 1_000
"""Rows of a table for a terminal; more cannot be read there."""


Traditional = Annotated[str | None, typer.Option(help="The traditional order; else trec_eval's for TREC runs.")]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure", "-m", help="A measure: RR, RR@10, nDCG@10, AP ... (evaluate --list-measures). Repeatable."
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--require", "-r", help='A target: "MTRR>=0.8", "nDCG@10>=baseline-0.01". Repeatable.'),
]
TargetBaseline = Annotated[str | None, typer.Option(help="The reranker that `baseline` stands for in targets.")]
Precision = Annotated[
    str,
    typer.Option(help=f"As what scores are compared: {', '.join(PRECISIONS)} (near ties, E apart at most)."),
]
TiebreakBy = Annotated[
    list[str] | None, typer.Option(help="A further score column that splits ties first. Repeatable.")
]
Criteria = Annotated[
    list[str] | None,
    typer.Option(
        help="A score column, such as score or cost:asc. Several rank together instead of the score, by "
        "non-dominated fronts; a front is a tie. Repeatable."
    ),
]
UnjudgedPolicy = Annotated[
    Unjudged, typer.Option(help="Documents nobody judged: not relevant, or left out of the lists.")
]
RelevantFrom = Annotated[float, typer.Option(help="Smallest grade that counts as relevant.")]


@dataclass(frozen=True)
class TableOutput:
    """How a table is printed, and where.

    Attributes:
        format: table, csv, json ...
        path: the file; None for stdout.
    """

    format: OutputFormat
    path: Path | None

    def write(self, table: pd.DataFrame) -> None:
        """Write the table to the file, or to stdout."""
        write_table(table, self.format.value, self.path)

    def write_blocks(
        self, blocks: Iterable[pd.DataFrame], finish: Callable[[pd.DataFrame], pd.DataFrame]
    ) -> None:
        """Write a table that comes block by block: CSV as it comes, for a terminal its first rows alone."""
        if self.format is OutputFormat.table:
            blocks = _first_rows(blocks)
        if self.format is not OutputFormat.csv:
            self.write(pd.concat(map(finish, blocks), ignore_index=True))
            return
        with csv_rows(self.path) as write:
            for block in blocks:
                write(finish(block))


def _first_rows(blocks: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the first rows of a table that comes block by block, and say how many there are in all."""
    n_rows = 0
    for block in blocks:
        if not n_rows or n_rows < PRINTED_ROWS:
            yield block[: PRINTED_ROWS - n_rows]
        n_rows += len(block)
    if n_rows > PRINTED_ROWS:
        say(
            f"These are the first {PRINTED_ROWS:,} of {n_rows:,} rows. Write all of them: --format csv -o FILE."
        )


@in_panel("How lists are scored")
def _scoring(
    precision: Precision = AS_READ.precision,
    missing: Annotated[
        Policy, typer.Option(help="Judged queries without rows: count them 0, or leave them out.")
    ] = AS_READ.missing,
    empty: Annotated[
        Policy, typer.Option(help="Queries with nothing relevant: count them 0, or leave them out.")
    ] = AS_READ.empty,
    relevant_from: RelevantFrom = AS_READ.relevant_from,
    tiebreak_by: TiebreakBy = None,
    criterion: Criteria = None,
    unjudged: UnjudgedPolicy = AS_READ.unjudged,
) -> ScoringOptions:
    further, criteria = tuple(tiebreak_by or ()), tuple(criterion or ())
    return ScoringOptions(precision, missing, empty, relevant_from, further, criteria, unjudged)


@in_panel("How lists are scored")
def _list_scoring(
    precision: Precision = AS_READ.precision,
    relevant_from: RelevantFrom = AS_READ.relevant_from,
    tiebreak_by: TiebreakBy = None,
    criterion: Criteria = None,
    unjudged: UnjudgedPolicy = AS_READ.unjudged,
) -> ScoringOptions:
    return _scoring(precision, AS_READ.missing, AS_READ.empty, relevant_from, tiebreak_by, criterion, unjudged)


@in_panel("What is written")
def _table_output(
    format: Annotated[  # noqa: A002
        OutputFormat, typer.Option(help="How the table is written.")
    ] = OutputFormat.table,
    output: Annotated[Path | None, output_option(), FileUse.WRITTEN] = None,
) -> TableOutput:
    return TableOutput(format, output)


_SHARED: Mapping[str, Callable[..., object]] = {
    "scoring": _scoring,
    "list_scoring": _list_scoring,
    "reading": reading_options,
    "table_output": _table_output,
}
"""Parameter of a command → the options that stand in its place, and what makes one record of them."""


def with_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options in the place of `scoring`, `reading` and `table_output`.

    What the options say reaches `command` as one `ScoringOptions`, `ReadingOptions` and `TableOutput`.
    """
    own = signature(command).parameters
    options = {name: signature(_SHARED[name]).parameters for name in own if name in _SHARED}
    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name in own
        for parameter in (options[name].values() if name in options else [own[name]])
    ]

    @wraps(command)
    def run(**choices: Any) -> None:  # noqa: ANN401 as the command and the options type them
        records = {
            name: _SHARED[name](**{option: choices.pop(option) for option in names})
            for name, names in options.items()
        }
        command(**choices, **records)

    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
