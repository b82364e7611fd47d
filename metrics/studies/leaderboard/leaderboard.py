"""Which reranker leads, by the order of the file and by every order its ties allow."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.scale.stored import Stored
from metrics.studies.gaps.gap import named_values
from metrics.studies.leaderboard.verdicts import judge, relative_size
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.studies.tools.tie_rules import own_rule_note
from metrics.support.arrays import BoolArray, IntArray
from metrics.support.wording import percent
from metrics.ties import treatment


def leaderboard(evaluation: Evaluation | Stored, measure: str, traditional: str) -> pd.DataFrame:
    """Return one row a reranker, best tied mean first.

    Args:
        evaluation: with `measure` under expected, optimistic, pessimistic and `traditional`; one that is
            stored has its means in its footer, so that no list is read.
        measure: name of a measure, such as `RR`.
        traditional: the treatment taken as the traditional one, such as `input`.

    Returns:
        index reranker; tied, worst, best, traditional (means), gap (traditional − tied),
        tie_ratio (mean over lists), standard_error (of the tied mean over queries, NaN where it is not
        known: of one list), tied_rank, traditional_rank (1 best, equal means share one),
        best_rank, worst_rank (the highest and lowest place that any tie-breaking gives), verdict and why.
    """
    table = named_values(evaluation.means(measure), traditional)
    table["gap"] = table["traditional"] - table["tied"]
    table["tie_ratio"], table["standard_error"] = evaluation.tie_ratios, evaluation.standard_errors(measure)
    for value in ("tied", "traditional"):
        table[f"{value}_rank"] = places(table[value])
    table["best_rank"], table["worst_rank"] = place_range(table)
    own_rule = measure if parse(measure).measure.answers else ""
    table = table.join(judge(table, own_rule))
    return table.sort_values("tied", ascending=False, kind="stable")


def places(means: "pd.Series[float]") -> "pd.Series[int]":
    """Return the place of each mean: 1 + how many are above it, rounding left out; NA where there is none."""
    return means.round(12).rank(method="min", ascending=False).astype("Int64")


def swap_matrix(leaderboard: pd.DataFrame) -> BoolArray:
    """Return (n, n) whether the row's reranker is above the column's by the sort, and below it when tied."""
    return swaps_of(*(leaderboard[f"{value}_rank"].to_numpy(np.int64) for value in ("traditional", "tied")))


def swaps_of(before: IntArray, tied: IntArray) -> BoolArray:
    """Return (n, n) whether the row is above the column by the (n,) places before, and below it by the tied."""
    return np.asarray((before[:, None] < before) & (tied[:, None] > tied))


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
    """Return the standard deviation of each mean when ties are broken at random: sqrt(sum of variances) / n."""
    lists = evaluation.scores[measure]["std"].groupby(level="reranker", sort=False)
    return lists.agg(lambda std: np.sqrt(np.square(std).sum()) / len(std)).rename("std")


def leaderboard_finding(table: pd.DataFrame, measure: str, traditional: str = "input") -> Prose:
    """Return what ties did to this leaderboard, in one or two sentences.

    Args:
        table: as `leaderboard` returns it.
        measure: how the measure is called, such as `MRR`.
        traditional: the treatment taken as the traditional one there.
    """
    table = table[table["tied"].notna()]
    if not len(table):
        return NOTHING_SCORED
    if (table["verdict"] == "own rule").all():
        return _own_rule_finding(table, measure)
    order = treatment(traditional).order
    rank_changes = table[table["tied_rank"] != table["traditional_rank"]]
    if len(rank_changes):
        return _rank_change_finding(rank_changes, measure, order)
    off = table[table["verdict"].isin(["tie-inflated", "tie-deflated"])]
    if not len(off):
        return _same_ranks_finding(table, measure, order)
    farthest = off.loc[off["gap"].abs().idxmax()]
    size = decimal(abs(farthest["gap"]))
    return (
        f"By {order} ",
        Strong(str(farthest.name)),
        f" reads {size} {measure} {'above' if farthest['gap'] > 0 else 'below'} what its scores say, "
        f"{farthest['why']}: {_share_tied(farthest)}. ",
        "The order of rerankers stays the same." if len(table) > 1 else "",
    )


def _same_ranks_finding(table: pd.DataFrame, measure: str, order: str) -> Prose:
    """Say of unchanged ranks without a large gap that ties do not matter, or this order was lucky."""
    if table["best"].max() <= EQUAL:
        reason = "no list has a relevant document where it counts, in any order of its ties."
        return Strong(f"Every {measure} is 0 here: "), reason
    width, largest = table["best"] - table["worst"], table["gap"].abs().max()
    if width.max() <= EQUAL:
        return no_order_matters(f"any reranker's {measure}", has_ties=bool(table["tie_ratio"].any()))
    is_open = table["verdict"] == "tie-sensitive"
    if not is_open.any():
        name = str(width.idxmax())
        close = int((table["best_rank"] != table["worst_rank"]).sum())
        places = f"; but {close} rerankers are so close that it can change their places." if close else "."
        return (
            Strong("Ties hardly matter here. " if close else "Ties do not matter here. "),
            f"No tie-breaking moves a mean by more than {decimal(width.max(), 4)} {measure} (",
            Strong(name),
            f": {table.loc[name, 'why']}); the largest gap is {decimal(largest, 4)}{places}",
        )
    name = str(width[is_open].idxmax())
    low, high = (decimal(table.loc[name, end]) for end in ("worst", "best"))
    return (
        Strong(f"By {order} it comes out close, by another it need not. "),
        f"The largest gap is {decimal(largest, 4)} {measure}, but tie-breaking alone can put ",
        Strong(name),
        f" anywhere from {low} to {high}: {table.loc[name, 'why']}.",
    )


def _own_rule_finding(table: pd.DataFrame, measure: str) -> Prose:
    """Return who leads by a measure that settles ties by its own rule; how many documents tie all the same."""
    most_tied = table.loc[table["tie_ratio"].idxmax()]
    if not most_tied["tie_ratio"]:
        return no_order_matters(measure, has_ties=False)
    return (
        *own_rule_note(measure),
        "Of ",
        Strong(str(most_tied.name)),
        f", {_share_tied(most_tied)}.",
    )


def _share_tied(row: "pd.Series[float]") -> str:
    return f"{percent(row['tie_ratio'])} of the documents of a list tie on average"


def no_order_matters(value: str, *, has_ties: bool) -> Prose:
    """Say that no order of the ties moves a value, or that there are none."""
    if not has_ties:
        return Strong(
            "No document ties: "
        ), "the scores leave one order, and traditional and tied are the same."
    return Strong("Ties do not matter here. "), f"Documents tie, but no order of them moves {value}."


def _rank_change_finding(rank_changes: pd.DataFrame, measure: str, order: str) -> Prose:
    """Say of the reranker nearest the top whose rank changes, of several the one that changes most."""
    ranks, size = rank_changes[["traditional_rank", "tied_rank"]], rank_changes["gap"].abs()
    jump = (ranks["traditional_rank"] - ranks["tied_rank"]).abs()
    nearest = pd.DataFrame({"top": -ranks.min(axis=1), "jump": jump, "size": size})
    row = rank_changes.loc[nearest.sort_values(["top", "jump", "size"], ascending=False).index[0]]
    gap, tied = row["gap"], row["tied"]
    why = (
        f"{_share_tied(row)}, and {order} puts its {measure} "
        f"{decimal(abs(gap))} too {'high' if gap > 0 else 'low'}, "
        f"{relative_size(gap, tied, 'above' if gap > 0 else 'below')}"
        if abs(gap) > EQUAL
        else "its own value stays, the ties of others move"
    )
    return (
        Strong(str(row.name)),
        " is ",
        Strong(f"#{row['traditional_rank']}"),
        f" by {order} and ",
        Strong(f"#{row['tied_rank']}"),
        f" once ties are averaged: {why}.",
    )
