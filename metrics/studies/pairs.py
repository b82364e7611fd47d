"""Compare all pairs of rerankers: one table with every p, interval of a difference and rank interval."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.leaderboard import places
from metrics.studies.pair_tests import ALPHA, TESTS, Comparison, Results, Test, largest_statistic
from metrics.studies.query_values import largest_difference, values_by_query
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import count_of

Family = Literal["all", "baseline"]
LARGEST = "largest"
CORRECTIONS = {
    LARGEST: "largest statistic",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "none": "none",
}
"""Corrections for the number of pairs, by name, with their label."""
COLUMNS = (
    *("baseline", "reranker", "n", "n_differ", "mean_baseline", "mean", "difference", "low", "high"),
    *("p", "p_adjusted", "stars", "won", "equal", "lost", "note"),
)
"""Columns of the table of pairs."""
FEW = 20
"""Differing queries below which their number is said beside p."""


def compare(
    evaluation: Evaluation,
    measure: str,
    ties: str = "expected",
    baseline: str | None = None,
    *,
    test: str = "flips",
    correction: str | None = None,
    family: Family = "all",
    seed: int = 0,
) -> pd.DataFrame:
    """Compare every pair of rerankers on the queries that both have; differences are reranker - baseline.

    By default the largest statistic over all pairs under flips of signs gives adjusted p values and intervals
    that hold together (`pair_tests.largest_statistic`).

    Args:
        evaluation: evaluation of `measure` under `ties`.
        measure: name of a measure in the evaluation.
        ties: name of a treatment in the evaluation; by default, ties are averaged.
        baseline: reranker whose pairs with all others are returned; None for all pairs.
        test: name of a test (`pair_tests.TESTS`).
        correction: name of a correction (`CORRECTIONS`); None for the largest statistic with sign flips, for
            Holm's with other tests.
        family: the pairs that a correction covers: all of the evaluation, or those with the baseline.
        seed: seed of the flips and resamples.

    Returns:
        one row per pair: baseline, reranker; n (queries that both have), n_differ
        (queries on which they differ); mean_baseline, mean, difference (over these queries, 0 without any;
        Mann-Whitney's test: over all values of each); low, high (interval of the difference, which excludes 0
        exactly if p_adjusted is significant, unless the test compares ranks; where it is unbounded, the largest
        difference that the measure allows); p, p_adjusted, stars (of p_adjusted: *** < 0.001, ** < 0.01,
        * < 0.05, else ns); won, equal, lost (queries); note (reservations). Without two queries no test is
        possible: low, high, p and p_adjusted are NaN, and without any the means and the difference too.

    Raises:
        UsageError: a name that does not exist, or a correction that does not suit the test.
    """
    record, method = find_method(test, correction)
    if family == "baseline" and baseline is None:
        raise UsageError("family='baseline' corrects for the pairs with a baseline. Name the baseline.")
    table = values_by_query(evaluation, measure, ties)
    names = [str(name) for name in table.columns]
    values = table.to_numpy() if len(table) else np.full((1, len(names)), np.nan)
    pairs = np.column_stack(np.triu_indices(len(names), 1))
    n_asked = len(pairs)
    if baseline is not None:
        check_baseline(names, baseline)
        is_its_own, n_asked = pairs == names.index(baseline), len(names) - 1
        pairs = np.where(is_its_own[:, 1:], pairs[:, ::-1], pairs)  # the baseline is the first of its own
        pairs = pairs[np.argsort(~is_its_own.any(axis=1), kind="stable")]
    if family == "baseline":
        pairs = pairs[:n_asked]
    comparison = Comparison(values, pairs, seed)
    results = largest_statistic(comparison) if method == LARGEST else _corrected(record, comparison, method)
    n, columns = comparison.statistics.n, comparison.statistics._asdict()
    n_own = np.isfinite(values).sum(axis=0)
    if not record.is_paired:
        n = n_own[pairs].min(axis=1)
        columns["mean_baseline"], columns["mean"] = (np.nansum(values, axis=0) / np.maximum(1, n_own))[pairs.T]
        columns["difference"] = columns["mean"] - columns["mean_baseline"]
        columns["difference"][np.abs(columns["difference"]) <= EQUAL] = 0
    columns["n_differ"] = columns["won"] + columns["lost"]
    columns["equal"] = columns["n"] - columns["n_differ"]
    notes = _notes(n, columns["n_differ"], results, None if record.is_paired else n_own[pairs])
    largest, labels = largest_difference(measure), pd.array(names, dtype="str")
    for name, ends in (("low", results.low), ("high", results.high)):
        columns[name] = np.where(np.isinf(ends), np.copysign(largest, ends), ends)
    columns |= {"baseline": labels.take(pairs[:, 0]), "reranker": labels.take(pairs[:, 1])}
    columns |= {"p": results.p, "p_adjusted": results.p_adjusted, "note": pd.array(notes, dtype="str")}
    columns["stars"] = stars(results.p_adjusted)
    table = pd.DataFrame({name: columns[name] for name in COLUMNS})
    table.loc[n < 2, ["low", "high", "p", "p_adjusted", "stars"]] = [*[np.nan] * 4, "–"]  # noqa: PLR2004 a deviation needs two
    table.loc[n == 0, ["mean_baseline", "mean", "difference"]] = np.nan
    return table[:n_asked]


def check_baseline(names: Sequence[str], baseline: str | None) -> None:
    """Raise UsageError if there is no reranker of the name of a baseline."""
    if baseline not in (None, *names):
        raise UsageError(f"There is no reranker {baseline!r}. Choose the baseline among: {', '.join(names)}.")


def stars(p: FloatArray) -> pd.api.extensions.ExtensionArray:
    """Return (n,) stars of p values: *** < 0.001, ** < 0.01, * < 0.05, else ns."""
    marks = pd.array(("***", "**", "*", "ns"), dtype="str")
    return marks.take(np.searchsorted((0.001, 0.01, 0.05), p, side="right"))


def _corrected(test: Test, comparison: Comparison, correction: str) -> Results:
    """Test each pair, and correct p and interval alike: an interval has the chance of error of its p.

    A pair with p and p_adjusted has the interval at the level 1 - 0.05 p / p_adjusted, that of Bonferroni where
    p_adjusted is 1.
    """
    p, interval = test.function(comparison)
    adjusted = adjust_p(p, correction)
    chances = np.full(len(p), 1.0 if correction == "none" else 1 / max(1, len(p)))
    np.divide(p, adjusted, out=chances, where=(adjusted > 0) & (adjusted < 1))
    return Results(p, adjusted, *interval(ALPHA * chances))


def adjust_p(p: FloatArray, correction: str) -> FloatArray:
    """Return (n,) p values adjusted for n pairs.

    Source: Holm, Scandinavian Journal of Statistics 6(2), 1979; Benjamini & Hochberg, Journal of the Royal
    Statistical Society B 57(1), 1995.
    """
    if correction == "none" or not len(p):
        return p
    if correction == "benjamini-hochberg":
        with needs("stats"):
            from scipy.stats import false_discovery_control  # noqa: PLC0415 the default correction does without
        return np.asarray(false_discovery_control(p))
    order = np.argsort(p)
    times = np.arange(len(p), 0, -1) if correction == "holm" else len(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * times)
    return np.minimum(adjusted, 1.0)


def _notes(n: IntArray, n_differ: IntArray, results: Results, n_own: IntArray | None) -> list[str]:
    """Return the reservations about each pair; `n_own`: (n_pairs, 2) queries of each if they are unpaired."""
    is_significant, excludes_0 = results.p_adjusted < ALPHA, (results.low > 0) | (results.high < 0)
    conditions = {
        "no query in common: no test is possible": n == 0,
        "one query in common: no test is possible": n == 1,
        "no query differs": (n_differ == 0) & (n_own is None),
        "p compares ranks, the interval compares means, and the two disagree": is_significant != excludes_0,
        "too few queries: the interval is unbounded": np.isinf(results.low),
    }
    notes: list[str] = np.select(list(conditions.values()), list(conditions), "").tolist()
    if n_own is None:
        return notes
    counts = [f"{count_of(ours, 'query')} of the reranker, {theirs} of the baseline" for theirs, ours in n_own]
    return ["; ".join(filter(None, both)) for both in zip(notes, counts, strict=True)]


def find_pairs(pairs: pd.DataFrame, rerankers: Sequence[str], baselines: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these pairs, in order; differences are of the named reranker minus its baseline."""
    other = {"mean": "mean_baseline", "won": "lost", "low": "high", "reranker": "baseline"}
    swapped = pairs.rename(columns=other | {name: key for key, name in other.items()})
    swapped[["difference", "low", "high"]] *= -1
    oriented = pd.concat([pairs, swapped[pairs.columns]]).set_index(["reranker", "baseline"])
    keys = pd.MultiIndex.from_arrays([rerankers, baselines], names=oriented.index.names)
    return oriented.loc[keys].reset_index()


def significant_signs(pairs: pd.DataFrame) -> IntArray:
    """Return (n_rows,) 1 where the reranker is significantly better, -1 where it is worse, else 0."""
    return np.where(pairs["p_adjusted"] < ALPHA, np.sign(pairs["difference"]), 0).astype(np.int64)


def rank_intervals(
    evaluation: Evaluation, measure: str, ties: str = "expected", *, pairs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return an interval for the rank of each reranker's true mean.

    With probability 0.95, the ranks by true means, over all possible queries, are all within their
    intervals: lowest = 1 + the number of rerankers that are significantly better, highest = n - the number that
    are significantly worse. Where pairs share fewer queries than the means have, an interval is widened to
    contain the rank.

    Args:
        evaluation: evaluation of `measure` under `ties`.
        measure: name of a measure.
        ties: name of a treatment.
        pairs: table of `compare` for all pairs; None to compute it.

    Returns:
        one row per reranker with a mean, the highest first: reranker, place (rank by its mean, shared by equal
        means), lowest, highest.

    Raises:
        UsageError: the evaluation lacks the measure or the treatment.

    Source: Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 91(1), 2024, section 3.
    """
    pairs = compare(evaluation, measure, ties) if pairs is None else pairs
    means = evaluation.means(measure)[ties].dropna().sort_values(ascending=False, kind="stable")
    place = places(means).to_numpy(np.int64)
    signs = significant_signs(pairs)
    is_better, is_worse = pairs[signs > 0], pairs[signs < 0]
    winners = pd.concat([is_better["reranker"], is_worse["baseline"]]).value_counts()
    losers = pd.concat([is_better["baseline"], is_worse["reranker"]]).value_counts()
    n_worse, n_better = (counts.reindex(means.index, fill_value=0).to_numpy() for counts in (winners, losers))
    return pd.DataFrame(
        {
            "reranker": pd.array(means.index, dtype="str"),
            "place": place,
            "lowest": np.minimum(place, 1 + n_better),
            "highest": np.maximum(place, len(means) - n_worse),
        }
    )


def with_rank_intervals(leaderboard: pd.DataFrame, intervals: pd.DataFrame) -> pd.DataFrame:
    """Add rank_low and rank_high to a leaderboard; NA without a mean."""
    rows = intervals.set_index("reranker")[["lowest", "highest"]].set_axis(["rank_low", "rank_high"], axis=1)
    return leaderboard.join(rows.reindex(leaderboard.index).astype("Int64"))


def find_method(test: str, correction: str | None) -> tuple[Test, str]:
    """Return the named test and correction: by default the largest statistic for flips, Holm's for others."""
    tests = {one.name: one for one in TESTS}
    record = tests[_known_name(test, tests, "test")]
    default = LARGEST if record is TESTS[0] else "holm"
    method = _known_name(correction or default, CORRECTIONS, "correction")
    if method == LARGEST != default:
        raise UsageError(f"The largest statistic is that of sign flips. With {record.label}, choose holm.")
    return record, method


def _known_name(name: str, names: Iterable[str], kind: str) -> str:
    if name.strip().casefold() not in names:
        raise UsageError(f"There is no {kind} {name[:40]!r}. Choose from: {', '.join(names)}.")
    return name.strip().casefold()
