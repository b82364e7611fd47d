"""The values that rerankers have on the same queries, and what every test does with their differences.

scipy.stats takes a second to load: what is here does without.
"""

from collections import Counter

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.support.arrays import FloatArray


def values_by_query(evaluation: Evaluation, measure: str, ties: str) -> pd.DataFrame:
    """Return the values of a measure, a row a query and a column a reranker.

    Args:
        evaluation: what was evaluated.
        measure: name of a measure.
        ties: name of a treatment.

    Returns:
        index query_id in sorted order; NaN where a reranker has no value, or one that is no number.

    Raises:
        UsageError: a measure or treatment that was not evaluated.
    """
    for name, evaluated in ((measure, evaluation.measures), (ties, evaluation.ties)):
        if name not in evaluated:
            raise UsageError(f"{name} was not evaluated. There are: {', '.join(evaluated)}.")
    table = evaluation.scores[(measure, ties)].unstack("reranker").sort_index()  # noqa: PD010
    table = table.reindex(columns=evaluation.policies.index)
    return table.where(np.isfinite(table))


def count_not_finite(evaluation: Evaluation, measure: str, ties: str) -> dict[str, int]:
    """Count the values of each reranker that are no numbers.

    Args:
        evaluation: what was evaluated.
        measure: name of a measure.
        ties: name of a treatment.

    Returns:
        reranker → count; rerankers without any are left out.
    """
    scores = evaluation.scores[(measure, ties)]
    lists = scores.index[~np.isfinite(scores.to_numpy())]
    return Counter(map(str, lists.get_level_values("reranker")))


def round_differences(differences: FloatArray) -> FloatArray:
    """Round differences to 12 decimals, so that those that differ by rounding are equal, or 0."""
    return np.where(np.abs(differences) <= EQUAL, 0.0, np.round(differences, 12))


def alpha(level: float) -> float:
    """Return 1 - level without the rounding: what p is below where a verdict is significant."""
    return round(1 - level, 12)


def agreeing_signs(n: int) -> float:
    """Return the chance that n signs agree: no sign flip test of n differences gives a smaller p."""
    return 2.0 ** (1 - n) if n else 1.0
