"""Options that commands share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from metrics.cli.messages import say
from metrics.cli.options.files import FileUse, output_option
from metrics.cli.options.reading import in_panel, reading_options
from metrics.cli.output import csv_rows, write_table
from metrics.evaluation import AS_READ, Policy, ScoringOptions, Unjudged
from metrics.ties import PRECISIONS


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
        """Write a table that comes block by block: CSV as it comes, for a terminal its first rows alone.

        Args:
            blocks: of the table, one at least.
            finish: what is done to each block that is written.
        """
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
