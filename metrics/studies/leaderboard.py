"""Which reranker leads, by the order of the file and by every order its ties allow."""

from typing import Literal

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.prose import Prose, Strong, percent, signed

Verdict = Literal["stable", "tie-sensitive", "tie-inflated", "tie-deflated"]

TOLERANCE = 0.01
"""Smallest difference of means that is called one."""

VERDICTS: dict[Verdict, str] = {
    "stable": f"No tie-breaking moves the mean by {TOLERANCE} or more.",
    "tie-sensitive": f"Tie-breaking can move the mean by {TOLERANCE} or more; the traditional value is close.",
    "tie-inflated": f"The traditional value is {TOLERANCE} or more above the tied one.",
    "tie-deflated": f"The traditional value is {TOLERANCE} or more below the tied one.",
}
"""What each verdict means."""


def leaderboard(evaluation: Evaluation, measure: str, traditional: str) -> pd.DataFrame:
    """One row a reranker, best tied mean first.

    Args:
        evaluation: with `measure` under expected, optimistic, pessimistic and `traditional`.
        measure: name of a measure, such as `RR`.
        traditional: the treatment taken as the traditional one, such as `input`.

    Returns:
        index reranker; tied, worst, best, traditional (means), gap (traditional − tied),
        tie_ratio (mean over lists), tied_rank, traditional_rank (1 best, equal means share one),
        verdict.
    """
    means = evaluation.summary().xs("mean", axis=1, level=2)[measure]
    board = pd.DataFrame(
        {
            "tied": means["expected"],
            "worst": means["pessimistic"],
            "best": means["optimistic"],
            "traditional": means[traditional],
            "gap": means[traditional] - means["expected"],
            "tie_ratio": evaluation.lists["tie_ratio"].groupby(level="reranker").mean(),
        }
    ).reindex(means.index)
    for value in ("tied", "traditional"):
        ranks = board[value].round(12).rank(method="min", ascending=False)
        board[f"{value}_rank"] = ranks.astype("Int64")
    board["verdict"] = [verdict(row.gap, row.best - row.worst) for row in board.itertuples()]
    return board.sort_values("tied", ascending=False, kind="stable")


def verdict(gap: float, width: float) -> Verdict:
    """What ties do to one mean: `gap` is traditional − tied, `width` is best − worst."""
    if gap >= TOLERANCE:
        return "tie-inflated"
    if gap <= -TOLERANCE:
        return "tie-deflated"
    return "tie-sensitive" if width >= TOLERANCE else "stable"


def leaderboard_finding(board: pd.DataFrame, measure: str) -> Prose:
    """What ties did to this leaderboard, in one or two sentences.

    Args:
        board: as `leaderboard` returns it.
        measure: how the measure is called, such as `MRR`.
    """
    if board["tied"].isna().all():
        return ("No list is scored: every query was left out.",)
    moved = board[board["tied_rank"] != board["traditional_rank"]]
    largest = board.loc[board["gap"].abs().idxmax()]
    name = Strong(str(largest.name))
    amount = f"{percent(largest['tie_ratio'])} of its documents share a score"
    size = abs(largest["gap"])
    if not len(moved) and size < TOLERANCE:
        width = float((board["best"] - board["worst"]).max())
        return (
            Strong("Ties do not matter here. "),
            f"The order of {len(board)} reranker{'s' * (len(board) > 1)} is the same by both values, and the "
            f"largest gap is {signed(largest['gap'], 4)} {measure} (",
            name,
            f"; {amount}). No tie-breaking moves a mean by more than {width:.4f}.",
        )
    if len(moved):
        return _moved(moved, measure)
    direction = "above" if largest["gap"] > 0 else "below"
    return (
        name,
        f" reads {abs(largest['gap']):.3f} {measure} {direction} what its scores say: {amount}. "
        "The order of rerankers stays the same.",
    )


def _moved(moved: pd.DataFrame, measure: str) -> Prose:
    jump = (moved["traditional_rank"] - moved["tied_rank"]).abs()
    row = moved.loc[np.lexsort((-moved["gap"].abs(), -jump.astype(int)))[0] == np.arange(len(moved))].iloc[0]
    direction = "too high" if row["gap"] > 0 else "too low"
    return (
        Strong(str(row.name)),
        " ranks ",
        Strong(f"#{row['traditional_rank']}"),
        " by the usual number and ",
        Strong(f"#{row['tied_rank']}"),
        f" once ties are averaged: {percent(row['tie_ratio'])} of its documents share a score, and the sort "
        f"puts its {measure} {abs(row['gap']):.3f} {direction}.",
    )
