"""How much of what is relevant stands in the top places, and how much of that repeats a target."""

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.runs import Runs
from metrics.studies.gaps.gap import difference
from metrics.studies.tradeoffs.tradeoffs import DEPTH


def coverage_measures(k: int = DEPTH) -> tuple[str, ...]:
    """Return what `coverage` needs."""
    return f"R@{k}", f"DR@{k}", f"Div@{k}", f"P@{k}"


def coverage(evaluation: Evaluation, k: int = DEPTH) -> pd.DataFrame:
    """Return how much of what is relevant stands in the top k, and how much of that repeats a target.

    Args:
        evaluation: with the measures of `coverage_measures` under expected, optimistic and pessimistic.
        k: how many places are looked at.

    Returns:
        index reranker; for p in recall (R@k), distinct (DR@k), targets (Div@k): p (mean over all
        orderings), p_worst, p_best; lost = recall − distinct, below 0 where one of several documents is
        enough for a target; and repeated, the share of the relevant documents found whose target another
        one satisfies: 1 − Div@k/(k·P@k).
    """
    columns = {}
    for name, measure in (("recall", f"R@{k}"), ("distinct", f"DR@{k}"), ("targets", f"Div@{k}")):
        means = evaluation.means(measure)
        columns[name] = means["expected"]
        columns[f"{name}_worst"] = means["pessimistic"]
        columns[f"{name}_best"] = means["optimistic"]
    table = pd.DataFrame(columns)
    relevant = k * evaluation.means(f"P@{k}")["expected"]
    repeated = difference(relevant, table["targets"]) / relevant.where(relevant > 0)
    lost = difference(table["recall"], table["distinct"])
    return table.assign(lost=lost, repeated=repeated.fillna(0.0))


def with_targets(runs: Runs) -> list[str]:
    """Return rerankers whose documents name their targets: all if the judgments do, else by their table."""
    return [
        name
        for name, table in runs.tables.items()
        if "target_id" in (table if runs.qrels is None else runs.qrels).column_names
    ]
