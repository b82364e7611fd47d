"""Commands that inspect and score files: check, evaluate, permutations."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from metrics.cli import options
from metrics.cli.messages import say, say_left_out, say_own_rules
from metrics.cli.options import FileUse, NamedPath, run_argument
from metrics.errors import UsageError
from metrics.support.escaping import clean
from metrics.support.progress import progress
from metrics.support.wording import count_of, first_names

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluation import Evaluation, ScoringOptions
    from metrics.runs import Runs
    from metrics.runs.findings import FindingGroup, FindingLine
    from metrics.scale.dask import Dataset

_MAX_LINES = 5
"""Messages of one kind that `check` prints; files hold all."""
_MAX_NAMES = 20


@options.with_shared_options
def check_command(
    files: Annotated[
        list[NamedPath], run_argument("Runs, judgments and tables, in any order.", "FILE"), FileUse.READ
    ],
    qrels: options.Qrels = None,
    relevant_from: options.RelevantFrom = 1,
    *,
    reading: options.ReadingOptions,
    table_output: options.TableOutput,
) -> None:
    """Report problems in runs and judgments before scoring; exit with 1 on errors."""
    from metrics.cli.output import write_text
    from metrics.runs import check_files
    from metrics.runs.findings import group_findings

    judgments = [NamedPath(None, str(qrels))] if qrels else []
    findings, rerankers = check_files([*files, *judgments], **vars(reading), relevant_from=relevant_from)
    if table_output.format == "table":
        lines = _finding_lines(group_findings(findings, rerankers))
        write_text("".join(f"{clean(line)}\n" for line in lines), table_output.path)
    else:
        table_output.write(findings)
    if "unreadable" in set(findings["code"]):
        raise typer.Exit(2)
    if "error" in set(findings["severity"]):
        raise typer.Exit(1)


def _finding_lines(groups: "Iterable[FindingGroup]") -> Iterator[str]:
    for group in groups:
        first, *further = group.lines
        subject = group.subject if further else _with_place(group.subject, first)
        yield f"{group.severity} · {group.code} · {subject}: {group.title}"
        if not further and len(first.names) > 1:
            yield f"    {first_names(first.names, _MAX_NAMES)}"
        for line in group.lines[:_MAX_LINES] if further else ():
            yield f"    {_with_place(first_names(line.names), line)}: {line.message}"
        if len(group.lines) > _MAX_LINES:
            yield f"    … and {len(group.lines) - _MAX_LINES:,} more. --format csv lists all."
        yield f"    {group.hint}"


def _with_place(names: str, line: "FindingLine") -> str:
    return f"{names} ({line.place})" if line.place else names


def _measures() -> list[tuple[str, str]]:
    from metrics.studies.guide import measure_table

    return list(measure_table()[["measure", "summary"]].itertuples(index=False, name=None))


def _tie_orders() -> list[tuple[str, str]]:
    from metrics.ties.treatments import treatments_by_name

    return [(name, f"{ties.label}. {ties.summary}") for name, ties in treatments_by_name().items()]


def _tools() -> list[tuple[str, str]]:
    from metrics.studies.tools import TOOLS

    return [(f"{tool.name} ({tool.version}, {tool.checked})", tool.summary) for tool in TOOLS]


@options.with_shared_options
def evaluate_command(
    run: Annotated[
        list[NamedPath],
        run_argument(
            "Run files, or long tables with relevance, as paths or URLs. --engine dask also takes "
            "patterns and folders."
        ),
        FileUse.READ,
    ],
    qrels: Annotated[
        str | None, Option(help="Judgments; not needed if the runs hold relevance."), FileUse.READ
    ] = None,
    measure: options.Measures = None,
    ties: Annotated[
        list[str] | None,
        Option(help="How ties are scored: expected, docid_desc ... (--list-ties). Repeatable."),
    ] = None,
    per_query: Annotated[bool, Option("--per-query", help="One line per query instead of the mean.")] = False,
    latency: Annotated[
        bool, Option("--latency", help="Include the seconds per list, as a measure named latency_s.")
    ] = False,
    engine: Annotated[
        Literal["local", "dask"], Option(help="Score in this process, or runs larger than memory with Dask.")
    ] = "local",
    scheduler: Annotated[
        str | None, Option(help="Dask scheduler, tcp://HOST:8786 (default: start one on this machine).")
    ] = None,
    save: Annotated[
        Path | None,
        options.written_option("Save the scores of each list as a Parquet file that the app opens."),
        FileUse.WRITTEN,
    ] = None,
    *,
    reading: options.ReadingOptions,
    table_output: options.TableOutput,
    scoring: "ScoringOptions",
    _lists_measures: Annotated[bool, options.listing("--list-measures", "all measures", _measures)] = False,
    _lists_ties: Annotated[bool, options.listing("--list-ties", "all ways to score ties", _tie_orders)] = False,
    _lists_tools: Annotated[bool, options.listing("--list-tools", "tie orders of other tools", _tools)] = False,
) -> None:
    """Score runs, with ties in one order or averaged over all orders."""
    from metrics.evaluation import DEFAULT_MEASURES, DEFAULT_TIES, score_runs

    if scheduler and engine != "dask":
        raise UsageError("--scheduler needs --engine dask.")
    if latency and engine == "dask":
        raise UsageError("--latency needs runs in memory: leave out --engine dask.")
    measures = measure or DEFAULT_MEASURES
    treatments = [*(ties or DEFAULT_TIES)]
    score = partial(score_runs, measures=measures, ties=treatments, options=scoring)
    if engine == "local":
        runs = reading.read(run, qrels)
        _score_in_memory(runs, score, table_output, save, per_query=per_query, latency=latency)
        return
    from metrics.scale.dask import Dataset

    settings = vars(reading).copy()
    if settings.pop("drop_self") or not all(isinstance(name, str) for name in reading.columns.values()):
        raise UsageError("--drop-self and --column FILE:FIELD=COLUMN need --engine local.")
    with progress("Scoring"):
        dataset = Dataset(
            run,
            qrels,
            **settings,
            score_columns=scoring.further_columns,
            scheduler=scheduler,
        )
        last_part, means = _score_parts(dataset, score, table_output, save, per_query=per_query)
    say_left_out(dataset, last_part)
    say_own_rules(last_part)
    if means is not None:
        table_output.write(means)


def _score_parts(
    dataset: "Dataset",
    score: "Callable[[Runs], Evaluation]",
    table_output: options.TableOutput,
    save: Path | None,
    *,
    per_query: bool,
) -> "tuple[Evaluation, pd.DataFrame | None]":
    """Score part by part; write the scores of each list at once, or return the means."""
    from metrics.cli.output import csv_rows, long_table, stack_columns
    from metrics.evaluation.evaluation import Means
    from metrics.scale.stored import save_parts

    if per_query and table_output.format != "csv":
        raise UsageError("--per-query with --engine dask writes only CSV: add --format csv.")
    parts = dataset.parts(score)
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
    return replace(last, policies=dataset.policies), None if per_query else stack_columns(means.table())


def _score_in_memory(
    runs: "Runs",
    score: "Callable[[Runs], Evaluation]",
    table_output: options.TableOutput,
    save: Path | None,
    *,
    per_query: bool,
    latency: bool,
) -> None:
    from metrics.cli.output import long_table
    from metrics.measures import with_gains
    from metrics.scale.stored import save_parts
    from metrics.studies.tradeoffs import LATENCY, latencies, with_latency

    with progress("Scoring"):
        evaluation = score(runs)
    if save is not None:
        deque(save_parts([evaluation], save), maxlen=0)
    say_left_out(runs, evaluation)
    say_own_rules(evaluation)
    if latency:
        timed = with_latency(evaluation, latencies(runs))
        if timed is evaluation:
            raise UsageError("--latency: the runs have no latencies. Add a column `latency`, in seconds.")
        evaluation = timed
    table = long_table(evaluation, per_query=per_query)
    table = table[table["value"].notna() | (table["measure"] != LATENCY)]
    if table_output.is_for_people:
        names = table["measure"].unique().tolist()
        table = table.assign(measure=table["measure"].map(dict(zip(names, with_gains(names), strict=True))))
    table_output.write(table)


_LIMIT = 120
"""Orderings that are printed by default."""
_MAX_LISTED = 5 * 10**6
"""Maximum documents of all listed orderings together, of which each needs up to 250 bytes."""


def _refuse_to_list(n_documents: int, n_orderings: int | None, limit: int) -> None:
    """Raise a UsageError if the orderings of a list need too much memory; None: too many to count."""
    n_listed, max_listed = min(limit, n_orderings or limit), max(1, _MAX_LISTED // n_documents)
    if n_listed > max_listed:
        raise UsageError(
            f"This list has {n_documents:,} documents: at most {count_of(max_listed, 'ordering')} can be "
            f"listed, not {n_listed:,}. Give --limit {max_listed}, or draw orderings with --draws 1000."
        )


@options.with_shared_options
def permutations_command(
    run: Annotated[NamedPath, run_argument("A run file, or a table with relevance."), FileUse.READ],
    query: Annotated[str, Option(help="ID of the query whose list is scored.")],
    reranker: Annotated[str | None, Option(help="The reranker, if the file has several.")] = None,
    qrels: options.Qrels = None,
    measure: options.Measures = None,
    limit: Annotated[int | None, Option(min=1, help=f"Orderings to print (default: {_LIMIT}).")] = None,
    draws: Annotated[
        int | None,
        Option(
            min=2,
            help="Draw this many random orderings instead of listing all, and print the mean's standard error.",
        ),
    ] = None,
    seed: Annotated[int | None, Option(min=0, help="Seed of the draws (default: 0).")] = None,
    *,
    reading: options.ReadingOptions,
    table_output: options.TableOutput,
    list_scoring: "ScoringOptions",
) -> None:
    """List the orderings that one list's ties allow, with their scores."""
    import pandas as pd

    from metrics.measures import parse, question
    from metrics.studies.one_list import complexity_report, every_ordering, sampled_mean
    from metrics.studies.orderings import list_values
    from metrics.studies.prose import decimal
    from metrics.ties import Ranking
    from metrics.ties.permutations import count_orderings

    if limit is not None and draws is not None:
        raise UsageError("--limit applies to listed orderings, and --draws to random orderings: give only one.")
    if seed is not None and draws is None:
        raise UsageError("--seed needs --draws.")
    runs, file = reading.read([run], qrels), Path(run.path).name
    if reranker is None and len(runs.tables) > 1:
        raise UsageError(f"{file} has several rerankers. Choose one with --reranker: {', '.join(runs.tables)}.")
    name = reranker or runs.rerankers[0]
    ranking = Ranking.of(runs, name, list_scoring)
    if not len(ranking.documents_of(query)):
        if query in runs.pairs(name).queries.to_pylist():
            raise UsageError(
                f"{file} has documents for query {query!r}, but none is judged. Choose another query, or give "
                "judgments for this one."
            )
        raise UsageError(f"{file} has no documents for query {query!r}.")
    measures = [parse(name) for name in measure or ["RR", "Hits@3"]]
    names = list(dict.fromkeys(str(question(name)) for name in measures))
    for name in [str(each) for each in measures if each.measure.answers]:
        value = list_values(ranking, query, [name], ["expected"]).loc[name, "expected"]
        say(
            f"{name} settles ties by its own rule: {decimal(value, 4)} in every order. The orderings are "
            f"scored by {question(parse(name))} instead."
        )
    for line in complexity_report(ranking, query):
        say(line)
    if draws is None:
        limit = limit or _LIMIT
        _refuse_to_list(len(ranking.documents_of(query)), count_orderings(ranking, query).orderings, limit)
        table_output.write(every_ordering(ranking, query, names, limit))
        return
    rows = [(name, *sampled_mean(ranking, query, name, draws, seed or 0), draws) for name in names]
    table_output.write(pd.DataFrame(rows, columns=["measure", "mean", "standard_error", "draws"]))
