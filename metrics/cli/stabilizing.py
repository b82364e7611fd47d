"""Commands that say how far an order rests on ties: stability.

Its studies are imported when it is called: scipy's statistics take time that other commands need not pay.
"""

from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from metrics.cli.file_options import Qrels, RunPaths
from metrics.cli.messages import MANY_RERANKERS, duration, say, say_left_out
from metrics.cli.options import Measures, ReadingOptions, TableOutput, with_shared_options
from metrics.evaluation import ScoringOptions, score_runs
from metrics.measures import parse
from metrics.support.progress import progress

if TYPE_CHECKING:
    from metrics.studies.stability import OrderStability

MEASURES = ("RR", "nDCG@10")
_SECONDS_A_RERANKER, _SECONDS_A_PAIR = 0.005, 5e-6
"""Seconds of a processor for the mean of a reranker, and for an order of two."""
PAIR_COLUMNS = ["measure", "reranker", "other", "above", "equal", "below", "method", "standard_error"]
PLACE_COLUMNS = ["measure", "reranker", "place", "chance", "method", "standard_error"]


@with_shared_options
def stability_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Measures = None,
    places: Annotated[
        bool, typer.Option("--places", help="The chance of every place, not of every pair's order.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Say how likely each run comes out above each other when all ties are broken at random."""
    from metrics.studies.mean_distributions import SPREADS
    from metrics.studies.prose import plain
    from metrics.studies.stability import OrderStability, stability_finding

    names = dict.fromkeys(str(parse(name)) for name in measure or MEASURES)
    with progress("Reading"):
        runs = reading.read(run, qrels)
    if len(runs.rerankers) > MANY_RERANKERS:
        _say_how_long(len(runs.rerankers), len(names))
    tables = []
    with progress("Breaking ties at random"):
        rankings = {name: scoring.ranking(runs, name) for name in runs.rerankers}
        for number, name in enumerate(names):
            evaluation = score_runs(runs, name, SPREADS, scoring)
            if not number:
                say_left_out(runs, evaluation)
            study = OrderStability.of(evaluation, name, rankings, seed=seed)
            tables.append((_places(study) if places else study.pairs).assign(measure=name))
            finding = stability_finding(study.pairs, study.bounds, study.tau, parse(name).traditional)
            say(f"{name}: {plain(finding)}")
    columns = PLACE_COLUMNS if places else PAIR_COLUMNS
    table_output.write_blocks((table[columns] for table in tables), lambda table: table)


def _say_how_long(n_rerankers: int, n_measures: int) -> None:
    """Say how long the orders of many rerankers take, and what to do instead."""
    n_pairs = n_rerankers * (n_rerankers - 1) // 2
    seconds = n_measures * (n_rerankers * _SECONDS_A_RERANKER + n_pairs * _SECONDS_A_PAIR)
    say(f"{n_rerankers:,} rerankers are {n_pairs:,} pairs: about {duration(seconds)}. Give fewer rerankers.")


def _places(study: "OrderStability") -> pd.DataFrame:
    """Return a row for each reranker and place: reranker, place, chance, method, standard_error."""
    chances, errors = (table.stack() for table in (study.places.chances, study.places.errors))  # noqa: PD013
    table = chances.rename("chance").rename_axis(["reranker", "place"]).reset_index()
    methods = study.places.methods.reindex(table["reranker"]).to_numpy()
    return table.assign(method=methods, standard_error=errors.to_numpy())
