"""Options that commands share."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from metrics.errors import UsageError
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
Tiebreak = Annotated[list[str] | None, typer.Option(help="Further score column that splits ties first.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="A column of the files, ours=theirs: query_id=topic; ours= is not read."),
]
Repeats = Annotated[Repeated, typer.Option(help="A document twice in one list.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead.")]
Form = Annotated[Format, typer.Option(help="How to print.")]
Missing = Annotated[Policy, typer.Option(help="Judged queries without rows.")]
Empty = Annotated[Policy, typer.Option(help="Queries with nothing relevant.")]


def listing(names: Callable[[], list[tuple[str, str]]]) -> Callable[[bool], None]:
    """What an option does that asks what there is: show names with their summaries, and stop."""

    def show(asked: bool) -> None:
        if asked:
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
