"""What the notebook prints of a set of lists: how many tie, and how far that moves their values."""

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.gaps.gap import correlation, gaps


def tie_summary(evaluation: Evaluation, first: str, second: str, traditional: str = "input") -> pd.DataFrame:
    """One row a reranker.

    Args:
        evaluation: with both measures under expected, optimistic, pessimistic and `traditional`.
        first: measure of the first gap.
        second: measure of the second.
        traditional: the treatment taken as the traditional one.

    Returns:
        index reranker; n, with_ties (lists), with_ties_share, tie_ratio, tie_groups, max_tie_size_mean
        (means over lists; of a list without ties 1), max_tie_size, and for p in first, second the absolute
        gap: p_gap_mean, p_gap_std, p_gap_max; r_ratio and r_size, its correlation in the first measure with
        tie ratio and with the largest tie, NaN where it is not defined.
    """
    table = gaps(evaluation, {"first": first, "second": second}, traditional)
    table["tie_groups"] = evaluation.lists["n_tie_groups"].to_numpy()
    for p in ("first", "second"):
        table[f"{p}_size"] = table[f"{p}_gap"].abs()
    rows = {str(name): _row(lists) for name, lists in table.groupby("reranker", sort=False)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("reranker")


def _row(lists: pd.DataFrame) -> dict[str, float]:
    tied = lists["tie_ratio"] > 0
    row = {
        "n": len(lists),
        "with_ties": int(tied.sum()),
        "with_ties_share": tied.mean(),
        "tie_ratio": lists["tie_ratio"].mean(),
        "tie_groups": lists["tie_groups"].mean(),
        "max_tie_size_mean": lists["max_tie_size"].mean(),
        "max_tie_size": int(lists["max_tie_size"].max()),
    }
    for p in ("first", "second"):
        size = lists[f"{p}_size"]
        row |= {f"{p}_gap_mean": size.mean(), f"{p}_gap_std": size.std(), f"{p}_gap_max": size.max()}
    for name, x in (("r_ratio", "tie_ratio"), ("r_size", "max_tie_size")):
        pearson = correlation(lists[x], lists["first_size"])
        row[name] = float("nan") if pearson is None else pearson[0]
    return row
