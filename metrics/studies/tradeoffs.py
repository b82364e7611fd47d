"""Quality against latency and diversity: latencies, coverage, and the front of those that nothing beats."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.runs import Runs
from metrics.studies.gaps import difference, named_values
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal, signed, smallest_shown
from metrics.studies.tie_rules import own_rule_note
from metrics.support.arrays import BoolArray, FloatArray
from metrics.support.wording import describe_part, percent

Latency = Literal["p50", "p95", "mean"]
LATENCIES: tuple[Latency, ...] = ("p50", "p95", "mean")
"""What may stand for the latency of a reranker: median, 95th percentile or mean over its lists."""
LATENCY = "latency_s"
"""What the seconds of a list are called where they stand among measures; less is better."""


def latencies(runs: Runs) -> dict[str, "pd.Series[float]"]:
    """Return the seconds each list took: reranker → (query_id → seconds), of those that give any.

    Every row of a list may give them, one is enough; rows that disagree: the largest counts. Values
    that are missing, infinite or below 0 are no latency.
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
    """Return the mean and percentiles of `latencies` of each reranker, over the lists that are scored.

    Returns:
        index reranker; mean, p50, p95 (interpolated), n_timed (lists). Those not timed have no row.
    """
    seconds = _aligned(list_seconds, evaluation).dropna().groupby("reranker", sort=False)
    p50, p95 = (seconds.quantile(share) for share in (0.5, 0.95))
    table = pd.DataFrame({"mean": seconds.mean(), "p50": p50, "p95": p95, "n_timed": seconds.size()})
    return table.reindex(evaluation.policies.index.intersection(table.index))


def with_latency(evaluation: Evaluation, list_seconds: Mapping[str, "pd.Series[float]"]) -> Evaluation:
    """Return an evaluation with the seconds of its lists as one more measure, `latency_s`.

    No order of ties changes how long a list took: the seconds stand under every treatment, and their
    standard deviation over orderings is 0. A list that gives none has no value (NaN).
    """
    seconds = _aligned(list_seconds, evaluation)
    if seconds.isna().all():
        return evaluation
    columns = {(LATENCY, ties): 0 * seconds if ties == "std" else seconds for ties in evaluation.ties}
    timed = pd.DataFrame(columns).rename_axis(columns=evaluation.scores.columns.names)
    return replace(
        evaluation,
        scores=evaluation.scores.join(timed),
        measures=(*evaluation.measures, LATENCY),
    )


def _aligned(list_seconds: Mapping[str, "pd.Series[float]"], evaluation: Evaluation) -> "pd.Series[float]":
    """Return the seconds of each list that is scored, NaN where it gives none."""
    index = evaluation.scores.index
    if not list_seconds:
        return pd.Series(np.nan, index)
    return pd.concat(list_seconds, names=index.names).reindex(index)


DEPTH = 20
"""Places within which documents and targets are counted."""

Standing = Literal["both", "tied only", "traditional only", "beaten", "not timed"]
STANDINGS: dict[Standing, str] = {
    "both": "No other reranker is as fast and as good, by the tied and by the traditional value.",
    "tied only": "On the front by the tied value; the sort order of ties hides it.",
    "traditional only": "On the front only by the order its ties happened to be sorted in.",
    "beaten": "Another reranker is no slower and no worse, and one of the two it is faster or better.",
    "not timed": "Its run gives no latency, or none of its lists is scored.",
}
"""What each place beside the front means."""

_UNITS = ((7200, 3600, "h"), (120, 60, "min"), (1, 1, "s"), (1e-3, 1e-3, "ms"), (0, 1e-6, "µs"))
"""From how many seconds on a unit is used, its length in seconds, and its name."""


def beats(seconds: FloatArray, quality: FloatArray) -> BoolArray:
    """Return (n, n) whether row i beats column j: no slower and no worse, and one of the two strictly.

    Equal points do not beat each other. Without a latency or a quality (NaN), none beats or is beaten.
    """
    seconds, quality = np.round(seconds, 12), np.round(quality, 12)
    no_slower, no_worse = seconds[:, None] <= seconds, quality[:, None] >= quality
    strictly = (seconds[:, None] < seconds) | (quality[:, None] > quality)
    return np.asarray(no_slower & no_worse & strictly)


def pareto_front(seconds: FloatArray, quality: FloatArray) -> BoolArray:
    """Return (n,) whether nothing beats a point: lowest latency, highest quality; equal ones all are on it."""
    is_known = np.isfinite(seconds) & np.isfinite(quality)
    return is_known & ~beats(seconds, quality).any(axis=0)


def tradeoffs(
    evaluation: Evaluation, timed: pd.DataFrame, measure: str, traditional: str, latency: Latency = "p50"
) -> pd.DataFrame:
    """Return one row a reranker: quality, latency, and whether another is as fast and as good.

    Returns:
        index reranker, in the order of the evaluation; tied, worst, best, traditional (means), gap
        (traditional − tied), mean, p50, p95, seconds (the latency weighed; NaN where there is none),
        n_timed, tied_front, traditional_front, standing, beaten_by (the best one on the tied front that
        beats it, "" for none).
    """
    table = named_values(evaluation.means(measure), traditional)
    table["gap"] = difference(table["traditional"], table["tied"])
    table = table.join(timed)
    table["n_timed"] = table["n_timed"].fillna(0).astype(np.int64)
    table["seconds"] = table[latency].round(12)
    seconds = table["seconds"].to_numpy()
    for value in ("tied", "traditional"):
        table[f"{value}_front"] = pareto_front(seconds, table[value].to_numpy())
    is_known = np.isfinite(seconds) & table["tied"].notna().to_numpy()
    table["standing"] = np.select(
        [
            ~is_known,
            table["tied_front"] & table["traditional_front"],
            table["tied_front"],
            table["traditional_front"],
        ],
        ["not timed", "both", "tied only", "traditional only"],
        "beaten",
    )
    table["beaten_by"] = _beaten_by(table)
    return table


def _beaten_by(table: pd.DataFrame) -> list[str]:
    over = beats(table["seconds"].to_numpy(), table["tied"].to_numpy())
    over &= table["tied_front"].to_numpy()[:, None]
    best = np.where(over, table["tied"].to_numpy()[:, None], -np.inf).argmax(axis=0)
    names = np.where(over.any(axis=0), table.index.to_numpy(dtype=object)[best], "")
    return [str(name) for name in names]


def duration(seconds: float) -> str:
    """Write seconds with three figures, in the unit that suits them."""
    rounded = float(f"{seconds:.3g}")
    if not rounded:
        return "0 ms"
    unit, name = next((unit, name) for least, unit, name in _UNITS if rounded >= least)
    value = rounded / unit
    return f"{value:,.0f} {name}" if value >= 1000 else f"{value:.3g} {name}"  # noqa: PLR2004 else a power


def tradeoff_finding(
    table: pd.DataFrame, covered: pd.DataFrame, measure: str, budget: float | None = None, k: int = DEPTH
) -> Prose:
    """Say what speed costs, and whether the order of ties makes it look otherwise."""
    if not table["tied"].notna().any():
        return NOTHING_SCORED
    timed = table[table["standing"] != "not timed"]
    if not len(timed):
        return (
            Strong("No run says how long it took: "),
            "no latency column with seconds in it, so speed is not weighed. ",
            *_coverage_finding(covered, k),
        )
    without = len(table) - len(timed)
    end = f" {describe_part(without, len(table), 'reranker', 'give no latency')}." if without else ""
    timed = timed.assign(rounded=timed["tied"].round(12))
    timed = timed.sort_values(["rounded", "seconds"], ascending=[False, True], kind="stable")
    if len(timed) == 1:
        return (
            "Nothing to choose from: only ",
            Strong(str(timed.index[0])),
            f" is timed, with a {_mean_name(measure)} of {decimal(timed['tied'].iloc[0])} at "
            f"{duration(timed['seconds'].iloc[0])}.{end}",
        )
    if not timed["rounded"].any():
        return (Strong(f"Nothing is worth its wait: no reranker scores above 0 {measure}."), end)
    return (*_budget_finding(timed, measure, budget), *_front_change(timed, measure), end)


def _budget_finding(timed: pd.DataFrame, measure: str, budget: float | None) -> Prose:
    limit = np.inf if budget is None else budget
    scope = "" if budget is None else f"Within {duration(budget)}, "
    fastest = timed.loc[timed["seconds"].idxmin()]
    if fastest["seconds"] > limit:
        return (
            "Nothing answers within ",
            Strong(duration(limit)),
            ": the fastest, ",
            Strong(str(fastest.name)),
            f", takes {duration(fastest['seconds'])}.",
        )
    best = timed[timed["seconds"] <= limit].iloc[0]
    better = timed.iloc[0]
    if better["rounded"] > best["rounded"]:
        return (
            scope,
            Strong(str(best.name)),
            f" gives the best {_mean_name(measure)} ({decimal(best['tied'])} at {duration(best['seconds'])}); ",
            Strong(str(better.name)),
            f" gives {decimal(better['tied'])}, {_longer(better['seconds'], best['seconds'])}.",
        )
    if best["seconds"] == fastest["seconds"]:
        return (
            Strong("Nothing is traded off: "),
            Strong(str(best.name)),
            f" is as fast as any ({duration(best['seconds'])}) and as good as any "
            f"({decimal(best['tied'])} {_mean_name(measure)}).",
        )
    cheaper = timed[timed["tied_front"] & (timed["seconds"] < best["seconds"])].iloc[0]
    slower = ", and nothing slower is better" if (timed["seconds"] > best["seconds"]).any() else ""
    return (
        scope,
        Strong(str(best.name)),
        f" gives the best {_mean_name(measure)} ({decimal(best['tied'])} at {duration(best['seconds'])})"
        f"{slower}; next on the front is ",
        Strong(str(cheaper.name)),
        f": {decimal(cheaper['tied'])} {_shorter(best['seconds'], cheaper['seconds'])}.",
    )


def _front_change(timed: pd.DataFrame, measure: str) -> Prose:
    joins, leaves = (timed[timed["standing"] == one] for one in ("traditional only", "tied only"))
    if len(joins):
        row = joins.loc[joins["gap"].idxmax()]
        why = (
            f"but {signed(row['gap'])} {measure} of {'the first' if len(joins) > 1 else 'it'} is sort order."
            if row["gap"] >= smallest_shown(row["tied"])
            else "because the sort puts another too low."
        )
        return (
            " By the traditional value ",
            Strong(str(row.name)),
            f"{and_more(len(joins) - 1)} would join the front, {why}",
        )
    if len(leaves):
        row = leaves.loc[leaves["gap"].idxmin()]
        is_low = row["gap"] <= -smallest_shown(row["tied"])
        why = f"puts it {decimal(-row['gap'])} too low" if is_low else "puts another too high"
        return " By the traditional value ", Strong(str(row.name)), f" would leave the front: the sort {why}."
    if note := own_rule_note(measure):
        return " ", *note[:1]
    return (" The order of ties does not move the front.",)


def _mean_name(measure: str) -> str:
    return measure if own_rule_note(measure) else f"tied {measure}"


def _longer(slow: float, fast: float) -> str:
    return f"at {duration(slow)}{_times(slow, fast, ' times the wait')}"


def _shorter(slow: float, fast: float) -> str:
    return f"at {duration(fast)}{_times(slow, fast, ' times faster')}"


def _times(slow: float, fast: float, words: str) -> str:
    ratio = slow / fast if fast else np.inf
    if not 1.05 <= ratio < np.inf:  # noqa: PLR2004 less than a twentieth
        return ""
    return f", {ratio:{',.0f' if ratio >= 10 else '.1f'}}{words}"  # noqa: PLR2004 two figures


def _coverage_finding(covered: pd.DataFrame, k: int) -> Prose:
    repeating = covered.loc[covered["repeated"].idxmax()]
    if repeating["repeated"] > EQUAL:
        return (
            Strong(str(repeating.name)),
            f" repeats itself most: {percent(repeating['repeated'])} of the relevant documents in its first "
            f"{k} satisfy a target that is there already.",
        )
    best = covered.loc[covered["recall"].idxmax()]
    if best["recall"] - covered["recall"].min() < smallest_shown(best["recall"]):
        subject = "every reranker finds" if len(covered) > 1 else "the only reranker finds"
        less = "; fewer places tell more" if best["recall"] > 1 - smallest_shown(1) else ""
        return (f"In the first {k} places {subject} {decimal(best['recall'])} of what is relevant{less}.",)
    return Strong(str(best.name)), f" finds most in the first {k}: Recall@{k} is {decimal(best['recall'])}."


def coverage_measures(k: int = DEPTH) -> tuple[str, ...]:
    """Return what `coverage` needs."""
    return f"R@{k}", f"DR@{k}", f"Div@{k}", f"P@{k}"


def coverage(evaluation: Evaluation, k: int = DEPTH) -> pd.DataFrame:
    """Return how much of what is relevant stands in the top k, and how much of that repeats a target.

    Returns:
        index reranker; for p in recall (R@k), distinct (DR@k), targets (Div@k): p (mean over all
        orderings), p_worst, p_best; lost = recall − distinct, below 0 where one of several documents is
        enough for a target; and repeated, the share of the relevant documents found whose target another
        one satisfies: 1 − Div@k/(k·P@k).
    """
    columns = {}
    for name, measure in (("recall", f"R@{k}"), ("distinct", f"DR@{k}"), ("targets", f"Div@{k}")):
        means = evaluation.means(measure)
        columns[name] = means["expected"]
        columns[f"{name}_worst"] = means["pessimistic"]
        columns[f"{name}_best"] = means["optimistic"]
    table = pd.DataFrame(columns)
    relevant = k * evaluation.means(f"P@{k}")["expected"]
    repeated = difference(relevant, table["targets"]) / relevant.where(relevant > 0)
    lost = difference(table["recall"], table["distinct"])
    return table.assign(lost=lost, repeated=repeated.fillna(0.0))


def with_targets(runs: Runs) -> list[str]:
    """Return rerankers whose documents name their targets: all if the judgments do, else by their table."""
    return [
        name
        for name, table in runs.tables.items()
        if "target_id" in (table if runs.qrels is None else runs.qrels).column_names
    ]
