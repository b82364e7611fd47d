"""Who could lead once documents that nobody judged are judged."""

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
    "What unjudged documents leave open is not shown: queries with nothing relevant are left out, and a "
    "judgment may add one of them to the means. Count them 0 to see it."
)
"""Why nothing bounds a mean where `adds_queries` is true."""


def are_bounds_known(measure: MeasureAt) -> bool:
    """Return whether a measure that orders of ties can move has joint bounds."""
    family = measure.measure.family
    return family.joint is not None and not family.own_rule


def can_narrow(measure: MeasureAt) -> bool:
    """Return whether judgments can narrow the joint bounds of a measure: not where it counts them."""
    return measure.measure.family.joint is not judged_bounds


def mean_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return the means of joint bounds by reranker: lowest, highest."""
    return bounds.groupby(level="reranker", sort=False).mean()


def holds(differences: pd.DataFrame) -> "pd.Series[bool]":
    """Return of which comparisons, of `difference_bounds`, nothing reverses the order."""
    return (differences["lowest"] > EQUAL) | (differences["highest"] < -EQUAL)


def order_finding(is_safe: BoolArray, is_significant: BoolArray, *, shares_grades: bool) -> Prose:
    """Say how many comparisons keep their order whatever ties and unjudged documents do.

    Args:
        is_safe: (n,) of which comparisons `holds` is true.
        is_significant: (n,) which are significant by tied values.
        shares_grades: whether bounds count a document with one grade in both lists; else they are of two bars.
    """
    if not len(is_safe):
        return ()
    manner = (
        "the bounds are not always reached"
        if shares_grades
        else "each bar judges the documents that both lists have as suits it"
    )
    if not is_safe.any():
        n = len(is_safe)
        comparisons_word = {1: "the comparison", 2: "both comparisons"}.get(n, f"all {n:,} comparisons")
        return (
            Strong("No order is safe from unjudged documents: "),
            f"in {comparisons_word}, the bounds of the difference include 0. Some may hold: {manner}.",
        )
    part = describe_part(int(is_safe.sum()), len(is_safe), "comparison", "have an order that nothing reverses")
    n_significant = int(is_significant.sum())
    n_both = int((is_safe & is_significant).sum())
    of_these = f" ({n_both:,} of the {n_significant:,} significant ones)" * bool(n_significant)
    addition = f" More may hold: {manner}." * (not is_safe.all())
    return (Strong(part), f", no order of the ties and no judgment of what nobody judged{of_these}.{addition}")


def can_lead(leaderboard: pd.DataFrame, low: str, high: str) -> BoolArray:
    """Return (n,) whether the upper end of each bar reaches the lower ends of all others.

    Args:
        leaderboard: as `leaderboard` returns it.
        low: column of the lower ends.
        high: column of the upper ends.
    """
    ends = leaderboard[["tied"]].assign(worst=leaderboard[low], best=leaderboard[high])
    return np.asarray((next(place_range(ends)) == 1).to_numpy(dtype=bool, na_value=False))


def hole_finding(leaderboard: pd.DataFrame, counts: pd.DataFrame, measure: MeasureAt) -> Prose:
    """Return who could lead by ties and unjudged documents together, and who by ties alone.

    Args:
        leaderboard: as `leaderboard` returns it, with lowest and highest.
        counts: as `unjudged_counts` returns them.
        measure: what it is ranked by.
    """
    rows = leaderboard.dropna(subset=["tied", "lowest", "highest"])
    if not len(rows):
        return NOTHING_SCORED
    judged = (*unjudged_share(counts, measure), ".")
    is_moved = (rows["highest"] - rows["best"] > EQUAL) | (rows["worst"] - rows["lowest"] > EQUAL)
    if not is_moved.any():
        return (Strong("Unjudged documents widen no bounds"), ", though ", *judged)
    return (*(_one_span(rows, measure) if len(rows) == 1 else _who_could_lead(rows)), ": ", *judged)


def _one_span(rows: pd.DataFrame, measure: MeasureAt) -> Prose:
    """Say between what the value of the only reranker lies."""
    low, high, worst, best = (decimal(rows[end].iloc[0]) for end in ("lowest", "highest", "worst", "best"))
    alone = f"ties alone from {worst} to {best}" if worst != best else f"{worst} where none is relevant"
    allowed = f", ties and unjudged documents allow {measure.traditional} from {low} to {high}, {alone}"
    return ("Of ", Strong(str(rows.index[0])), allowed)


def _who_could_lead(rows: pd.DataFrame) -> Prose:
    """Say how many of several rerankers could lead, and how many by ties alone."""
    leaders = rows.index[can_lead(rows, "lowest", "highest")]
    tied_leaders = rows.index[can_lead(rows, "worst", "best")]
    if len(leaders) == 1:
        return (Strong(str(leaders[0])), " leads however ties fall and unjudged documents are judged")
    head = Strong(f"Up to {len(leaders):,} of {len(rows):,} rerankers could lead")
    all_judged = " if every document were judged"
    if len(leaders) == len(tied_leaders):
        return (head, f"{all_judged}, as many as by ties alone")
    if len(tied_leaders) == 1:
        return (head, f"{all_judged}, by ties alone only ", Strong(str(tied_leaders[0])))
    return (head, f"{all_judged}, {len(tied_leaders):,} by ties alone")


def within_words(measure: MeasureAt) -> str:
    """Return where documents are counted: the top k, or the lists of a measure without a cut-off."""
    return f"top {measure.k:,}" if measure.k else "lists"


def unjudged_share(counts: pd.DataFrame, measure: MeasureAt) -> Prose:
    """Say which share of the documents within the cut-off is unjudged, and of which reranker most."""
    shares = unjudged_shares(counts)
    total = percent(counts["unjudged"].sum() / counts["documents"].sum())
    prose: Prose = (f"{total} of the documents in the {within_words(measure)} are unjudged",)
    largest_share = percent(shares.max())
    if largest_share == total:
        return prose
    return (*prose, f", {largest_share} of those of ", Strong(str(shares.idxmax())))
