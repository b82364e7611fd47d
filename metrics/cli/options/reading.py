"""Options that say how files are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from metrics.cli.options.files import NamedPath
from metrics.errors import UsageError
from metrics.runs import MissingScore as MissingScoreRule
from metrics.runs import Repeated as RepeatRule
from metrics.runs import Runs, read_runs
from metrics.runs.reading.source import MAX_RERANKERS, allow_rerankers
from metrics.runs.repeats.choice import Repeats, parse_repeats
from metrics.runs.repeats.statistics import SpreadKind


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
