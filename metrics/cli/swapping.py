"""The pairs of runs whose order swaps once ties are averaged: compare --swaps."""

import pandas as pd

from metrics.cli.messages import say
from metrics.errors import UsageError
from metrics.evaluation import Evaluation, ScoringOptions
from metrics.measures import parse
from metrics.runs import Runs


def swaps_of_runs(runs: Runs, evaluation: Evaluation, scoring: ScoringOptions, level: float) -> pd.DataFrame:
    """Return the swaps by every measure and treatment, and say on stderr how many there are.

    Args:
        runs: whose ties are broken at random for the chance of each order.
        evaluation: of the runs.
        scoring: how they were scored.
        level: a swap is significant where its adjusted p is below 1 - level.

    Raises:
        UsageError: there is no tied order, or none to hold against it.
    """
    from metrics.studies.leaderboard.swapped_orders import (  # noqa: PLC0415 scipy.special
        order_chances,
        swapped_orders,
        swaps_finding,
    )
    from metrics.studies.prose import plain  # noqa: PLC0415 likewise

    treatments = [name for name in evaluation.ties if name not in ("expected", "std")]
    if not treatments or "expected" not in evaluation.ties:
        raise UsageError("--swaps holds an order against the tied one: --ties expected --ties input.")
    tables = []
    for measure in evaluation.measures:
        for treatment in treatments:
            swaps = swapped_orders(evaluation, measure, treatment, level=level)
            say(f"{measure}: {plain(swaps_finding(swaps, len(runs.rerankers), parse(measure).traditional))}")
            tables.append(order_chances(swaps, runs, measure, scoring).assign(measure=measure))
    table = pd.concat(tables, ignore_index=True)
    return table[["measure", *table.columns.drop("measure")]]
