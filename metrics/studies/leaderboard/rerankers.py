"""Reranker by reranker: what each scores both ways, how much it ties, and how far the two are apart."""

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.gaps.gap import gaps
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, percent, signed


def reranker_summary(evaluation: Evaluation, first: str, second: str, traditional: str) -> pd.DataFrame:
    """The notebook's summary table.

    Args:
        evaluation: with both measures under expected, optimistic, pessimistic and `traditional`.
        first: measure of the first half of the columns.
        second: measure of the second half.
        traditional: the treatment taken as the traditional one.

    Returns:
        index reranker; tie_ratio and its std, lists_with_gap (share of lists whose first gap is not
        0), and for p in first, second: p_traditional, p_traditional_std, p_tied, p_tied_std, p_worst,
        p_best, p_gap (signed mean), p_gap_mean and p_gap_max of its absolute value.
    """
    table = gaps(evaluation, {"first": first, "second": second}, traditional)
    groups = table.groupby("reranker", sort=False)
    columns = {
        "tie_ratio": groups["tie_ratio"].mean(),
        "tie_ratio_std": groups["tie_ratio"].std(),
        "lists_with_gap": (table["first_gap"] != 0).groupby(table["reranker"], sort=False).mean(),
    }
    for p in ("first", "second"):
        size = table[f"{p}_gap"].abs().groupby(table["reranker"], sort=False)
        columns |= {
            f"{p}_traditional": groups[f"{p}_traditional"].mean(),
            f"{p}_traditional_std": groups[f"{p}_traditional"].std(),
            f"{p}_tied": groups[f"{p}_tied"].mean(),
            f"{p}_tied_std": groups[f"{p}_tied"].std(),
            f"{p}_worst": groups[f"{p}_worst"].mean(),
            f"{p}_best": groups[f"{p}_best"].mean(),
            f"{p}_gap": groups[f"{p}_gap"].mean(),
            f"{p}_gap_mean": size.mean(),
            f"{p}_gap_max": size.max(),
        }
    return pd.DataFrame(columns)


def reranker_finding(summary: pd.DataFrame, measure: str) -> Prose:
    """Who is off most, and whether the number of ties explains it.

    Args:
        summary: as `reranker_summary` returns it.
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
        sentence = f"A single list of it is off by {most_tied['first_gap_mean']:.3f} on average."
        return (*start, sentence)
    return (
        *start,
        Strong(str(farthest.name)),
        f" is farther off, {signed(farthest['first_gap'])}, with {percent(farthest['tie_ratio'])}: "
        "where documents tie matters more than how many.",
    )
