"""Commands that look at files and score them: check, evaluate, permutations."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from metrics.cli.file_options import NAME_HELP, FileUse, NamedPath, Qrels, RunPath, parse_run, written_option
from metrics.cli.messages import say, say_left_out, say_own_rules
from metrics.cli.options import (
    FOR_PEOPLE,
    Measures,
    OutputFormat,
    ReadingOptions,
    TableOutput,
    with_shared_options,
)
from metrics.cli.output import csv_rows, listing, long_table, stack_columns, write_text
from metrics.errors import UsageError
from metrics.evaluation import DEFAULT_MEASURES, Evaluation, ScoringOptions, default_ties, score_runs
from metrics.evaluation.evaluation import Means
from metrics.measures import MEASURES, MeasureAt, parse, question
from metrics.runs import Runs, check_files
from metrics.runs.findings import FindingGroup, FindingLine, group_findings
from metrics.scale.stored import save_parts
from metrics.scale.stream import PartitionedRuns, Stream
from metrics.studies.one_list import complexity_report, every_ordering, sampled_mean
from metrics.studies.orderings import list_values
from metrics.studies.prose import decimal
from metrics.studies.tradeoffs import LATENCY, latencies, with_latency
from metrics.support.escaping import clean
from metrics.support.progress import progress
from metrics.support.wording import first_names
from metrics.ties import JOINT_BOUNDS, Ranking, asks_for_bounds
from metrics.ties.treatments import treatments_by_name

_MAX_LINES = 5
"""Messages of one kind that are printed; files for programs hold all."""
_MAX_NAMES = 20


@with_shared_options
def check_command(
    files: Annotated[
        list[NamedPath],
        typer.Argument(
            metavar="FILE",
            parser=parse_run,
            help="Runs, judgments and tables, in any order. NAME=PATH names a run.",
        ),
        FileUse.READ,
    ],
    qrels: Qrels = None,
    *,
    table_output: TableOutput,
    reading: ReadingOptions,
) -> None:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    judgments = [NamedPath(None, str(qrels))] if qrels else []
    findings, rerankers = check_files([*files, *judgments], **vars(reading))
    if table_output.format == OutputFormat.table:
        lines = _printed(group_findings(findings, rerankers))
        write_text("".join(f"{clean(line)}\n" for line in lines), table_output.path)
    else:
        table_output.write(findings)
    if "unreadable" in set(findings["code"]):
        raise typer.Exit(2)
    if "error" in set(findings["severity"]):
        raise typer.Exit(1)


def _printed(groups: Iterable[FindingGroup]) -> Iterator[str]:
    """Yield the lines of each group: how grave, which kind, whom it is about, what it says, what to do."""
    for group in groups:
        first, *others = group.lines
        subject = group.subject if others else _with_place(group.subject, first)
        yield f"{group.severity} · {group.code} · {subject}: {group.title}"
        if not others and len(first.names) > 1:
            yield f"    {first_names(first.names, _MAX_NAMES)}"
        for line in group.lines[:_MAX_LINES] if others else ():
            yield f"    {_with_place(first_names(line.names), line)}: {line.message}"
        if len(group.lines) > _MAX_LINES:
            yield f"    … and {len(group.lines) - _MAX_LINES:,} more: --format csv lists all."
        yield f"    {group.hint}"


def _with_place(names: str, line: FindingLine) -> str:
    return f"{names} ({line.place})" if line.place else names


def score_parts(
    runs: PartitionedRuns,
    score: Callable[[Runs], Evaluation],
    table_output: TableOutput,
    save: Path | None,
    *,
    per_query: bool,
) -> tuple[Evaluation, pd.DataFrame | None]:
    """Score part by part, and write the values of each list as it is read, where they are wanted.

    Raises:
        UsageError: values of each list are asked for in another form than csv, or a file cannot be written.
    """
    if per_query and table_output.format != OutputFormat.csv:
        raise UsageError("Of parts, one line a list is written as they are read: add --format csv.")
    parts = runs.parts(score)
    if save is not None:
        parts = save_parts(parts, save)
    means = Means()
    with csv_rows(table_output.path) if per_query else nullcontext() as write:
        for part in parts:
            if write is not None:
                write(long_table(part, per_query=True))
            else:
                means.add(part.scores, part.policies.index.to_list())
            last = part
    return replace(last, policies=runs.policies), None if per_query else stack_columns(means.table())


_RUN = (
    "Run files, or long tables with relevance: paths or URLs; with --engine dask patterns and folders, too. "
    f"{NAME_HELP}"
)


class Engine(StrEnum):
    """Who scores."""

    local = "local"
    dask = "dask"


def _measures() -> list[tuple[str, str]]:
    cutoffs = {"required": "@k", "optional": "[@k]", "none": ""}
    return [
        (f"{MeasureAt(measure, None, measure.parameter)}{cutoffs[measure.cutoff]}", measure.summary)
        for measure in MEASURES
    ]


def _treatments() -> list[tuple[str, str]]:
    return [(name, f"{ties.label}. {ties.summary}") for name, ties in treatments_by_name().items()]


def _tools() -> list[tuple[str, str]]:
    from metrics.studies.tools import TOOLS

    return [(f"{tool.name} ({tool.version}, {tool.checked})", tool.summary) for tool in TOOLS]


@with_shared_options
def evaluate_command(
    run: Annotated[list[NamedPath], typer.Argument(metavar="RUN", parser=parse_run, help=_RUN), FileUse.READ],
    qrels: Annotated[
        str | None, typer.Option(help="Judgments; not needed where RUN holds relevance."), FileUse.READ
    ] = None,
    measure: Measures = None,
    ties: Annotated[
        list[str] | None,
        typer.Option(help="What is done about ties, such as expected or docid_desc; --list-ties. Repeatable."),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="One line for each query, not the mean over them.")
    ] = False,
    latency: Annotated[
        bool | None,
        typer.Option(
            help="Write the seconds that lists took, too, as measure latency_s; unless said so, where runs "
            "give any and a person reads: in table, markdown and latex."
        ),
    ] = None,
    holes: Annotated[
        bool,
        typer.Option(
            "--holes",
            help="Write the lowest and highest value, too, over all orders of ties and all grades that "
            "unjudged documents may have: --ties lowest --ties highest. Parts are read twice.",
        ),
    ] = False,
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
        Path | None,
        written_option("Keep what each list scored, as a Parquet file the app opens."),
        FileUse.WRITTEN,
    ] = None,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
    _lists_measures: Annotated[bool, listing("--list-measures", "every measure", _measures)] = False,
    _lists_ties: Annotated[bool, listing("--list-ties", "every treatment of ties", _treatments)] = False,
    _lists_tools: Annotated[bool, listing("--list-tools", "what other tools do with ties", _tools)] = False,
) -> None:
    """Score runs under one or more treatments of their ties."""
    _refuse_contradictions(engine, scheduler, stream=stream, latency=bool(latency))
    measures = measure or DEFAULT_MEASURES
    treatments = [*(ties or default_ties(measures)), *(bound.name for bound in JOINT_BOUNDS if holes)]
    score = partial(score_runs, measures=measures, ties=treatments, options=scoring)
    if not stream and engine == Engine.local:
        read = partial(reading.read, run, qrels)
        _score_in_memory(read, score, table_output, save, per_query=per_query, latency=latency)
        return
    from metrics.scale.dask import Dataset

    with progress("Scoring", follows_steps=not stream) as watch:
        runs: PartitionedRuns = (
            Stream(run, qrels, **reading.in_parts(), is_bounded=asks_for_bounds(treatments))
            if stream
            else Dataset(
                run,
                qrels,
                **reading.in_parts(),
                score_columns=scoring.further_columns,
                scheduler=scheduler,
                watch=watch,
                is_bounded=asks_for_bounds(treatments),
            )
        )
        last_part, means = score_parts(runs, score, table_output, save, per_query=per_query)
    say_left_out(runs, last_part)
    say_own_rules(last_part)
    if means is not None:
        table_output.write(means)


def _refuse_contradictions(engine: Engine, scheduler: str | None, *, stream: bool, latency: bool) -> None:
    """Refuse options that do not go together, before anything is read."""
    if scheduler and engine != Engine.dask:
        raise UsageError("--scheduler goes with --engine dask.")
    if stream and engine == Engine.dask:
        raise UsageError("Choose --stream or --engine dask: both read what is larger than memory.")
    if latency and (stream or engine == Engine.dask):
        raise UsageError("--latency needs runs in memory: leave out --stream and --engine dask.")


def _score_in_memory(
    read: Callable[[], Runs],
    score: Callable[[Runs], Evaluation],
    table_output: TableOutput,
    save: Path | None,
    *,
    per_query: bool,
    latency: bool | None,
) -> None:
    """Score runs that fit into memory, and write their values, with latencies where these are wanted."""
    with progress("Reading"):
        runs = read()
    with progress("Scoring"):
        evaluation = score(runs)
    if save is not None:
        deque(save_parts([evaluation], save), maxlen=0)
    say_left_out(runs, evaluation)
    say_own_rules(evaluation)
    for_people = table_output.format in FOR_PEOPLE
    timed = (
        with_latency(evaluation, latencies(runs)) if latency or (latency is None and for_people) else evaluation
    )
    if latency and timed is evaluation:
        raise UsageError(
            "--latency: no scored list gives one. It is a column `latency` of a table, in seconds."
        )
    table_output.write(_readable(long_table(timed, per_query=per_query), for_people=for_people))


def _readable(table: pd.DataFrame, *, for_people: bool) -> pd.DataFrame:
    """Return the values without latencies that nobody gives; for people latencies with four figures."""
    is_latency = table["measure"] == LATENCY
    table = table[table["value"].notna() | ~is_latency]
    if for_people and is_latency.any():
        values = table["value"].astype(object)
        table = table.assign(
            value=values.where(table["measure"] != LATENCY, table["value"].map("{:.4g}".format))
        )
    return table


LIMIT = 120
"""Orderings that are printed at most, unless said."""


@with_shared_options
def permutations_command(
    run: RunPath,
    query: Annotated[str, typer.Option(help="Id of the query whose list is looked into.")],
    reranker: Annotated[str | None, typer.Option(help="Which reranker, where the file has several.")] = None,
    qrels: Qrels = None,
    measure: Measures = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"Orderings printed at most; {LIMIT} unless said.")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=2, help="Draw so many orderings instead of listing them, and say the error."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the draws; 0 unless said.")] = None,
    *,
    table_output: TableOutput,
    list_scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """List the orderings one list's ties allow, with what each scores."""
    if limit is not None and draws is not None:
        raise UsageError("--limit bounds the orderings that are listed: leave it out, or --draws.")
    if seed is not None and draws is None:
        raise UsageError("--seed goes with --draws.")
    runs = reading.read([run], qrels)
    ranking = _ranking_of(runs, Path(run.path).name, reranker, query, list_scoring)
    measures = [parse(name) for name in measure or ["RR", "Hits@3"]]
    if by_subtopics := [str(name) for name in measures if name.measure.family.no_extremes]:
        raise UsageError(f"{by_subtopics[0]}: orderings are listed by grades, not by subtopics. Leave it out.")
    names = list(dict.fromkeys(str(question(name)) for name in measures))
    _say_own_rules(ranking, query, [name for name in measures if name.measure.answers])
    for line in complexity_report(ranking, query):
        say(line)
    if draws is None:
        table_output.write(every_ordering(ranking, query, names, limit or LIMIT))
        return
    means = pd.DataFrame([sampled_mean(ranking, query, name, draws, seed or 0) for name in names])
    table_output.write(means.assign(measure=names)[["measure", "mean", "standard_error", "draws"]])


def _ranking_of(runs: Runs, file: str, reranker: str | None, query: str, options: ScoringOptions) -> Ranking:
    """Return the lists of the reranker meant; raises UsageError where none is that of the query."""
    if reranker is None and len(runs.tables) > 1:
        raise UsageError(f"{file} has several rerankers. Say which: {', '.join(runs.tables)}.")
    ranking = options.ranking(runs, reranker or runs.rerankers[0])
    if not len(ranking.documents_of(query)):
        raise UsageError(f"{file} has no documents for query {query!r}.")
    return ranking


def _say_own_rules(ranking: Ranking, query: str, measures: Sequence[MeasureAt]) -> None:
    """Say what a list scores by measures with their own rule for ties, which no ordering has a part in."""
    for measure in measures:
        value = list_values(ranking, query, [str(measure)], ["expected"]).loc[str(measure), "expected"]
        say(
            f"{measure} settles ties by its own rule: {decimal(value, 4)}, whatever the order. "
            f"The orderings are scored by {question(measure)}, whose ties it settles."
        )
