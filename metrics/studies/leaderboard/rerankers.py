"""Reranker by reranker: what each scores both ways, how much it ties, and how far the two are apart."""

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.gaps.gap import gaps
from metrics.studies.prose import Prose, Strong, percent, signed


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
    by = table.groupby("reranker", sort=False)
    columns = {
        "tie_ratio": by["tie_ratio"].mean(),
        "tie_ratio_std": by["tie_ratio"].std(),
        "lists_with_gap": (table["first_gap"] != 0).groupby(table["reranker"], sort=False).mean(),
    }
    for p in ("first", "second"):
        size = table[f"{p}_gap"].abs().groupby(table["reranker"], sort=False)
        columns |= {
            f"{p}_traditional": by[f"{p}_traditional"].mean(),
            f"{p}_traditional_std": by[f"{p}_traditional"].std(),
            f"{p}_tied": by[f"{p}_tied"].mean(),
            f"{p}_tied_std": by[f"{p}_tied"].std(),
            f"{p}_worst": by[f"{p}_worst"].mean(),
            f"{p}_best": by[f"{p}_best"].mean(),
            f"{p}_gap": by[f"{p}_gap"].mean(),
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
        return ("No list is scored: every query was left out.",)
    off = summary.loc[summary["first_gap"].abs().idxmax()]
    tied = summary.loc[summary["tie_ratio"].idxmax()]
    if not tied["tie_ratio"]:
        return (Strong("No reranker ties a document. "), "Traditional and tied values are the same.")
    start: Prose = (
        Strong(str(tied.name)),
        f" ties most, {percent(tied['tie_ratio'])} of its documents, at "
        f"{signed(tied['first_gap'])} {measure}. ",
    )
    if off.name == tied.name or not off["first_gap"]:
        rest = f"A single list of it is off by {tied['first_gap_mean']:.3f} on average."
        return (*start, rest)
    return (
        *start,
        Strong(str(off.name)),
        f" is farther off, {signed(off['first_gap'])}, with {percent(off['tie_ratio'])}: "
        "where documents tie matters more than how many.",
    )
