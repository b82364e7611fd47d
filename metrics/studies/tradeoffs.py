"""Quality, latency and diversity: latencies, coverage, and the Pareto front."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.gaps import difference, named_values
from metrics.studies.prose import (
    NOTHING_SCORED,
    Prose,
    Strong,
    and_more,
    decimal,
    own_rule_note,
    smallest_shown,
)
from metrics.support.arrays import BoolArray, FloatArray
from metrics.support.wording import describe_part, percent

Latency = Literal["p50", "p95", "mean"]
LATENCIES: tuple[Latency, ...] = ("p50", "p95", "mean")
"""Statistics of latency over the lists of a reranker."""
LATENCY = "latency_s"
"""Name of the seconds per list among measures; less is better."""


def latencies(runs: Runs) -> dict[str, "pd.Series[float]"]:
    """Return reranker → (query_id → seconds per list), for rerankers with latencies.

    Of several rows of a list the largest latency counts. Missing, infinite and negative ones do not.
    """
    by_reranker = {}
    for name, table in runs.tables.items():
        if "latency" not in table.column_names:
            continue
        seconds, pairs = table["latency"].to_numpy(), runs.pairs(name)
        timed = np.flatnonzero(np.isfinite(seconds) & (seconds >= 0))
        largest = np.full(len(pairs.queries), -1.0)
        np.maximum.at(largest, pairs.query[timed], seconds[timed])
        if len(timed):
            longest = pd.Series(largest, index=pairs.queries.to_pandas(), name=name)
            by_reranker[name] = longest[largest >= 0]
    return by_reranker


def latency_table(list_seconds: Mapping[str, "pd.Series[float]"], evaluation: Evaluation) -> pd.DataFrame:
    """Return the mean and percentiles of `latencies` over the scored lists of each reranker.

    Returns:
        index reranker, without untimed ones; mean, p50, p95 (interpolated).
    """
    seconds = _aligned(list_seconds, evaluation).dropna().groupby("reranker", sort=False)
    p50, p95 = (seconds.quantile(share) for share in (0.5, 0.95))
    table = pd.DataFrame({"mean": seconds.mean(), "p50": p50, "p95": p95})
    return table.reindex(evaluation.policies.index.intersection(table.index))


def with_latency(evaluation: Evaluation, list_seconds: Mapping[str, "pd.Series[float]"]) -> Evaluation:
    """Add the seconds per list to an evaluation as the measure `latency_s`.

    Tie order does not change latency: the seconds are the same under every treatment, and their SD over
    orders is 0. A list without latency is NaN. Without any latency the evaluation is unchanged.
    """
    seconds = _aligned(list_seconds, evaluation)
    if seconds.isna().all():
        return evaluation
    columns = {(LATENCY, ties): 0 * seconds if ties == "std" else seconds for ties in evaluation.ties}
    timed = pd.DataFrame(columns).rename_axis(columns=evaluation.scores.columns.names)
    measures = (*evaluation.measures, LATENCY)
    return replace(evaluation, scores=evaluation.scores.join(timed), measures=measures)


def _aligned(list_seconds: Mapping[str, "pd.Series[float]"], evaluation: Evaluation) -> "pd.Series[float]":
    index = evaluation.scores.index
    if not list_seconds:
        return pd.Series(np.nan, index)
    return pd.concat(list_seconds, names=index.names).reindex(index)


DEPTH = 20
"""Cut-off for documents and targets."""

Standing = Literal["both", "tied only", "traditional only", "beaten", "not timed"]
STANDINGS: dict[Standing, str] = {
    "both": "On the Pareto front by both tied and traditional scores.",
    "tied only": "On the Pareto front by tied scores, but not by traditional scores.",
    "traditional only": "On the Pareto front by traditional scores, but not by tied scores.",
    "beaten": "Another reranker is at least as fast and as good, and is faster or better.",
    "not timed": "The run has no latency, or no list is scored.",
}
"""Standing → its meaning."""

_UNITS = ((7200, 3600, "h"), (120, 60, "min"), (1, 1, "s"), (1e-3, 1e-3, "ms"), (0, 1e-6, "µs"))
"""Smallest number of seconds for a unit, seconds per unit, name."""


def beats(seconds: FloatArray, quality: FloatArray) -> BoolArray:
    """Return (n, n) whether row i is at least as fast and as good as column j, and faster or better.

    Points with NaN neither beat others nor are beaten.
    """
    seconds, quality = np.round(seconds, 12), np.round(quality, 12)
    no_slower, no_worse = seconds[:, None] <= seconds, quality[:, None] >= quality
    strictly = (seconds[:, None] < seconds) | (quality[:, None] > quality)
    return np.asarray(no_slower & no_worse & strictly)


def pareto_front(seconds: FloatArray, quality: FloatArray) -> BoolArray:
    """Return (n,) whether no other point beats a point; equal points are all on the front."""
    is_known = np.isfinite(seconds) & np.isfinite(quality)
    return is_known & ~beats(seconds, quality).any(axis=0)


def tradeoffs(
    evaluation: Evaluation, timed: pd.DataFrame, measure: str, traditional: str, latency: Latency = "p50"
) -> pd.DataFrame:
    """Return quality and latency of each reranker, and whether others are as fast and as good.

    Returns:
        index reranker, in the order of the evaluation; tied, worst, best, traditional (means), gap
        (traditional − tied), mean, p50, p95, seconds (chosen statistic; NaN without latency), tied_front,
        traditional_front, standing, beaten_by (best on the tied front that beats it, or "").
    """
    table = named_values(evaluation.means(measure), traditional)
    table["gap"] = difference(table["traditional"], table["tied"])
    table = table.join(timed)
    table["seconds"] = table[latency].round(12)
    seconds = table["seconds"].to_numpy()
    for value in ("tied", "traditional"):
        table[f"{value}_front"] = pareto_front(seconds, table[value].to_numpy())
    is_known = np.isfinite(seconds) & table["tied"].notna().to_numpy()
    tied, usual = table["tied_front"], table["traditional_front"]
    standings = ["not timed", "both", "tied only", "traditional only"]
    table["standing"] = np.select([~is_known, tied & usual, tied, usual], standings, "beaten")
    table["beaten_by"] = _beaten_by(table)
    return table


def _beaten_by(table: pd.DataFrame) -> list[str]:
    over = beats(table["seconds"].to_numpy(), table["tied"].to_numpy())
    over &= table["tied_front"].to_numpy()[:, None]
    best = np.where(over, table["tied"].to_numpy()[:, None], -np.inf).argmax(axis=0)
    names = np.where(over.any(axis=0), table.index.to_numpy(dtype=object)[best], "")
    return [str(name) for name in names]


def duration(seconds: float) -> str:
    """Format seconds with three significant digits and a suitable unit."""
    rounded = float(f"{seconds:.3g}")
    if not rounded:
        return "0 ms"
    unit, name = next((unit, name) for least, unit, name in _UNITS if rounded >= least)
    value = rounded / unit
    return f"{value:,.0f} {name}" if value >= 1000 else f"{value:.3g} {name}"  # noqa: PLR2004 else a power


def tradeoff_finding(
    table: pd.DataFrame, covered: pd.DataFrame, measure: str, budget: float | None = None, k: int = DEPTH
) -> Prose:
    """Say which reranker is best within a budget of seconds, and how ties change the front.

    Without latencies it describes `covered`, the table of `coverage` at k.
    """
    if not table["tied"].notna().any():
        return NOTHING_SCORED
    timed = table[table["standing"] != "not timed"]
    if not len(timed):
        return (
            Strong("No run has latencies: "),
            "a latency column in seconds is missing. ",
            *_coverage_finding(covered, k),
        )
    without = len(table) - len(timed)
    end = f" {describe_part(without, len(table), 'reranker', 'have no latency')}." if without else ""
    timed = timed.assign(rounded=timed["tied"].round(12))
    timed = timed.sort_values(["rounded", "seconds"], ascending=[False, True], kind="stable")
    if not timed["rounded"].any():
        return (Strong(f"Every {parse(measure).tied} is 0."), end)
    return (*_budget_finding(timed, measure, budget), *_front_change(timed, measure), end)


def _budget_finding(timed: pd.DataFrame, measure: str, budget: float | None) -> Prose:
    limit = np.inf if budget is None else budget
    name = parse(measure).tied
    within = timed[timed["seconds"] <= limit]
    if not len(within):
        fastest = timed.loc[timed["seconds"].idxmin()]
        too_slow = f", takes {duration(fastest['seconds'])}."
        limit_text = Strong(duration(limit))
        return "No reranker answers within ", limit_text, ": the fastest, ", Strong(str(fastest.name)), too_slow
    best, highest = within.iloc[0], timed.iloc[0]
    cheaper = timed[timed["tied_front"] & (timed["seconds"] < best["seconds"])]
    figures = f"{decimal(best['tied'])} at {duration(best['seconds'])}"
    if highest["rounded"] > best["rounded"]:
        link, other = "; ", highest
    elif len(cheaper):
        link, other = ". Next on the front, ", cheaper.iloc[0]
    else:
        praise = f" has the lowest latency and the highest {name} ({figures})."
        return Strong("There is no trade-off: "), Strong(str(best.name)), praise
    start = "" if budget is None else f"Within {duration(budget)}, "
    end = f" has {decimal(other['tied'])} at {duration(other['seconds'])}."
    claim = f" has the highest {name} ({figures}){link}"
    return start, Strong(str(best.name)), claim, Strong(str(other.name)), end


def _front_change(timed: pd.DataFrame, measure: str) -> Prose:
    for standing, verb, side in (("traditional only", "join", 1), ("tied only", "leave", -1)):
        moved = timed[timed["standing"] == standing]
        if not len(moved):
            continue
        row = moved.loc[(moved["gap"] * side).idxmax()]
        why = "changes the score of another reranker"
        if row["gap"] * side >= smallest_shown(row["tied"]):
            why = f"puts its score {decimal(abs(row['gap']))} too {'high' if side > 0 else 'low'}"
        others = f"{and_more(len(moved) - 1)} would {verb} the front: tie order {why}."
        return " By traditional scores, ", Strong(str(row.name)), others
    if note := own_rule_note(measure):
        return " ", *note[:1]
    return (" By traditional scores, the same rerankers are on the front.",)


def _coverage_finding(covered: pd.DataFrame, k: int) -> Prose:
    repeating = covered.loc[covered["repeated"].idxmax()]
    if repeating["repeated"] > EQUAL:
        return (
            Strong(str(repeating.name)),
            f" has the largest share of repeats: {percent(repeating['repeated'])} of the relevant documents in "
            f"its top {k} cover a target that another document also covers.",
        )
    best = covered.loc[covered["recall"].idxmax()]
    if best["recall"] - covered["recall"].min() < smallest_shown(best["recall"]):
        return (f"Every reranker has Recall@{k} {decimal(best['recall'])}.",)
    return Strong(str(best.name)), f" has the highest Recall@{k}: {decimal(best['recall'])}."


def coverage_measures(k: int = DEPTH) -> tuple[str, ...]:
    """Return the measures that `coverage` needs."""
    return f"R@{k}", f"DR@{k}", f"Div@{k}", f"P@{k}"


def coverage(evaluation: Evaluation, k: int = DEPTH) -> pd.DataFrame:
    """Return recall and distinct targets in the top k, and the share of repeated targets.

    Returns:
        index reranker; recall (R@k), distinct (DR@k), targets (Div@k), targets_worst, targets_best;
        lost = recall − distinct, negative if a target needs only one of several documents; repeated = share of
        the relevant documents whose target another one covers, 1 − Div@k/(k·P@k).
    """
    recall, distinct, targets = (evaluation.means(f"{measure}@{k}") for measure in ("R", "DR", "Div"))
    table = pd.DataFrame({"recall": recall["expected"], "distinct": distinct["expected"]}).assign(
        targets=targets["expected"], targets_worst=targets["pessimistic"], targets_best=targets["optimistic"]
    )
    relevant = k * evaluation.means(f"P@{k}")["expected"]
    repeated = difference(relevant, table["targets"]) / relevant.where(relevant > 0)
    lost = difference(table["recall"], table["distinct"])
    return table.assign(lost=lost, repeated=repeated.fillna(0.0))


def with_targets(runs: Runs) -> list[str]:
    """Return the rerankers whose documents have targets, in the judgments or in their own table."""
    return [
        name
        for name, table in runs.tables.items()
        if "target_id" in (table if runs.qrels is None else runs.qrels).column_names
    ]
