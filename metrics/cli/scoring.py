"""Commands that score: evaluate, permutations."""

from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from metrics.cli.options import (
    Columns,
    Engine,
    Form,
    Format,
    Measures,
    Output,
    Precision,
    Qrels,
    Relevant,
    Repeated,
    Repeats,
    listing,
    parse_columns,
    with_scoring_options,
)
from metrics.cli.output import long_table, write_table
from metrics.cli.streaming import score_parts
from metrics.errors import UsageError
from metrics.evaluation import (
    AS_READ,
    DEFAULT_MEASURES,
    DEFAULT_TIES,
    DRAWS,
    Evaluation,
    ScoringOptions,
    score_runs,
)
from metrics.measures import MEASURES, parse
from metrics.runs import Runs, read_runs
from metrics.scale.dask import Dataset, refuse_unwritable
from metrics.scale.stored import Stored
from metrics.scale.stream import PartitionedRuns, Stream
from metrics.studies.one_list.query import complexity_report, every_ordering, sampled_mean
from metrics.studies.tools.tools import TOOLS
from metrics.support.progress import bar, progress
from metrics.ties import TREATMENTS, Ranking, treatment

_RUN = "Run files, or long tables with relevance; paths or URLs, with --engine dask patterns and folders, too."


def _measures() -> list[tuple[str, str]]:
    mark = {"required": "@k", "optional": "[@k]", "none": ""}
    inside = ["" if one.parameter is None else f"({one.parameter})" for one in MEASURES]
    return [
        (one.name + bracket + mark[one.cutoff], one.summary)
        for one, bracket in zip(MEASURES, inside, strict=True)
    ]


def _treatments() -> list[tuple[str, str]]:
    sampled = treatment("random:1")
    return [(one.name, one.summary) for one in TREATMENTS] + [("random:SEED", sampled.summary)]


def _tools() -> list[tuple[str, str]]:
    return [(f"{one.name} {one.version}".strip(), one.summary) for one in TOOLS]


@with_scoring_options
def evaluate_command(
    run: Annotated[list[str], typer.Argument(help=_RUN)],
    qrels: Annotated[str | None, typer.Option(help="Judgments; not needed where RUN holds relevance.")] = None,
    measure: Measures = None,
    ties: Annotated[list[str] | None, typer.Option(help="What is done about ties; --list-ties.")] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="One line a list.")] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="For runs larger than memory, sorted by query: read in blocks.")
    ] = False,
    engine: Annotated[
        Engine, typer.Option(help="Who scores: this process, or the workers of Dask.")
    ] = Engine.local,
    scheduler: Annotated[
        str | None, typer.Option(help="Dask scheduler, tcp://HOST:8786; else one is started here.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Keep what each list scored, as a Parquet file the app opens.")
    ] = None,
    format: Form = Format.table,  # noqa: A002
    output: Output = None,
    scoring: ScoringOptions = AS_READ,
    column: Columns = None,
    repeated: Repeats = Repeated.error,
    _measures_asked: Annotated[
        bool, typer.Option("--list-measures", is_eager=True, callback=listing(_measures))
    ] = False,
    _ties_asked: Annotated[
        bool, typer.Option("--list-ties", is_eager=True, callback=listing(_treatments))
    ] = False,
    _tools_asked: Annotated[
        bool, typer.Option("--list-tools", is_eager=True, callback=listing(_tools))
    ] = False,
) -> None:
    """Score runs under one or more treatments of their ties."""
    score = partial(
        score_runs, measures=measure or DEFAULT_MEASURES, ties=ties or DEFAULT_TIES, options=scoring
    )
    if scheduler and engine != Engine.dask:
        raise UsageError("--scheduler goes with --engine dask.")
    if stream and engine == Engine.dask:
        raise UsageError("Choose --stream or --engine dask: both read what is larger than memory.")
    _refuse_overwriting([*run, *([qrels] if qrels else [])], save, output)
    columns = parse_columns(column)
    if stream or engine == Engine.dask:
        with (bar if engine == Engine.dask else progress)("Scoring") as watch:
            partitioned_runs = (
                Stream(run, qrels, columns=columns, repeated=repeated.value)
                if stream
                else Dataset(
                    run,
                    qrels,
                    columns=columns,
                    repeated=repeated.value,
                    tiebreak_by=scoring.tiebreak_by,
                    scheduler=scheduler,
                    watch=watch,
                )
            )
            last, means = score_parts(partitioned_runs, score, format, output, save, per_query=per_query)
        _report_policies(partitioned_runs, last)
        if means is not None:
            write_table(means, format.value, output)
        return
    with progress("Reading"):
        runs = read_runs(run, qrels, columns=columns, repeated=repeated.value)
    with progress("Scoring"):
        evaluation = score(runs)
    if save is not None:
        Stored.write(save, [evaluation])
    _report_policies(runs, evaluation)
    write_table(long_table(evaluation, per_query=per_query), format.value, output)


def _refuse_overwriting(read: list[str], save: Path | None, output: Path | None) -> None:
    """Raise a UsageError where what is written would replace what is read or written, or cannot be."""
    occupied = {Path(one).resolve() for one in read if "://" not in one}
    for path in (output, save):
        if path is not None and path.resolve() in occupied:
            raise UsageError(f"{path}: it is read, or written twice. Name another file.")
        occupied |= {path.resolve()} if path is not None else set()
    if save is not None:
        refuse_unwritable(save)


def _report_policies(runs: Runs | PartitionedRuns, evaluation: Evaluation) -> None:
    """What there is to know of the values, on stderr."""
    say_left_out(runs, evaluation)
    sampled = [name for name in evaluation.measures if parse(name).measure.family.sampled]
    if sampled and "std" in evaluation.ties:
        typer.echo(f"{', '.join(sampled)}: std from {DRAWS} drawn orderings, about 4 % off.", err=True)


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
    runs = read_runs([run], qrels, columns=parse_columns(column), repeated=repeated.value)
    if reranker is None and len(runs.tables) > 1:
        raise UsageError(f"{run.name} has several rerankers. Say which: {', '.join(runs.tables)}.")
    ranking = Ranking.of(runs, reranker or runs.rerankers[0], relevant_from, precision)
    if not len(ranking.listed(query)):
        raise UsageError(f"{run.name} has no documents for query {query!r}.")
    names = list(dict.fromkeys(str(parse(name)) for name in measure or ["RR", "Hits@3"]))
    for line in complexity_report(ranking, query):
        typer.echo(line, err=True)
    if draws is None:
        write_table(every_ordering(ranking, query, names, limit), format.value, output)
        return
    estimates = [sampled_mean(ranking, query, name, draws, seed) for name in names]
    columns = {"measure": names, "mean": [one.mean for one in estimates]}
    columns["standard_error"] = [one.standard_error for one in estimates]
    write_table(pd.DataFrame(columns | {"draws": [one.draws for one in estimates]}), format.value, output)


def say_left_out(runs: Runs | PartitionedRuns, evaluation: Evaluation) -> None:
    """What was left out or counted as 0, and why, on stderr."""
    estimates = runs.left_out
    policies = estimates[estimates["code"] != "queries-missing"].groupby(
        ["severity", "message", "hint"], sort=False
    )
    for (severity, message, hint), files in policies["file"]:
        more_files = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        typer.echo(f"{severity} · {files.iloc[0]}{more_files} · {message} {hint}", err=True)
    for reranker, row in evaluation.policies.iterrows():
        _say_policies(str(reranker), row, evaluation)


def _say_policies(reranker: str, counts: pd.Series, evaluation: Evaluation) -> None:
    policies = {
        "n_missing": ("have no rows", evaluation.missing),
        "n_empty": ("have nothing relevant", evaluation.empty),
    }
    for name, (reason, policy) in policies.items():
        if counts[name]:
            outcome = "counted as 0" if policy == "zero" else "left out"
            typer.echo(
                f"{reranker}: {counts[name]} of {counts['n_queries']} queries {reason}, {outcome}.", err=True
            )
