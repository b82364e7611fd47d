"""Who is off most, and whether ties explain it."""

import pandas as pd

from metrics.evaluation import EQUAL
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal, signed
from metrics.support.wording import percent


def reranker_finding(summary: pd.DataFrame, measure: str) -> Prose:
    """Say who is off most, and whether the number of ties explains it.

    Args:
        summary: as `gap_summary` returns it, with the prefix `first`.
        measure: how the first measure is called, such as `MRR`.
    """
    if not len(summary):
        return NOTHING_SCORED
    most_tied = summary.loc[summary["tie_ratio"].idxmax()]
    if not most_tied["tie_ratio"]:
        return (Strong("No reranker ties a document. "), "Traditional and tied values are the same.")
    size = summary["first_gap"].abs()
    farthest = summary.loc[size.idxmax()]
    if size.max() - abs(most_tied["first_gap"]) <= EQUAL:
        sentence = f" A single list of it is off by {decimal(most_tied['first_gap_mean'])} on average."
        return (*_most_tied_clause(summary, measure), sentence)
    is_clear = percent(farthest["tie_ratio"]) != percent(most_tied["tie_ratio"])
    return (
        *_most_tied_clause(summary, measure),
        " ",
        Strong(str(farthest.name)),
        f" is farther off, {signed(farthest['first_gap'])}, with {percent(farthest['tie_ratio'])}",
        ": where documents tie matters more than how many." if is_clear else ".",
    )


def _most_tied_clause(summary: pd.DataFrame, measure: str) -> Prose:
    """Say who ties most, and how far its mean is off."""
    ratios = summary["tie_ratio"]
    row = summary.loc[ratios.idxmax()]
    is_level = len(ratios) > 1 and ratios.max() - ratios.min() <= EQUAL
    verb = "ties" if len(ratios) == 1 else "ties, as every reranker does," if is_level else "ties most,"
    clause = (
        f" {verb} {percent(row['tie_ratio'])} of a list on average, at {signed(row['first_gap'])} {measure}."
    )
    return Strong(str(row.name)), clause
