"""Who is off most, and whether ties explain it."""

import pandas as pd

from metrics.evaluation import EQUAL
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal, signed
from metrics.support.wording import percent


def reranker_finding(summary: pd.DataFrame, measure: str) -> Prose:
    """Say who is off most, and whether the number of ties explains it, of a `gap_summary` of `first`."""
    if not len(summary):
        return NOTHING_SCORED
    most_tied = summary.loc[summary["tie_ratio"].idxmax()]
    if not most_tied["tie_ratio"]:
        return (Strong("No reranker ties a document. "), "Traditional and tied values are the same.")
    size = summary["first_gap"].abs()
    farthest = summary.loc[size.idxmax()]
    if size.max() - abs(most_tied["first_gap"]) <= EQUAL:
        mean = most_tied["first_gap_mean"]
        single = (f" A single list of it is off by {decimal(mean)} on average.",) if mean > EQUAL else ()
        return (*_most_tied_clause(summary, measure), *single)
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
    share = percent(row["tie_ratio"])
    n_alike = int((ratios.map(percent) == share).sum()) - 1
    if len(ratios) == 1:
        verb = "ties"
    elif n_alike == len(ratios) - 1:
        verb = "ties, as every reranker does,"
    else:
        company = "as another does, " if n_alike == 1 else f"as {n_alike:,} others do, " if n_alike else ""
        verb = f"ties most, {company}".rstrip()
    means = f" {verb} {share} of a list on average, at {signed(row['first_gap'])} {measure}."
    return Strong(str(row.name)), means
