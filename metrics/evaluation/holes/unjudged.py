"""How many documents within the cut-off of a measure nobody judged."""

import numpy as np
import pandas as pd

from metrics.evaluation.evaluation import Evaluation
from metrics.measures import MeasureAt

_ALL = 10**9 - 1
"""A cut-off below every list."""


def judged_name(measure: MeasureAt) -> str:
    """Return the name of the measure that says how many documents within a measure's cut-off are judged."""
    return f"Judged@{measure.k or _ALL}"


def unjudged_counts(evaluation: Evaluation, measure: MeasureAt) -> pd.DataFrame:
    """Return how many documents within the cut-off of a measure nobody judged, all orders of ties averaged.

    Args:
        evaluation: with `judged_name` of the measure under expected, unjudged documents in their lists.
        measure: whose cut-off it is; the whole list where it has none.

    Returns:
        index (reranker, query_id); documents within the cut-off, and unjudged, how many of them.
    """
    k = measure.k or _ALL
    n_docs = np.minimum(evaluation.lists["n_docs"], k)
    n_judged = (evaluation.scores[judged_name(measure), "expected"] * k).round(6)
    return pd.DataFrame({"documents": n_docs, "unjudged": n_docs - n_judged})


def unjudged_shares(counts: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of each reranker's documents that nobody judged, of `unjudged_counts`."""
    sums = counts.groupby(level="reranker", sort=False).sum()
    return sums["unjudged"] / sums["documents"].where(sums["documents"] > 0)
