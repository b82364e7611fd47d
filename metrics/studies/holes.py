"""State which rerankers could lead once unjudged documents are judged."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL
from metrics.evaluation.holes import unjudged_shares
from metrics.measures import MeasureAt
from metrics.measures.joint_bounds import judged_bounds
from metrics.studies.leaderboard import place_range
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.support.arrays import BoolArray
from metrics.support.wording import describe_part, percent

QUERIES_MAY_JOIN = (
    "Bounds for unjudged documents are not shown: queries without relevant documents are left out, and a new "
    "judgment may add such a query to the means. Count these queries as 0 to see the bounds."
)
"""Reason for missing bounds if `adds_queries` is true."""


def are_bounds_known(measure: MeasureAt) -> bool:
    """Return whether joint bounds are defined for a measure and can move."""
    family = measure.measure.family
    return family.joint is not None and not family.own_rule


def can_narrow(measure: MeasureAt) -> bool:
    """Return whether judgments can narrow the joint bounds: not of a measure that counts judgments."""
    return measure.measure.family.joint is not judged_bounds


def mean_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return the means of joint bounds by reranker: lowest, highest."""
    return bounds.groupby(level="reranker", sort=False).mean()


def holds(differences: pd.DataFrame) -> "pd.Series[bool]":
    """Return which comparisons of `difference_bounds` exclude 0."""
    return (differences["lowest"] > EQUAL) | (differences["highest"] < -EQUAL)


def order_finding(is_safe: BoolArray, is_significant: BoolArray, *, shares_grades: bool) -> Prose:
    """Count the comparisons that keep their order for all tie orders and judgments.

    `is_safe` is the result of `holds`, `is_significant` the test's by tied scores. `shares_grades` tells
    whether the bounds give a document one grade in both lists.
    """
    if not len(is_safe):
        return ()
    manner = (
        "the bounds can be wider than the possible differences"
        if shares_grades
        else "the bounds may assume different grades for the same document in the two lists"
    )
    if not is_safe.any():
        n = len(is_safe)
        comparisons = {1: "the comparison", 2: "both comparisons"}.get(n, f"all {n:,} comparisons")
        return (
            Strong("Unjudged documents could reverse every comparison: "),
            f"in {comparisons}, the bounds of the difference include 0. Some comparisons may still keep "
            f"their order, because {manner}.",
        )
    n_significant, n_both = int(is_significant.sum()), int((is_safe & is_significant).sum())
    of_these = f" ({n_both:,} of the {n_significant:,} significant comparisons)" * bool(n_significant)
    addition = f" More comparisons may keep their order, because {manner}." * (not is_safe.all())
    return (
        Strong(describe_part(int(is_safe.sum()), len(is_safe), "comparison", "keep the same order")),
        f" in every tie order and for all grades of unjudged documents{of_these}.{addition}",
    )


def can_lead(leaderboard: pd.DataFrame, low: str, high: str) -> BoolArray:
    """Return (n,) whether column `high` of each reranker reaches column `low` of all others."""
    ends = leaderboard[["tied"]].assign(worst=leaderboard[low], best=leaderboard[high])
    return np.asarray((next(place_range(ends)) == 1).to_numpy(dtype=bool, na_value=False))


def hole_finding(leaderboard: pd.DataFrame, counts: pd.DataFrame, measure: MeasureAt) -> Prose:
    """State which rerankers could lead by ties and unjudged documents together, and by ties alone.

    `leaderboard` has lowest and highest as well; `counts` is the result of `unjudged_counts`.
    """
    rows = leaderboard.dropna(subset=["tied", "lowest", "highest"])
    if not len(rows):
        return NOTHING_SCORED
    judged = (*unjudged_share(counts, measure), ".")
    is_moved = (rows["highest"] - rows["best"] > EQUAL) | (rows["worst"] - rows["lowest"] > EQUAL)
    if not is_moved.any():
        return (Strong("Unjudged documents do not widen any bounds"), ", although ", *judged)
    return (*(_one_span(rows, measure) if len(rows) == 1 else _who_could_lead(rows)), ": ", *judged)


def _one_span(rows: pd.DataFrame, measure: MeasureAt) -> Prose:
    low, high, worst, best = (decimal(rows[end].iloc[0]) for end in ("lowest", "highest", "worst", "best"))
    alone = (
        f"{worst} to {best} by ties alone" if worst != best else f"{worst} if no unjudged document is relevant"
    )
    bounds = f" has {measure.traditional} between {low} and {high}, depending on ties and unjudged documents"
    return (Strong(str(rows.index[0])), f"{bounds} ({alone})")


def _who_could_lead(rows: pd.DataFrame) -> Prose:
    leaders = rows.index[can_lead(rows, "lowest", "highest")]
    tied_leaders = rows.index[can_lead(rows, "worst", "best")]
    if len(leaders) == 1:
        return (Strong(str(leaders[0])), " leads in every tie order and for all grades of unjudged documents")
    head = Strong(f"Up to {len(leaders):,} of {len(rows):,} rerankers could lead")
    all_judged = " if every document were judged"
    if len(leaders) == len(tied_leaders):
        return (head, f"{all_judged}, as many as by tie order alone")
    if len(tied_leaders) == 1:
        return (head, f"{all_judged}, but tie order alone lets only ", Strong(str(tied_leaders[0])), " lead")
    return (head, f"{all_judged}, but tie order alone lets only {len(tied_leaders):,} of them lead")


def within_words(measure: MeasureAt) -> str:
    """Return where documents are counted: the top k, or whole lists."""
    return f"top {measure.k:,}" if measure.k else "lists"


def unjudged_share(counts: pd.DataFrame, measure: MeasureAt) -> Prose:
    """State the share of unjudged documents within the cut-off, and the reranker with the largest share."""
    shares = unjudged_shares(counts)
    total = percent(counts["unjudged"].sum() / counts["documents"].sum())
    prose: Prose = (f"{total} of the documents in the {within_words(measure)} are unjudged",)
    largest_share = percent(shares.max())
    if largest_share == total:
        return prose
    return (*prose, f", {largest_share} for ", Strong(str(shares.idxmax())))
