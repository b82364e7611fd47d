"""What if scores were held in fewer bits, printed with fewer decimals, given as grades, or tied more often?"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, EQUAL, ScoringOptions, evaluate, score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.simulation import LlmReranker
from metrics.studies.gaps import in_order, named_values
from metrics.studies.leaderboard import SHARE, mean_std
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal, signed
from metrics.studies.tie_rules import own_rule_note
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


Simulate = Callable[[Mapping[str, LlmReranker]], Runs]
"""What simulates rerankers by name; with common luck, or differences are noise."""
TIE_PROBABILITIES = tuple(at / 10 for at in range(11))
LEVELS = (2, 3, 5, 10, 20, 50)


def growth_curve(
    simulate: Simulate, levels: int, measure: str, tie_probabilities: Sequence[float] = TIE_PROBABILITIES
) -> pd.DataFrame:
    """Return the mean of one simulated reranker under rising tie probabilities.

    Args:
        simulate: simulates rerankers on the same queries.
        levels: score levels of the reranker.
        measure: name of a measure.
        tie_probabilities: tie probabilities, rising.

    Returns:
        tie_probability, tie_ratio, tied, worst, best, traditional (in input order), std, low and high, as
        `metrics.studies.precisions.precision_curve` has them.
    """
    runs = simulate({f"{chance}": LlmReranker(chance, levels) for chance in tie_probabilities})
    curve = precision_curve(runs, measure, precisions=["float64"])
    curve.insert(0, "tie_probability", list(tie_probabilities))
    return curve.drop(columns=["reranker", "precision", "label"])


def gap_by_settings(simulate: Simulate, measure: str) -> pd.DataFrame:
    """Return the mean absolute gap of a list: index tie probability, columns score levels.

    Args:
        simulate: simulates rerankers on the same queries.
        measure: name of a measure.
    """
    settings = [(chance, many) for chance in TIE_PROBABILITIES for many in LEVELS]
    runs = simulate({f"{at}": LlmReranker(*one) for at, one in enumerate(settings)})
    values = evaluate(runs, measure, ["input", "expected"]).scores[str(parse(measure))]
    gap = (values["input"] - values["expected"]).abs().groupby(level="reranker", sort=False).mean()
    cells = gap.to_numpy().reshape(len(TIE_PROBABILITIES), len(LEVELS))
    return pd.DataFrame(
        cells, pd.Index(TIE_PROBABILITIES, name="tie_probability"), pd.Index(LEVELS, name="levels")
    )


def growth_finding(curve: pd.DataFrame, tie_probability: float, levels: int, measure: str) -> Prose:
    """Say how far the mean of the chosen settings depends on the order of ties.

    Args:
        curve: as `growth_curve` returns it.
        tie_probability: one of its tie probabilities.
        levels: score levels of the reranker.
        measure: how its mean is called, such as `MRR`.
    """
    row = curve[curve["tie_probability"] == tie_probability].iloc[0]
    if not row["tie_ratio"]:
        return (Strong("No document ties: "), f"{measure} is {decimal(row['tied'])} in every order.")
    scores = f"{levels} score level{'s' * (levels != 1)}" if levels else "any score allowed"
    start: Prose = (
        f"With {scores} and a tie probability of {tie_probability:g}, ",
        Strong(f"{percent(row['tie_ratio'])} of the documents tie"),
    )
    if own_rule := own_rule_note(measure)[:1]:
        return *start, f" and {measure} is {decimal(row['tied'])}. ", *own_rule
    return (
        *start,
        f". Tied {measure} is {decimal(row['tied'])}; 19 in 20 shuffles of the same file give "
        f"{decimal(row['low'])} to {decimal(row['high'])}, and the orders taken to their ends ",
        Strong(f"{decimal(row['worst'])} to {decimal(row['best'])}"),
        ".",
    )


_GRADES = ("expected_grade", "argmax_grade")
"""Scores that are made of a distribution over grades; one of the two may be the score itself."""


def graded_rerankers(runs: Runs) -> list[str]:
    """Return the rerankers whose file has probabilities of grades."""
    return [name for name, table in runs.tables.items() if set(_GRADES) & set(table.column_names)]


def argmax_losses(
    runs: Runs, measure: str, queries: Collection[str] | None = None, scoring: ScoringOptions = AS_READ
) -> pd.DataFrame:
    """Return what each reranker scores by its likeliest grades, and by its expected ones.

    Returns:
        One row a reranker with probabilities: reranker, argmax_tie_ratio, expected_tie_ratio (means over
        lists of the share of documents that tie), argmax, expected (tied means), gain (the second minus the
        first).

    Raises:
        UsageError: there is no such measure.
    """
    names = graded_rerankers(runs)
    columns: dict[str, pd.Series[float]] = {}
    for kind in ("argmax", "expected"):
        scores = {name: _scores_by(runs, name, f"{kind}_grade") for name in runs.tables}
        values = score_runs(runs.rescored(scores), measure, "expected", scoring).only(names, queries)
        columns[kind] = values.means(str(parse(measure)))["expected"]
        columns[f"{kind}_tie_ratio"] = values.tie_ratios
    losses = pd.DataFrame(columns)[["argmax_tie_ratio", "expected_tie_ratio", "argmax", "expected"]]
    losses["gain"] = losses["expected"] - losses["argmax"]
    return losses.reindex(names).rename_axis("reranker").reset_index()


def _scores_by(runs: Runs, name: str, column: str) -> FloatArray:
    """Return one reranker's scores by a column, which may be the score itself."""
    table = runs.tables[name]
    scores = table[column if column in table.column_names else "score"].to_numpy()
    return np.where(np.isnan(scores), -np.inf, scores)


def argmax_finding(losses: pd.DataFrame, measure: str) -> Prose:
    """Say what grading, by `argmax_losses`, costs the reranker that it costs most."""
    scored = losses.dropna(subset=["gain"])
    if scored.empty:
        return NOTHING_SCORED
    row = scored.loc[scored["gain"].abs().idxmax()]
    ties = f"{percent(row['argmax_tie_ratio'])} of the documents of a list tie, "
    without = f"by expected grades {percent(row['expected_tie_ratio'])}, "
    change = f"and the tied {measure} is {decimal(row['expected'])} in place of {decimal(row['argmax'])}: "
    name = Strong(str(row["reranker"]))
    return ("By likeliest grades of ", name, f", {ties}{without}{change}", Strong(signed(row["gain"])), ".")
