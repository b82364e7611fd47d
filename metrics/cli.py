"""The command `tiescope`. Data on stdout, messages on stderr; 0 ok, 1 a check failed, 2 unusable input."""

import json
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from metrics.errors import TieScopeError, UsageError
from metrics.evaluation import DEFAULT_MEASURES, DEFAULT_TIES, DRAWS, Evaluation, evaluate
from metrics.measures import MEASURES, parse
from metrics.output import long_table, progress, put
from metrics.runs import check, read_runs
from metrics.studies.query import every_ordering, report, sampled
from metrics.studies.tools import TOOLS
from metrics.ties import PRECISIONS, TREATMENTS, Ranking, treatment

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


class Repeated(StrEnum):
    """Refuse, keep the first row, or keep the highest."""

    error = "error"
    first = "first"
    max = "max"


class Format(StrEnum):
    """How values are printed."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"
    latex = "latex"
    parquet = "parquet"


def _listing(names: Callable[[], list[tuple[str, str]]]) -> Callable[[bool], None]:
    def show(asked: bool) -> None:
        if asked:
            table = Table(box=None, show_header=False)
            for name, summary in names():
                table.add_row(Text(name, style="bold"), Text(summary))
            Console().print(table)
            raise typer.Exit

    return show


def _measures() -> list[tuple[str, str]]:
    mark = {"required": "@k", "optional": "[@k]", "none": ""}
    inside = ["" if one.parameter is None else f"({one.parameter})" for one in MEASURES]
    return [
        (one.name + bracket + mark[one.cutoff], one.summary)
        for one, bracket in zip(MEASURES, inside, strict=True)
    ]


def _treatments() -> list[tuple[str, str]]:
    drawn = treatment("random:1")
    return [(one.name, one.summary) for one in TREATMENTS] + [("random:SEED", drawn.summary)]


def _tools() -> list[tuple[str, str]]:
    return [(f"{one.name} {one.version}".strip(), one.summary) for one in TOOLS]


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


@app.command("evaluate")
def evaluate_command(
    run: Annotated[list[Path], typer.Argument(help="Run files, or long tables with relevance.")],
    qrels: Qrels = None,
    measure: Measures = None,
    ties: Annotated[list[str] | None, typer.Option(help="What is done about ties; --list-ties.")] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="One line a list.")] = False,
    format: Form = Format.table,  # noqa: A002
    output: Output = None,
    precision: Precision = "float64",
    missing: Annotated[Policy, typer.Option(help="Judged queries without rows.")] = Policy.zero,
    empty: Annotated[Policy, typer.Option(help="Queries with nothing relevant.")] = Policy.zero,
    relevant_from: Relevant = 1,
    tiebreak_by: Tiebreak = None,
    column: Columns = None,
    repeated: Repeats = Repeated.error,
    _measures_asked: Annotated[
        bool, typer.Option("--list-measures", is_eager=True, callback=_listing(_measures))
    ] = False,
    _ties_asked: Annotated[
        bool, typer.Option("--list-ties", is_eager=True, callback=_listing(_treatments))
    ] = False,
    _tools_asked: Annotated[
        bool, typer.Option("--list-tools", is_eager=True, callback=_listing(_tools))
    ] = False,
) -> None:
    """Score runs under one or more treatments of their ties."""
    with progress("Reading"):
        runs = read_runs(run, qrels, columns=_chosen(column), repeated=repeated.value)
    with progress("Scoring"):
        evaluation = evaluate(
            runs,
            measure or DEFAULT_MEASURES,
            ties or DEFAULT_TIES,
            precision=precision,
            missing=missing.value,
            empty=empty.value,
            relevant_from=relevant_from,
            tiebreak_by=tuple(tiebreak_by or ()),
        )
    for one in runs.left_out.itertuples():
        if one.code != "queries-missing":
            typer.echo(f"{one.severity} · {one.file} · {one.message} {one.hint}", err=True)
    for reranker, row in evaluation.policies.iterrows():
        _say_policies(str(reranker), row, evaluation)
    drawn = [name for name in evaluation.measures if parse(name).measure.family.sampled]
    if drawn and "std" in evaluation.ties:
        typer.echo(f"{', '.join(drawn)}: std from {DRAWS} drawn orderings, about 4 % off.", err=True)
    put(long_table(evaluation, per_query=per_query), format.value, output)


@app.command("permutations")
def permutations_command(
    run: Annotated[Path, typer.Argument(help="A run file, or a long table with relevance.")],
    query: Annotated[str, typer.Option(help="Which list.")],
    reranker: Annotated[str | None, typer.Option(help="Which reranker, where the file has several.")] = None,
    qrels: Qrels = None,
    measure: Measures = None,
    limit: Annotated[int, typer.Option(min=1, help="Orderings printed at most.")] = 120,
    draws: Annotated[int | None, typer.Option(min=2, help="Draw so many orderings and say the error.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    format: Form = Format.table,  # noqa: A002
    output: Output = None,
    precision: Precision = "float64",
    relevant_from: Relevant = 1,
    column: Columns = None,
    repeated: Repeats = Repeated.error,
) -> None:
    """List the orderings one list's ties allow, with what each scores."""
    runs = read_runs([run], qrels, columns=_chosen(column), repeated=repeated.value)
    if reranker is None and len(runs.tables) > 1:
        raise UsageError(f"{run.name} has several rerankers. Say which: {', '.join(runs.tables)}.")
    ranking = Ranking.of(runs, reranker or runs.rerankers[0], relevant_from, precision)
    if not len(ranking.listed(query)):
        raise UsageError(f"{run.name} has no documents for query {query!r}.")
    names = list(dict.fromkeys(str(parse(name)) for name in measure or ["RR", "Hits@3"]))
    for line in report(ranking, query):
        typer.echo(line, err=True)
    if draws is None:
        put(every_ordering(ranking, query, names, limit), format.value, output)
        return
    found = [sampled(ranking, query, name, draws, seed) for name in names]
    columns = {"measure": names, "mean": [one.mean for one in found]}
    columns["standard_error"] = [one.standard_error for one in found]
    put(pd.DataFrame(columns | {"draws": [one.draws for one in found]}), format.value, output)


@app.command("check")
def check_command(
    files: Annotated[list[Path], typer.Argument(help="Runs, judgments and tables, in any order.")],
    format: Form = Format.table,  # noqa: A002
    output: Output = None,
    column: Columns = None,
    repeated: Repeats = Repeated.error,
) -> None:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    found = check(files, columns=_chosen(column), repeated=repeated.value)
    put(found, format.value, output)
    if "unreadable" in set(found["code"]):
        raise typer.Exit(2)
    if "error" in set(found["severity"]):
        raise typer.Exit(1)


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
        read_runs(files, qrels)  # fail here, not in the browser
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


def _chosen(columns: list[str] | None) -> dict[str, str]:
    """Columns chosen as ours=theirs; ours= is not read."""
    wrong = [text for text in columns or [] if not all(text.partition("=")[:2])]
    if wrong:
        raise UsageError(f"--column {wrong[0]}: write ours=theirs, such as query_id=topic.")
    return dict(text.split("=", 1) for text in columns or [])


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
