"""Commands that look into one list: permutations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from metrics.cli.file_options import Qrels, RunPath
from metrics.cli.messages import say
from metrics.cli.options import Measures, ReadingOptions, TableOutput, with_shared_options
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions
from metrics.measures import MeasureAt, parse, question
from metrics.runs import Runs
from metrics.studies.one_list import complexity_report, every_ordering, sampled_mean
from metrics.studies.orderings import list_values
from metrics.studies.prose import decimal
from metrics.ties import Ranking

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
