"""Who is off most, and whether ties explain it."""

import pandas as pd

from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal, percent, signed


def reranker_finding(summary: pd.DataFrame, measure: str) -> Prose:
    """Say who is off most, and whether the number of ties explains it.

    Args:
        summary: as `gap_summary` returns it, with the prefix `first`.
        measure: how the first measure is called, such as `MRR`.
    """
    if not len(summary):
        return NOTHING_SCORED
    farthest = summary.loc[summary["first_gap"].abs().idxmax()]
    most_tied = summary.loc[summary["tie_ratio"].idxmax()]
    if not most_tied["tie_ratio"]:
        return (Strong("No reranker ties a document. "), "Traditional and tied values are the same.")
    start: Prose = (
        Strong(str(most_tied.name)),
        f" ties most, {percent(most_tied['tie_ratio'])} of its documents, at "
        f"{signed(most_tied['first_gap'])} {measure}. ",
    )
    if farthest.name == most_tied.name or not farthest["first_gap"]:
        sentence = f"A single list of it is off by {decimal(most_tied['first_gap_mean'])} on average."
        return (*start, sentence)
    return (
        *start,
        Strong(str(farthest.name)),
        f" is farther off, {signed(farthest['first_gap'])}, with {percent(farthest['tie_ratio'])}: "
        "where documents tie matters more than how many.",
    )
