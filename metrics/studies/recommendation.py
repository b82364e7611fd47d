"""Which number to report, and why: the notebook's recommendation, from what ties do instead of how many."""

import pandas as pd

from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, question
from metrics.studies.leaderboard import no_order_matters
from metrics.studies.prose import Prose, Strong, and_more, decimal
from metrics.studies.significance import Verdicts
from metrics.support.wording import describe_part, part_of

MADE_BY_WRITING = ("few-decimals", "half-precision", "saturated", "constant-run")
"""Findings that say how scores came to tie."""
HIDDEN = "ranks-as-scores"
"""The finding that says of a file that its ties cannot be seen."""
SUSPECT = ("order-leaks", "float32-ties", "near-ties")
"""Findings that say whom the order of the file favours, or who sees other ties."""


def recommendation(
    leaderboard: pd.DataFrame, verdicts: Verdicts, measure: MeasureAt, findings: pd.DataFrame
) -> Prose:
    """Return whether to report the tied value, with the reasons that the data gives.

    The traditional value will do where every reranker is stable, and no order of the ties changes a place or
    a verdict of the test.

    Args:
        leaderboard: as `leaderboard` returns it, by the measure.
        verdicts: comparisons with the baseline, by the same measure.
        measure: the measure.
        findings: as `Runs.findings`.
    """
    hidden = findings.loc[findings["code"] == HIDDEN, "file"].unique()
    advice = _advice(leaderboard, verdicts, measure)
    if not len(hidden):
        return advice
    verb = "hold" if len(hidden) > 1 else "holds"
    unseen = f"{and_more(len(hidden) - 1)} {verb} ranks and no scores: what tied there cannot be seen."
    return *advice, " ", Strong(str(hidden[0])), unseen


def _advice(leaderboard: pd.DataFrame, verdicts: Verdicts, measure: MeasureAt) -> Prose:
    leaderboard = leaderboard[leaderboard["tied"].notna()]
    if not len(leaderboard):
        return (Strong("Nothing can be recommended: "), "no list is scored.")
    if measure.measure.answers:
        answered = question(measure)
        return (
            Strong(f"Report {measure} beside {answered.tied}, and name its rule. "),
            f"{measure} settles ties by a rule of its own and is the same in every order of them; what the "
            f"order decides is seen in {answered.traditional}, whose ties it settles.",
        )
    if leaderboard["best"].max() <= EQUAL:
        return Strong(
            "Nothing can be recommended: "
        ), f"every {measure.traditional} is 0, in any order of ties."
    width = leaderboard["best"] - leaderboard["worst"]
    reasons = _reasons(leaderboard, verdicts, measure)
    if (leaderboard["verdict"] == "stable").all() and not reasons:
        return _harmless(leaderboard, width, measure)
    widest = str(width.idxmax())
    low, high = (decimal(leaderboard.loc[widest, end]) for end in ("worst", "best"))
    is_of_width = leaderboard.loc[widest, "verdict"] == "tie-sensitive"  # else the reason is that of the gap
    why = f": {leaderboard.loc[widest, 'why']}" if is_of_width else ""
    return (
        Strong(f"Report {measure.tied}, the mean over all orders, with its worst and best. "),
        *reasons,
        "Ties alone let ",
        Strong(widest),
        f" read anywhere from {low} to {high}{why}.",
    )


def _harmless(leaderboard: pd.DataFrame, width: "pd.Series[float]", measure: MeasureAt) -> Prose:
    """Say that ties move no mean far, and whether they can still change a place."""
    report_it = " The traditional value may be reported as it is."
    if width.max() <= EQUAL:
        has_ties = bool(leaderboard["tie_ratio"].any())
        return *no_order_matters(f"any reranker's {measure.traditional}", has_ties=has_ties), report_it
    widest = str(width.idxmax())
    moves = (
        f"No order of them moves any reranker's {measure.traditional} by more than {decimal(width.max(), 4)} "
        f"({widest}: {leaderboard.loc[widest, 'why']}), "
    )
    close = int((leaderboard["best_rank"] != leaderboard["worst_rank"]).sum())
    if not close:
        places = "no place depends on it, and verdicts are the same whether ties are sorted or averaged."
        return Strong("Ties do not matter here. "), moves, places, report_it
    places = f"but {close} rerankers are so close that it can change their places: report {measure.tied}."
    return Strong("Ties hardly matter here. "), moves, places


def _reasons(leaderboard: pd.DataFrame, verdicts: Verdicts, measure: MeasureAt) -> Prose:
    """Return what would be told wrongly by the traditional value."""
    reasons: Prose = ()
    off = leaderboard[leaderboard["verdict"].isin(["tie-inflated", "tie-deflated"])]
    if len(off):
        farthest = off.loc[off["gap"].abs().idxmax()]
        size, side = decimal(abs(farthest["gap"])), "high" if farthest["gap"] > 0 else "low"
        value = f" reads {size} {measure.traditional} too {side} as its ties are sorted, {farthest['why']}. "
        reasons = (*reasons, Strong(str(farthest.name)), value)
    n_moved = int((leaderboard["tied_rank"] != leaderboard["traditional_rank"]).sum())
    if n_moved:
        movers = describe_part(n_moved, len(leaderboard), "reranker", "change place once ties are averaged")
        reasons = (*reasons, f"{movers}. ")
    n_changed = int(verdicts.changed.sum())
    if n_changed:
        verb = "rests" if n_changed == 1 else "rest"
        changes = part_of(n_changed, len(verdicts.changed), "verdict")
        reasons = (*reasons, f"{changes} against the baseline {verb} on sort order. ")
    return reasons


def tie_remedies(findings: pd.DataFrame) -> tuple[Prose, ...]:
    """Say what to do about the ties, a sentence a cause of `Runs.findings`; nothing where none is known."""
    grave = findings[findings["code"].isin(MADE_BY_WRITING + SUSPECT)]
    return tuple(_remedy(rows) for _, rows in grave.groupby(["code", "hint"], sort=False))


def _remedy(rows: pd.DataFrame) -> Prose:
    first = rows.iloc[0]
    repeated = f" ({len(rows) - 1} more like it.)" if len(rows) > 1 else ""
    return Strong(str(first["file"])), f": {first['message']}{repeated} {first['hint']}"
