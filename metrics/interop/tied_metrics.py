"""Means of an evaluation as other libraries report metrics: numbers by name, tied, worst and best of each."""

from collections.abc import Mapping

from metrics.evaluation import Evaluation
from metrics.interop.logged import TREATMENT_WORDS

TREATMENTS = ("expected", "pessimistic", "optimistic")
"""What is evaluated: the mean over every order of the ties, the worst and the best order."""


def tied_means(evaluation: Evaluation, names: Mapping[str, str], n_lists: int) -> dict[str, float]:
    """Return the means of each measure, as `tied_`, `worst_` and `best_` before its name, and the tie ratio.

    Args:
        evaluation: of one reranker, under `TREATMENTS`.
        names: measure, as in the evaluation → what the other library calls it.
        n_lists: lists that count; one that was not evaluated counts 0.

    Returns:
        name → mean; `tie_ratio`, the mean share of a list's documents that are tied, last.
    """
    sums = evaluation.scores.sum()
    means = {
        f"{TREATMENT_WORDS[ties]}_{name}": float(sums[measure, ties]) / n_lists
        for ties in evaluation.ties
        for measure, name in names.items()
    }
    return means | {"tie_ratio": float(evaluation.lists["tie_ratio"].sum()) / n_lists}
