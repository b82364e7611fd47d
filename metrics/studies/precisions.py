"""Simulate coarser scores: fewer bits, fewer decimals, whole grades, or more ties."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, EQUAL, ScoringOptions, score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.simulation import LlmReranker
from metrics.studies.gaps import Z_95, in_order, named_values
from metrics.studies.leaderboard import SHARE, mean_std
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal, own_rule_note
from metrics.support.arrays import FloatArray
from metrics.support.wording import begin_sentence, percent
from metrics.ties.options import runs_at_precision

GRADES = "grades:0-10"
PRECISIONS = ("float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in range(6, -1, -1)), GRADES)
"""Formats to compare: bits in memory, digits in a file, and whole grades from 0 to 10."""
_TOP_GRADE = 10


def precision_label(precision: str) -> str:
    """Return a precision in words, such as `2 decimals`."""
    if precision == GRADES:
        return "grades 0 to 10"
    number = precision.removeprefix("decimals:")
    return precision if number == precision else f"{number} decimal{'s' * (number != '1')}"


def grade_scores(scores: FloatArray) -> FloatArray:
    """Return (n,) scores of one reranker as whole grades from 0 to 10, as an LLM would give them.

    round(10 · (score − smallest) / (largest − smallest)), over all its finite scores; halves go to the even
    grade, infinite scores to the nearest end, and constant scores become 0. Grades preserve the order of
    documents and only create ties.
    """
    finite = scores[np.isfinite(scores)]
    smallest, largest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    if largest == smallest:
        return np.where(scores > largest, float(_TOP_GRADE), 0.0)
    # halved: the difference of the largest floats overflows
    share = np.clip(scores, smallest, largest) / 2 - smallest / 2
    return np.round(_TOP_GRADE * (share / (largest / 2 - smallest / 2)))


def coarser_runs(runs: Runs, precision: str) -> Runs:
    """Return the runs with scores rounded to one of `PRECISIONS`."""
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
    """Return the scores of each reranker under each precision.

    Returns:
        One row a reranker and precision: reranker, precision, label, tie_ratio, tied, worst, best,
        traditional (means over lists), std (of the mean over random tie orders), low and high (interval of 95%
        of the shuffles: tied ± 1.96 std, within worst and best).

    Raises:
        UsageError: an unknown name.
    """
    name, ties = str(parse(measure)), ["expected", "pessimistic", "optimistic", "std", traditional]
    as_held = replace(scoring, precision="float64")
    parts = []
    for precision in precisions:
        values = score_runs(coarser_runs(runs, precision), name, ties, as_held).only(runs.rerankers, queries)
        means = values.scores[name].groupby(level="reranker", sort=False).mean()
        rows = named_values(means, traditional).assign(std=mean_std(values, name))
        rows.insert(0, "tie_ratio", values.tie_ratios)
        rows.insert(0, "label", precision_label(precision))
        rows.insert(0, "precision", precision)
        parts.append(rows.reset_index())
    curve = pd.concat(parts, ignore_index=True)
    curve["low"] = np.maximum(curve["tied"] - Z_95 * curve["std"], curve["worst"])
    curve["high"] = np.minimum(curve["tied"] + Z_95 * curve["std"], curve["best"])
    return in_order(curve, runs.rerankers)


def precision_finding(curve: pd.DataFrame, measure: str) -> Prose:
    """State how few digits are enough for one reranker of a `precision_curve`, and the cost of fewer."""
    if curve["tied"].isna().all():
        return NOTHING_SCORED
    width, as_read, tied = curve["best"] - curve["worst"], curve.iloc[0], parse(measure).tied
    shift = (curve["tied"] - as_read["tied"]).abs()
    margin = max(SHARE * as_read["tied"], EQUAL)
    is_unchanged = (width - width.iloc[0] < margin) & (shift < margin)
    sufficient = curve[is_unchanged & curve["precision"].str.startswith(("decimals", "grades"))]
    widest = curve.loc[width.idxmax()]
    widest_ties = f"With {widest['label']}, {percent(widest['tie_ratio'])} of the documents tie"
    if own_rule := own_rule_note(measure)[:1]:
        farthest = curve.loc[shift.idxmax()]
        values = f"{decimal(as_read['tied'])} as read and {decimal(farthest['tied'])} with {farthest['label']}"
        return *own_rule, f"{measure} is {values}, where {percent(farthest['tie_ratio'])} of the documents tie."
    if is_unchanged.all():
        change = f"change by less than {SHARE:.0%} of {tied}" if as_read["tied"] > 0 else "are 0"
        return (
            Strong("The number of digits does not matter here. "),
            f"In every format, {tied} and its range from worst to best case {change}. {widest_ties}.",
        )
    cost = f"{widest_ties} and tie order alone can change {measure} by up to {decimal(width.max())}."
    if abs(widest["traditional"] - as_read["traditional"]) <= EQUAL and width.iloc[0] <= EQUAL:
        cost += (
            f" The traditional score hides this and stays {decimal(as_read['traditional'])}: the file still "
            "lists documents in the order of the unrounded scores."
        )
    if not len(sufficient):
        return (Strong("Every digit counts. "), cost)
    coarsest = sufficient.loc[sufficient["tie_ratio"].iloc[::-1].idxmax()]
    verb = "is" if coarsest["precision"] == "decimals:1" else "are"
    return (
        Strong(coarsest["label"][0].upper() + coarsest["label"][1:]),
        f" {verb} enough: {percent(coarsest['tie_ratio'])} of the documents tie "
        f"({percent(as_read['tie_ratio'])} as read), and {tied} is ",
        Strong(decimal(coarsest["tied"])),
        f". {cost}",
    )


Simulate = Callable[[Mapping[str, LlmReranker]], Runs]
"""Simulates rerankers by name; they share random numbers, so that differences are not noise."""
TIE_PROBABILITIES = tuple(at / 10 for at in range(11))


def growth_curve(
    simulate: Simulate, levels: int, measure: str, tie_probabilities: Sequence[float] = TIE_PROBABILITIES
) -> pd.DataFrame:
    """Return the mean of one simulated reranker under rising tie probabilities.

    Returns:
        tie_probability, tie_ratio, tied, worst, best, traditional (file order), std, low and high, as in
        `precision_curve`.
    """
    runs = simulate({f"{chance}": LlmReranker(chance, levels) for chance in tie_probabilities})
    curve = precision_curve(runs, measure, precisions=["float64"])
    curve.insert(0, "tie_probability", list(tie_probabilities))
    return curve.drop(columns=["reranker", "precision", "label"])


def growth_finding(curve: pd.DataFrame, tie_probability: float, levels: int, measure: str) -> Prose:
    """State how far the mean of a `growth_curve` depends on tie order at one tie probability."""
    row = curve[curve["tie_probability"] == tie_probability].iloc[0]
    if not row["tie_ratio"]:
        return (Strong("No documents tie: "), f"{measure} is {decimal(row['tied'])} in every order.")
    scores = f"{levels} score level{'s' * (levels != 1)}" if levels else "any score allowed"
    start: Prose = (
        f"With {scores} and a tie probability of {tie_probability:g}, ",
        Strong(f"{percent(row['tie_ratio'])} of the documents tie"),
    )
    if own_rule := own_rule_note(measure)[:1]:
        return *start, f" and {measure} is {decimal(row['tied'])}. ", *own_rule
    tied = begin_sentence(parse(measure).tied)
    return (
        *start,
        f". {tied} is {decimal(row['tied'])}. About 95% of random file orders give "
        f"{decimal(row['low'])} to {decimal(row['high'])}. Worst and best case are ",
        Strong(f"{decimal(row['worst'])} and {decimal(row['best'])}"),
        ".",
    )
