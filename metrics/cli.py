"""The command `tiescope`. Data on stdout, messages on stderr; 0 ok, 1 a check failed, 2 unusable input."""

import io
import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from metrics.errors import TieScopeError, UsageError
from metrics.evaluation import Evaluation, evaluate
from metrics.runs import Runs, read_runs

app = typer.Typer(
    name="tiescope",
    help="Ranking metrics with ties done right.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

OPEN = "TIESCOPE_OPEN"
"""Environment variable that tells the app which files to open: JSON with runs and qrels."""


class Policy(StrEnum):
    """Count as 0, or leave out."""

    zero = "zero"
    skip = "skip"


class Format(StrEnum):
    """How values are printed."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


Qrels = Annotated[Path | None, typer.Option(help="Judgments; not needed where RUN holds relevance.")]


@app.command("evaluate")
def evaluate_command(
    run: Annotated[list[Path], typer.Argument(help="Run files, or long tables with relevance.")],
    qrels: Qrels = None,
    measure: Annotated[list[str] | None, typer.Option("--measure", "-m", help="RR, RR@10, Hits@3 ...")] = None,
    ties: Annotated[
        list[str] | None,
        typer.Option(help="expected, input, docid_desc, docid_asc, optimistic, pessimistic."),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="One line a list.")] = False,  # noqa: FBT002
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,  # noqa: A002
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead.")] = None,
    missing: Annotated[Policy, typer.Option(help="Judged queries without rows.")] = Policy.zero,
    empty: Annotated[Policy, typer.Option(help="Queries with nothing relevant.")] = Policy.zero,
    relevant_from: Annotated[float, typer.Option(help="Smallest relevant grade.")] = 1,
) -> None:
    """Score runs under one or more treatments of their ties."""
    evaluation = evaluate(
        read_runs(run, qrels),
        measure or ["RR", "Hits@1", "Hits@3", "Hits@10"],
        ties or ["input", "expected", "optimistic", "pessimistic"],
        missing=missing.value,
        empty=empty.value,
        relevant_from=relevant_from,
    )
    for reranker, row in evaluation.policies.iterrows():
        _say_policies(str(reranker), row, evaluation)
    _print(_long(evaluation, per_query=per_query), format, output)


@app.command("app")
def app_command(
    files: Annotated[list[Path] | None, typer.Argument(help="Runs to open; none: the sample data.")] = None,
    qrels: Qrels = None,
    port: Annotated[int, typer.Option(help="Port to serve on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
) -> None:
    """Serve the dashboard in the browser."""
    if files:
        paths = {
            "runs": [str(path.resolve()) for path in files],
            "qrels": str(qrels.resolve()) if qrels else None,
        }
        _readable(files, qrels)
        os.environ[OPEN] = json.dumps(paths)
    from streamlit.web import cli  # noqa: PLC0415 half a second that other commands need not pay

    page = Path(__file__).parents[1] / "dashboard" / "app.py"
    cli.main(["run", str(page), f"--server.port={port}", f"--server.address={host}"])


def main() -> None:
    """Entry point: every error of ours is one message and exit code 2."""
    try:
        app()
    except TieScopeError as error:
        Console(stderr=True, soft_wrap=True).print(
            f"tiescope: {error}", markup=False, highlight=False, emoji=False
        )
        sys.exit(2)


def _readable(files: list[Path], qrels: Path | None) -> Runs:
    """Fail before the server starts, not in the browser."""
    return read_runs(files, qrels)


def _say_policies(reranker: str, counts: pd.Series, evaluation: Evaluation) -> None:
    said = {
        "n_missing": ("have no rows", evaluation.missing),
        "n_empty": ("have nothing relevant", evaluation.empty),
    }
    for name, (what, policy) in said.items():
        if counts[name]:
            outcome = "counted as 0" if policy == "zero" else "left out"
            typer.echo(
                f"{reranker}: {counts[name]} of {counts['n_queries']} queries {what}, {outcome}.", err=True
            )


def _long(evaluation: Evaluation, *, per_query: bool) -> pd.DataFrame:
    """Columns reranker, (query_id,) measure, ties, value; order as asked."""
    scores = evaluation.scores
    if not per_query:
        scores = scores.groupby(level="reranker", sort=False).mean().reindex(evaluation.policies.index)
    table = scores.stack(["measure", "ties"], future_stack=True)  # noqa: PD013 two levels at once
    return table.rename("value").reset_index()


def _print(table: pd.DataFrame, form: Format, output: Path | None) -> None:
    if form is Format.parquet and output is None:
        raise typer.BadParameter("parquet needs a file: -o FILE.")
    try:
        if form is Format.parquet:
            table.to_parquet(output, index=False)
        elif output is None:
            sys.stdout.write(_text(table, form))
        else:
            output.write_text(_text(table, form), encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{output}: cannot be written ({error.strerror or error}).") from error


def _text(table: pd.DataFrame, form: Format) -> str:
    if form is Format.csv:
        return str(table.to_csv(index=False, lineterminator="\n"))
    if form is Format.json:
        records = table.astype(object).where(table.notna(), None).to_dict("records")
        return json.dumps(records, indent=1, ensure_ascii=False) + "\n"
    return _for_people(table)


def _for_people(table: pd.DataFrame) -> str:
    """Treatments side by side, four decimals; a name in full however long."""
    keys = [name for name in table.columns if name not in ("ties", "value")]
    wide = table.set_index([*keys, "ties"])["value"].unstack(sort=False)  # noqa: PD010 pivot sorts and fills
    shown = Table(*keys, box=None, header_style="bold")
    for name in wide.columns:
        shown.add_column(str(name), justify="right")
    for key, row in zip(wide.index.to_flat_index(), wide.to_numpy(), strict=True):
        shown.add_row(*(Text(str(part)) for part in key), *(f"{value:.4f}" for value in row))
    console = Console(file=io.StringIO(), width=10**6, force_terminal=False)
    with console.capture() as printed:
        console.print(shown)
    return printed.get()
