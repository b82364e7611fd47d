"""Recommend which score to report: the notebook's recommendation, based on the effect of ties."""

import pandas as pd

from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, question
from metrics.studies.leaderboard import harmless_ties
from metrics.studies.pair_findings import Verdicts
from metrics.studies.prose import Prose, Strong, and_more, decimal
from metrics.support.wording import describe_part, part_of

HIDDEN = "ranks-as-scores"
"""The finding that a file hides its ties."""


def recommendation(
    leaderboard: pd.DataFrame, verdicts: Verdicts, measure: MeasureAt, findings: pd.DataFrame
) -> Prose:
    """Recommend the tied or the traditional score, with reasons from the data.

    The traditional score is enough if every reranker is stable, and no tie order changes a rank or a verdict of
    the test.
    """
    hidden = findings.loc[findings["code"] == HIDDEN, "file"].unique()
    advice = _advice(leaderboard, verdicts, measure)
    if not len(hidden):
        return advice
    verb = "contain" if len(hidden) > 1 else "contains"
    unseen = f"{and_more(len(hidden) - 1)} {verb} ranks instead of scores, which hides any ties."
    return *advice, " ", Strong(str(hidden[0])), unseen


def _advice(leaderboard: pd.DataFrame, verdicts: Verdicts, measure: MeasureAt) -> Prose:
    leaderboard = leaderboard[leaderboard["tied"].notna()]
    if not len(leaderboard):
        return (Strong("There is nothing to recommend: "), "no list is scored.")
    if measure.measure.answers:
        answered = question(measure)
        return (
            Strong(f"Report {measure} together with {answered.tied}, and name its tie rule. "),
            f"{measure} settles ties by its own rule, so tie order does not change it. "
            f"{answered.traditional} shows the effect of tie order.",
        )
    if leaderboard["best"].max() <= EQUAL:
        return Strong(
            "There is nothing to recommend: "
        ), f"no tie order lifts any {measure.traditional} above 0."
    reasons = _reasons(leaderboard, verdicts, measure)
    if (leaderboard["verdict"] == "stable").all() and not reasons:
        harmless, close = harmless_ties(leaderboard, measure.traditional)
        if close:
            ranks = f" But tie order can change the ranks of {close} close rerankers, so report {measure.tied}."
            return *harmless, ranks
        same = " Ranks and verdicts are the same for traditional and tied scores."
        return *harmless, f"{same} You can report the traditional score."
    widest = str((leaderboard["best"] - leaderboard["worst"]).idxmax())
    low, high = (decimal(leaderboard.loc[widest, end]) for end in ("worst", "best"))
    is_of_width = leaderboard.loc[widest, "verdict"] == "tie-sensitive"  # else the reason is that of the gap
    why = f": {leaderboard.loc[widest, 'why']}" if is_of_width else ""
    return (
        Strong(f"Report {measure.tied}, the mean over all orders, with its worst and best case. "),
        *reasons,
        "Tie order alone can put ",
        Strong(widest),
        f" anywhere from {low} to {high}{why}.",
    )


def _reasons(leaderboard: pd.DataFrame, verdicts: Verdicts, measure: MeasureAt) -> Prose:
    reasons: list[str | Strong] = []
    off = leaderboard[leaderboard["verdict"].isin(["tie-inflated", "tie-deflated"])]
    if len(off):
        farthest = off.loc[off["gap"].abs().idxmax()]
        size, side = decimal(abs(farthest["gap"])), "high" if farthest["gap"] > 0 else "low"
        score = f" has a traditional {measure.traditional} that is {size} too {side}, {farthest['why']}. "
        reasons += [Strong(str(farthest.name)), score]
    n_moved = int((leaderboard["tied_rank"] != leaderboard["traditional_rank"]).sum())
    if n_moved:
        movers = describe_part(n_moved, len(leaderboard), "reranker", "change rank once ties are averaged")
        reasons.append(f"{movers}. ")
    n_changed = int(verdicts.changed.sum())
    if n_changed:
        verb = "depends" if n_changed == 1 else "depend"
        changes = part_of(n_changed, len(verdicts.changed), "significance verdict")
        reasons.append(f"{changes} against the baseline {verb} on tie order. ")
    return tuple(reasons)
