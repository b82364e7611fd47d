"""How long the lists of each reranker took, and their seconds as one more measure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation
from metrics.runs import Runs

Latency = Literal["p50", "p95", "mean"]
LATENCIES: tuple[Latency, ...] = ("p50", "p95", "mean")
"""What may stand for the latency of a reranker: median, 95th percentile or mean over its lists."""
LATENCY = "latency_s"
"""What the seconds of a list are called where they stand among measures; less is better."""


def latencies(runs: Runs) -> dict[str, "pd.Series[float]"]:
    """Return the seconds each list took: reranker → (query_id → seconds), of those that give any.

    Every row of a list may give them, one is enough; rows that disagree: the largest counts. Values
    that are missing, infinite or below 0 are no latency.
    """
    by_reranker = {}
    for name, table in runs.tables.items():
        if "latency" not in table.column_names:
            continue
        seconds, pairs = table["latency"].to_numpy(), runs.pairs(name)
        timed = np.flatnonzero(np.isfinite(seconds) & (seconds >= 0))
        largest = np.full(len(pairs.queries), -1.0)
        np.maximum.at(largest, pairs.query[timed], seconds[timed])
        if len(timed):
            longest = pd.Series(largest, index=pairs.queries.to_pandas(), name=name)
            by_reranker[name] = longest[largest >= 0]
    return by_reranker


def latency_table(list_seconds: Mapping[str, "pd.Series[float]"], evaluation: Evaluation) -> pd.DataFrame:
    """Return the mean and percentiles of `latencies` of each reranker, over the lists that are scored.

    Returns:
        index reranker; mean, p50, p95 (interpolated), n_timed (lists). Those not timed have no row.
    """
    seconds = _aligned(list_seconds, evaluation).dropna().groupby("reranker", sort=False)
    p50, p95 = (seconds.quantile(share) for share in (0.5, 0.95))
    table = pd.DataFrame({"mean": seconds.mean(), "p50": p50, "p95": p95, "n_timed": seconds.size()})
    return table.reindex(evaluation.policies.index.intersection(table.index))


def with_latency(evaluation: Evaluation, list_seconds: Mapping[str, "pd.Series[float]"]) -> Evaluation:
    """Return an evaluation with the seconds of its lists as one more measure, `latency_s`.

    No order of ties changes how long a list took: the seconds stand under every treatment, and their
    standard deviation over orderings is 0. A list that gives none has no value (NaN).

    Args:
        evaluation: whose lists count.
        list_seconds: as `latencies` returns them; where they are of none of its lists, nothing is added.
    """
    seconds = _aligned(list_seconds, evaluation)
    if seconds.isna().all():
        return evaluation
    columns = {(LATENCY, ties): 0 * seconds if ties == "std" else seconds for ties in evaluation.ties}
    timed = pd.DataFrame(columns).rename_axis(columns=evaluation.scores.columns.names)
    return replace(
        evaluation,
        scores=evaluation.scores.join(timed),
        measures=(*evaluation.measures, LATENCY),
    )


def _aligned(list_seconds: Mapping[str, "pd.Series[float]"], evaluation: Evaluation) -> "pd.Series[float]":
    """Return the seconds of each list that is scored, NaN where it gives none."""
    index = evaluation.scores.index
    if not list_seconds:
        return pd.Series(np.nan, index)
    return pd.concat(list_seconds, names=index.names).reindex(index)
