"""Options that commands share."""

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions
from metrics.ties import PRECISIONS


class Policy(StrEnum):
    """Count as 0, or leave out."""

    zero = "zero"
    skip = "skip"


class Repeated(StrEnum):
    """Refuse, keep the first row, or keep the highest."""

    error = "error"
    first = "first"
    max = "max"


class Engine(StrEnum):
    """Who scores."""

    local = "local"
    dask = "dask"


class Format(StrEnum):
    """How values are printed."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"
    latex = "latex"
    parquet = "parquet"


Qrels = Annotated[Path | None, typer.Option(help="Judgments; not needed where RUN holds relevance.")]
Measures = Annotated[list[str] | None, typer.Option("--measure", "-m", help="RR, RR@10, nDCG@10, AP ...")]
Precision = Annotated[str, typer.Option(help=f"How scores are compared: {', '.join(PRECISIONS)}.")]
Relevant = Annotated[float, typer.Option(help="Smallest relevant grade.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="A column of the files, ours=theirs: query_id=topic; ours= is not read."),
]
Repeats = Annotated[Repeated, typer.Option(help="A document twice in one list.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead.")]
Form = Annotated[Format, typer.Option(help="How to print.")]


def _scoring_options(
    precision: Precision = AS_READ.precision,
    missing: Annotated[Policy, typer.Option(help="Judged queries without rows.")] = Policy.zero,
    empty: Annotated[Policy, typer.Option(help="Queries with nothing relevant.")] = Policy.zero,
    relevant_from: Relevant = AS_READ.relevant_from,
    tiebreak_by: Annotated[
        list[str] | None, typer.Option(help="Further score column that splits ties first.")
    ] = None,
) -> ScoringOptions:
    """Return the record of the options that all commands have which score."""
    return ScoringOptions(precision, missing.value, empty.value, relevant_from, tuple(tiebreak_by or ()))


def with_scoring_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of scoring in the place of its parameter `scoring`.

    What they say reaches `command` as one `ScoringOptions`.
    """
    own, options = signature(command).parameters, signature(_scoring_options).parameters
    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name, parameter in own.items()
        for parameter in (options.values() if name == "scoring" else [parameter])
    ]

    @wraps(command)
    def run(**choices: Any) -> None:  # noqa: ANN401 as the command and the options type them
        scoring = {name: choices.pop(name) for name in options}
        command(**choices, scoring=_scoring_options(**scoring))

    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def listing(names: Callable[[], list[tuple[str, str]]]) -> Callable[[bool], None]:
    """What an option does that asks what there is: show names with their summaries, and stop."""

    def show(is_requested: bool) -> None:
        if is_requested:
            table = Table(box=None, show_header=False)
            for name, summary in names():
                table.add_row(Text(name, style="bold"), Text(summary))
            Console().print(table)
            raise typer.Exit

    return show


def parse_columns(columns: list[str] | None) -> dict[str, str]:
    """Columns chosen as ours=theirs; ours= is not read."""
    wrong = [text for text in columns or [] if not all(text.partition("=")[:2])]
    if wrong:
        raise UsageError(f"--column {wrong[0]}: write ours=theirs, such as query_id=topic.")
    return dict(text.split("=", 1) for text in columns or [])
