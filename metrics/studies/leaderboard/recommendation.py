"""Which number to report, and why: the notebook's recommendation, from what ties do instead of how many."""

import pandas as pd

from metrics.measures import MeasureAt
from metrics.studies.leaderboard.leaderboard import TOLERANCE
from metrics.studies.prose import Prose, Strong
from metrics.studies.significance.significance import Verdicts

MADE_BY_WRITING = ("few-decimals", "half-precision", "saturated", "constant-run")
"""Findings that say how scores came to tie."""
HIDDEN = "ranks-as-scores"
"""The finding that says of a file that its ties cannot be seen."""
SUSPECT = ("order-leaks", "float32-ties", "near-ties")
"""Findings that say whom the order of the file favours, or who sees other ties."""


def recommendation(board: pd.DataFrame, found: Verdicts, measure: MeasureAt, findings: pd.DataFrame) -> Prose:
    """Whether to report the tied value, with the reasons that the data gives.

    The traditional value will do where no order of the ties moves a mean by `TOLERANCE`, changes a place,
    or changes a verdict of the test.

    Args:
        board: as `leaderboard` returns it, by the measure.
        found: comparisons with the baseline, by the same measure.
        measure: the measure.
        findings: as `Runs.findings`.
    """
    hidden = findings.loc[findings["code"] == HIDDEN, "file"].unique()
    said = _advice(board, found, measure)
    if not len(hidden):
        return said
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    verb = "hold" if len(hidden) > 1 else "holds"
    unseen = f"{more} {verb} ranks and no scores: what tied there cannot be seen."
    return *said, " ", Strong(str(hidden[0])), unseen


def _advice(board: pd.DataFrame, found: Verdicts, measure: MeasureAt) -> Prose:
    board = board[board["tied"].notna()]
    if not len(board):
        return (Strong("Nothing can be recommended: "), "no list is scored.")
    if measure.measure.family.own_rule:
        said = f"{measure} has its own rule for ties, the same whatever the order."
        return Strong(f"Report {measure}. "), said
    width = board["best"] - board["worst"]
    reasons = _reasons(board, found, measure)
    if width.max() < TOLERANCE and not reasons:
        return _harmless(board, float(width.max()), measure)
    loosest = str(width.idxmax())
    ends = f"{board.loc[loosest, 'worst']:.3f} to {board.loc[loosest, 'best']:.3f}"
    return (
        Strong(f"Report {measure.tied}, the mean over all orders, with its worst and best. "),
        *reasons,
        "Ties alone let ",
        Strong(loosest),
        f" read anywhere from {ends}.",
    )


def _harmless(board: pd.DataFrame, width: float, measure: MeasureAt) -> Prose:
    """Ties move no mean far; whether they can still change a place."""
    moves = f"No order of them moves a mean {measure.traditional} by more than {width:.4f}, "
    close = int((board["best_rank"] != board["worst_rank"]).sum())
    if not close:
        rest = "no place depends on it, and verdicts are the same whether ties are sorted or averaged: "
        return (
            Strong("Ties do not matter here. "),
            moves,
            rest,
            "the traditional value may be reported as it is.",
        )
    rest = f"but {close} rerankers are so close that it can change their places: report {measure.tied}."
    return Strong("Ties hardly matter here. "), moves, rest


def _reasons(board: pd.DataFrame, found: Verdicts, measure: MeasureAt) -> Prose:
    """What would be told wrongly by the traditional value."""
    reasons: Prose = ()
    off = board.loc[board["gap"].abs().idxmax()]
    if abs(off["gap"]) >= TOLERANCE:
        side = "high" if off["gap"] > 0 else "low"
        value = f" reads {abs(off['gap']):.3f} {measure.traditional} too {side} as its ties are sorted. "
        reasons = (*reasons, Strong(str(off.name)), value)
    moved = int((board["tied_rank"] != board["traditional_rank"]).sum())
    if moved:
        reasons = (*reasons, f"{moved} of {len(board)} rerankers change place once ties are averaged. ")
    changed = int(found.changed.sum())
    if changed:
        rest = "rests" if changed == 1 else "rest"
        told = f"{changed} of {len(found.changed)} verdicts against the baseline {rest} on sort order. "
        reasons = (*reasons, told)
    return reasons


def first_mend(findings: pd.DataFrame) -> tuple[Prose, ...]:
    """What to do about the ties themselves, a sentence a cause; nothing where none is known.

    Args:
        findings: as `Runs.findings`.
    """
    grave = findings[findings["code"].isin(MADE_BY_WRITING + SUSPECT)]
    return tuple(_cause(rows) for _, rows in grave.groupby(["code", "hint"], sort=False))


def _cause(rows: pd.DataFrame) -> Prose:
    first = rows.iloc[0]
    more = f" ({len(rows) - 1} more like it.)" if len(rows) > 1 else ""
    return Strong(str(first["file"])), f": {first['message']}{more} {first['hint']}"
