"""Which reranker leads, by the order of the file and by every order its ties allow."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.scale.stored import Stored
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, percent

Verdict = Literal["stable", "tie-sensitive", "tie-inflated", "tie-deflated"]

TOLERANCE = 0.01
"""Smallest difference of means that is called one."""
SMALLEST_SHOWN = 0.0005
"""Smallest difference that three decimals show."""

VERDICTS: dict[Verdict, str] = {
    "stable": f"No tie-breaking moves the mean by {TOLERANCE} or more.",
    "tie-sensitive": f"Tie-breaking can move the mean by {TOLERANCE} or more; the traditional value is close.",
    "tie-inflated": f"The traditional value is {TOLERANCE} or more above the tied one.",
    "tie-deflated": f"The traditional value is {TOLERANCE} or more below the tied one.",
}
"""What each verdict means."""


def leaderboard(evaluation: Evaluation | Stored, measure: str, traditional: str) -> pd.DataFrame:
    """One row a reranker, best tied mean first.

    Args:
        evaluation: with `measure` under expected, optimistic, pessimistic and `traditional`; one that is
            stored has its means in its footer, so that no list is read.
        measure: name of a measure, such as `RR`.
        traditional: the treatment taken as the traditional one, such as `input`.

    Returns:
        index reranker; tied, worst, best, traditional (means), gap (traditional − tied),
        tie_ratio (mean over lists), tied_rank, traditional_rank (1 best, equal means share one),
        best_rank, worst_rank (the highest and lowest place that any tie-breaking gives), verdict.
    """
    means = evaluation.means(measure)
    tie_ratios = (
        evaluation.tie_ratios
        if isinstance(evaluation, Stored)
        else evaluation.lists["tie_ratio"].groupby(level="reranker").mean()
    )
    table = pd.DataFrame(
        {
            "tied": means["expected"],
            "worst": means["pessimistic"],
            "best": means["optimistic"],
            "traditional": means[traditional],
            "gap": means[traditional] - means["expected"],
            "tie_ratio": tie_ratios,
        }
    ).reindex(means.index)
    for value in ("tied", "traditional"):
        ranks = table[value].round(12).rank(method="min", ascending=False)
        table[f"{value}_rank"] = ranks.astype("Int64")
    table["best_rank"], table["worst_rank"] = place_range(table)
    table["verdict"] = [verdict(row.gap, row.best - row.worst) for row in table.itertuples()]
    return table.sort_values("tied", ascending=False, kind="stable")


def place_range(table: pd.DataFrame) -> Iterator["pd.Series[int]"]:
    """Yield the highest, then the lowest place any tie-breaking gives each reranker, NA if not scored."""
    best, worst = (table[bound].to_numpy() for bound in ("best", "worst"))
    for theirs, ours in ((worst, best), (best, worst)):
        sorted_means = np.sort(theirs[~np.isnan(theirs)])
        above = (
            len(sorted_means)
            - np.searchsorted(sorted_means, ours + EQUAL, side="right")
            - (theirs > ours + EQUAL)
        )
        yield pd.Series(1 + above, table.index, dtype="Int64").mask(table["tied"].isna())


def mean_std(evaluation: Evaluation, measure: str) -> "pd.Series[float]":
    """Standard deviation of each reranker's mean when ties are broken at random, list by list.

    sqrt(sum of variances) / n, as lists are independent.

    Args:
        evaluation: with `measure` under std.
        measure: name of a measure.
    """
    lists = evaluation.scores[measure]["std"].groupby(level="reranker", sort=False)
    return lists.agg(lambda std: np.sqrt(np.square(std).sum()) / len(std)).rename("std")


def verdict(gap: float, width: float) -> Verdict:
    """What ties do to one mean: `gap` is traditional − tied, `width` is best − worst."""
    if gap >= TOLERANCE:
        return "tie-inflated"
    if gap <= -TOLERANCE:
        return "tie-deflated"
    return "tie-sensitive" if width >= TOLERANCE else "stable"


def leaderboard_finding(table: pd.DataFrame, measure: str) -> Prose:
    """What ties did to this leaderboard, in one or two sentences.

    Args:
        table: as `leaderboard` returns it.
        measure: how the measure is called, such as `MRR`.
    """
    table = table[table["tied"].notna()]
    if not len(table):
        return NOTHING_SCORED
    rank_changes = table[table["tied_rank"] != table["traditional_rank"]]
    if len(rank_changes):
        return _rank_change_finding(rank_changes, measure)
    farthest = table.loc[table["gap"].abs().idxmax()]
    if abs(farthest["gap"]) >= TOLERANCE:
        direction = "above" if farthest["gap"] > 0 else "below"
        return (
            Strong(str(farthest.name)),
            f" reads {abs(farthest['gap']):.3f} {measure} {direction} what its scores say: "
            f"{percent(farthest['tie_ratio'])} of its documents share a score. ",
            "The order of rerankers stays the same." if len(table) > 1 else "",
        )
    return _same_ranks_finding(table, measure)


def _same_ranks_finding(table: pd.DataFrame, measure: str) -> Prose:
    """Same ranks, no gap worth the name: either ties do not matter, or this sort was lucky."""
    width = table["best"] - table["worst"]
    widest, largest = str(width.idxmax()), table["gap"].abs().max()
    if width.max() < TOLERANCE:
        return (
            Strong("Ties do not matter here. "),
            f"No tie-breaking moves a mean by more than {width.max():.4f} {measure} (",
            Strong(widest),
            f"); the largest gap is {largest:.4f}.",
        )
    return (
        Strong("This sort comes out close, another need not. "),
        f"The largest gap is {largest:.4f} {measure}, but tie-breaking alone can put ",
        Strong(widest),
        f" anywhere from {table.loc[widest, 'worst']:.3f} to {table.loc[widest, 'best']:.3f}.",
    )


def _rank_change_finding(rank_changes: pd.DataFrame, measure: str) -> Prose:
    jump = (rank_changes["traditional_rank"] - rank_changes["tied_rank"]).abs()
    size = rank_changes["gap"].abs()
    row = rank_changes.assign(jump=jump, size=size).sort_values(["jump", "size"], ascending=False).iloc[0]
    why = (
        f"{percent(row['tie_ratio'])} of its documents share a score, and the sort puts its {measure} "
        f"{abs(row['gap']):.3f} too {'high' if row['gap'] > 0 else 'low'}"
        if abs(row["gap"]) >= SMALLEST_SHOWN
        else "its own value stays, the ties of others move"
    )
    return (
        Strong(str(row.name)),
        " ranks ",
        Strong(f"#{row['traditional_rank']}"),
        " by the usual number and ",
        Strong(f"#{row['tied_rank']}"),
        f" once ties are averaged: {why}.",
    )
