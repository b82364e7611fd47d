"""What if scores were held in fewer bits, printed with fewer decimals, or given as grades?"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, EQUAL, ScoringOptions, score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.gaps.values import in_order, named_values
from metrics.studies.leaderboard.leaderboard import mean_std
from metrics.studies.leaderboard.verdicts import SHARE
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.studies.tools.tie_rules import own_rule_note
from metrics.support.arrays import FloatArray
from metrics.support.wording import percent
from metrics.ties.precision import runs_at_precision

GRADES = "grades:0-10"
PRECISIONS = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    *(f"decimals:{n}" for n in range(6, -1, -1)),
    GRADES,
)
"""Formats that are compared: bits in memory, digits in a file, and whole grades from 0 to 10."""
_TOP_GRADE = 10
_Z_95 = 1.96
"""Standard deviations that hold 95 % of normal values."""


def precision_label(precision: str) -> str:
    """Return a precision as people say it, such as `2 decimals`."""
    if precision == GRADES:
        return "grades 0 to 10"
    number = precision.removeprefix("decimals:")
    return precision if number == precision else f"{number} decimal{'s' * (number != '1')}"


def grade_scores(scores: FloatArray) -> FloatArray:
    """Return (n,) scores of one reranker as whole grades from 0 to 10, as an LLM would give them.

    round(10 · (score − least) / (largest − least)), least and largest over all its finite scores; halves go
    to the even grade, infinite scores to the nearest end, and scores that do not vary are 0. It rises with
    the score: no two documents change sides, some that differed tie.
    """
    finite = scores[np.isfinite(scores)]
    smallest, largest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    if largest == smallest:
        return np.where(scores > largest, float(_TOP_GRADE), 0.0)
    share = (
        np.clip(scores, smallest, largest) / 2 - smallest / 2
    )  # halved: the largest floats have no difference
    return np.round(_TOP_GRADE * (share / (largest / 2 - smallest / 2)))


def coarser_runs(runs: Runs, precision: str) -> Runs:
    """Return the runs with their scores as one of `PRECISIONS`, or `GRADES`, holds them."""
    if precision != GRADES:
        return runs_at_precision(runs, precision)
    return runs.rescored({name: grade_scores(table["score"].to_numpy()) for name, table in runs.tables.items()})


def precision_curve(
    runs: Runs,
    measure: str,
    traditional: str = "input",
    precisions: Sequence[str] = PRECISIONS,
    *,
    queries: Collection[str] | None = None,
    scoring: ScoringOptions = AS_READ,
) -> pd.DataFrame:
    """Return what each reranker would score under each precision of its scores.

    Args:
        runs: what was ranked.
        measure: name of a measure.
        traditional: the treatment taken as the traditional one.
        precisions: which are compared.
        queries: which count; all where None.
        scoring: how lists are scored otherwise.

    Returns:
        One row a reranker and precision: reranker, precision, label, tie_ratio, tied, worst, best,
        traditional (means over lists), std (of the mean when ties are broken at random), low and high
        (where 95 % of shuffles put the mean, tied ± 1.96 std and never beyond worst and best).

    Raises:
        UsageError: a name that does not exist.
    """
    ties = ["expected", "pessimistic", "optimistic", "std", traditional]
    as_held = replace(scoring, precision="float64")
    parts = []
    for precision in precisions:
        rounded_runs = coarser_runs(runs, precision)
        values = score_runs(rounded_runs, measure, ties, as_held).only(runs.rerankers, queries)
        means = values.scores[str(parse(measure))].groupby(level="reranker", sort=False).mean()
        rows = named_values(means, traditional).assign(std=mean_std(values, str(parse(measure))))
        rows.insert(0, "tie_ratio", values.tie_ratios)
        rows.insert(0, "label", precision_label(precision))
        rows.insert(0, "precision", precision)
        parts.append(rows.reset_index())
    curve = pd.concat(parts, ignore_index=True)
    curve["low"] = np.maximum(curve["tied"] - _Z_95 * curve["std"], curve["worst"])
    curve["high"] = np.minimum(curve["tied"] + _Z_95 * curve["std"], curve["best"])
    return in_order(curve, runs.rerankers)


def precision_finding(curve: pd.DataFrame, measure: str) -> Prose:
    """Say how few digits are enough, and what fewer cost, by a reranker's `precision_curve`."""
    if curve["tied"].isna().all():
        return NOTHING_SCORED
    width, as_read = curve["best"] - curve["worst"], curve.iloc[0]
    shift = (curve["tied"] - as_read["tied"]).abs()
    margin = max(SHARE * as_read["tied"], EQUAL)
    is_unchanged = (width - width.iloc[0] < margin) & (shift < margin)
    sufficient = curve[is_unchanged & curve["precision"].str.startswith(("decimals", "grades"))]
    widest = curve.loc[width.idxmax()]
    if own_rule := own_rule_note(measure)[:1]:
        farthest = curve.loc[shift.idxmax()]
        values = f"{decimal(as_read['tied'])} as read and {decimal(farthest['tied'])} with {farthest['label']}"
        return *own_rule, f"It is {values}, where {percent(farthest['tie_ratio'])} of the documents tie."
    if is_unchanged.all():
        return (
            Strong("Digits do not matter here. "),
            f"No format moves {measure}, or what ties can make of it, by {SHARE:.0%} of its value; with "
            f"{widest['label']}, {percent(widest['tie_ratio'])} of the documents tie.",
        )
    cost = (
        f"With {widest['label']}, {percent(widest['tie_ratio'])} tie and their order decides "
        f"{decimal(width.max())} of {measure}."
    )
    if abs(widest["traditional"] - as_read["traditional"]) <= EQUAL and width.iloc[0] <= EQUAL:
        cost += (
            f" The traditional value hides that, at {decimal(as_read['traditional'])} as before: the file is "
            "still in the order of the finer scores."
        )
    if not len(sufficient):
        return (Strong("Every digit counts. "), cost)
    coarsest = sufficient.loc[sufficient["tie_ratio"].iloc[::-1].idxmax()]
    verb = "does" if coarsest["precision"] == "decimals:1" else "do"
    return (
        Strong(coarsest["label"][0].upper() + coarsest["label"][1:]),
        f" {verb} as well as all digits: {percent(coarsest['tie_ratio'])} of the documents tie, "
        f"{percent(as_read['tie_ratio'])} as read, and tied {measure} is ",
        Strong(decimal(coarsest["tied"])),
        f". {cost}",
    )
