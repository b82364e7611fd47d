"""Choose the pairs to compare, compute their statistics, and estimate the smallest detectable difference."""

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.query_values import agreeing_signs, alpha, round_differences, values_by_query
from metrics.studies.significance_tests import Comparison, TestResults
from metrics.studies.test_registry import Test
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import count_of

COLUMNS = {
    "baseline": "str",
    "reranker": "str",
    "n": "int64",
    "mean_baseline": "float64",
    "mean": "float64",
    "difference": "float64",
    "low": "float64",
    "high": "float64",
    "p": "float64",
    "p_adjusted": "float64",
    "stars": "str",
    "dz": "float64",
    "superiority": "float64",
    "won": "int64",
    "equal": "int64",
    "lost": "int64",
    "note": "str",
}
"""Columns of a table of comparisons and their types."""

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Stars of an adjusted p value below each bound."""
MARKS = (*(mark for _, mark in STARS), "ns")
"""Marks of verdicts, smallest p value first."""


def baseline_pairs(names: Sequence[str], baselines: Sequence[str] | str | None) -> IntArray:
    """Return (n_pairs, 2) columns of each baseline and each other reranker, of all pairs for None.

    Each pair appears once, under the baseline named first.
    """
    if baselines is None:
        return np.column_stack(np.triu_indices(len(names), 1))
    baseline_names = [baselines] if isinstance(baselines, str) else baselines
    unknown = [name for name in baseline_names if name not in names]
    if unknown:
        raise UsageError(f"There is no reranker {unknown[0]!r}. Choose the baseline among: {', '.join(names)}.")
    columns = list(dict.fromkeys(names.index(name) for name in baseline_names))
    pairs = [
        (baseline, other)
        for place, baseline in enumerate(columns)
        for other in range(len(names))
        if other not in columns[: place + 1]
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def pair_statistics(comparison: Comparison, *, paired: bool) -> dict[str, npt.NDArray[Any]]:
    """Return the statistics of each pair that need no test, a column each.

    Returns:
        n, mean_baseline, mean, difference, dz, superiority, won, equal and lost, as `compare` explains them.
    """
    n, mean_baseline, mean, _, squares, is_constant, won, lost = comparison.summary
    equal, freedom = n - won - lost, n - 1
    shares = np.where(n > 0, (won + equal / 2) / np.maximum(1, n), 0.5)
    if not paired:
        samples, (baseline, reranker) = comparison.samples, comparison.pairs.T
        counts, means = np.array([(len(one), one.mean() if len(one) else 0.0) for one in samples]).T
        n, mean_baseline, mean = counts[reranker].astype(np.int64), means[baseline], means[reranker]
        residuals = [one - one.mean() if len(one) else np.zeros(1) for one in samples]
        sums, lows, highs = np.array([((one**2).sum(), one.min(), one.max()) for one in residuals]).T
        squares, freedom = sums[baseline] + sums[reranker], n + counts[baseline] - 2
        widths = np.maximum(highs[baseline], highs[reranker]) - np.minimum(lows[baseline], lows[reranker])
        is_constant = widths <= 2 * EQUAL
        shares = np.array([superiority(samples[ours], samples[theirs]) for theirs, ours in comparison.pairs])
    difference = np.where(np.abs(mean - mean_baseline) <= EQUAL, 0.0, mean - mean_baseline)
    differs = (difference != 0) & (freedom > 0)
    effects = np.where(differs & is_constant, np.copysign(np.inf, difference), 0.0)
    spread = np.sqrt(squares / np.maximum(1, freedom))
    return {
        "n": n,
        "mean_baseline": mean_baseline,
        "mean": mean,
        "difference": difference,
        "dz": np.divide(difference, spread, out=effects, where=differs & ~is_constant),
        "superiority": shares,
        "won": won,
        "equal": equal,
        "lost": lost,
    }


def comparison_notes(
    statistics: Mapping[str, npt.NDArray[Any]],
    results: TestResults,
    test: Test,
    level: float,
    n_baseline: IntArray,
    n_dropped: IntArray,
) -> npt.NDArray[np.object_]:
    """Return the note of each pair: the test's own or a reservation, unequal queries, values left out.

    `n_baseline` is the number of queries of each baseline, `n_dropped` the number of values of each pair that
    are not finite.
    """
    is_significant = results.p < alpha(level)
    unbounded = f"too few queries: the confidence interval of the difference at level {level:.4g} is unbounded"
    disagree = "p compares ranks, the interval compares means, and the two disagree"
    does_exclude = (results.low > 0) | (results.high < 0)
    conditions = [results.note != "", is_significant != does_exclude, np.isinf(results.low)]
    notes = np.select(conditions, [results.note, disagree, unbounded], "").astype(object)
    differing = statistics["won"] + statistics["lost"]
    is_optimistic = is_significant & (differing > 0) & (2.0 ** (1 - differing) >= alpha(level))
    for place in np.flatnonzero(is_optimistic & (notes == "") & test.paired).tolist():
        n = int(differing[place])
        notes[place] = (
            f"this p value assumes normal differences; a sign test on {count_of(n, 'query')} that "
            f"differ{'s' * (n == 1)} cannot give p below {agreeing_signs(n):.4g}"
        )
    for place in np.flatnonzero((n_dropped > 0) | (not test.paired)).tolist():
        parts = [notes[place]]
        if not test.paired:
            queries = count_of(int(statistics["n"][place]), "query")
            parts.append(f"{queries} of the reranker, {n_baseline[place]} of the baseline")
        if n_dropped[place]:
            parts.append(f"values left out because they are not finite: {n_dropped[place]}")
        notes[place] = "; ".join(filter(None, parts))
    return notes


def stars(p: float) -> str:
    """Return *** for a p below 0.001, ** below 0.01, * below 0.05, else ns."""
    return MARKS[int(star_places(np.array([p]))[0])]


def star_places(p: FloatArray) -> IntArray:
    """Return the (n,) index in `MARKS` of each p."""
    return np.searchsorted([bound for bound, _ in STARS], p, side="right")


def superiority(ours: FloatArray, theirs: FloatArray) -> float:
    """Return the chance that a value of `ours` exceeds one of `theirs`, equal ones half; 0.5 without values."""
    if not len(ours) or not len(theirs):
        return 0.5
    ordered = np.sort(theirs)
    below, up_to = (np.searchsorted(ordered, ours, side) for side in ("left", "right"))
    return float((below + up_to).mean() / 2 / len(theirs))


SortKey = Literal["moved", "difference"]


def query_differences(
    evaluation: Evaluation, measure: str, a: str, b: str, traditional: str, sort_by: SortKey = "moved"
) -> pd.DataFrame:
    """Return a row for each query of both rerankers, the largest difference first.

    Returns:
        query_id; a, b, difference (a − b): tied; a_before, b_before, difference_before: traditional;
        moved (difference_before − difference); tie_ratio_a, tie_ratio_b. Differences within rounding are
        exactly 0. Sorted by the size of `sort_by`, then of the other column, then by query.

    Raises:
        UsageError: a name that was not evaluated, or an unknown `sort_by`.
    """
    if sort_by not in ("moved", "difference"):
        raise UsageError(f"sort_by={sort_by!r}: choose 'moved' or 'difference'.")
    parts = []
    for ties, ending in (("expected", ""), (traditional, "_before")):
        table = values_by_query(evaluation, measure, ties)
        baseline_pairs([str(name) for name in table.columns], [a, b])
        parts.append(table[[a, b]].set_axis([f"a{ending}", f"b{ending}"], axis=1))
        parts[-1][f"difference{ending}"] = round_differences((table[a] - table[b]).to_numpy())
    rows = pd.concat(parts, axis=1).dropna()
    rows["moved"] = round_differences((rows["difference_before"] - rows["difference"]).to_numpy())
    ratios = evaluation.lists["tie_ratio"].unstack("reranker")  # noqa: PD010
    ratios = ratios.reindex(index=rows.index, columns=[a, b]).astype("float64")
    rows["tie_ratio_a"], rows["tie_ratio_b"] = ratios.iloc[:, 0], ratios.iloc[:, 1]
    keys = ["moved", "difference"] if sort_by == "moved" else ["difference", "moved"]
    order = rows[keys].abs().sort_values(keys, ascending=False, kind="stable").index
    return rows.loc[order].rename_axis("query_id").reset_index()


def detectable(
    evaluation: Evaluation,
    measure: str,
    ties: str,
    baseline: str,
    level: float = 0.95,
    power: float = 0.8,
    *,
    paired: bool = True,
) -> float:
    """Return the smallest mean difference from the baseline that a t-test finds with this power.

    d · sd, in the measure's unit: d is the effect size found at 1 − level, two-sided and uncorrected, and sd
    and the number of queries are medians over the other rerankers that can be tested. Paired: common queries,
    and the standard deviation of differences. Unpaired: each reranker's own queries, and the pooled standard
    deviation of values. Infinite if nothing can be tested; 0 if nothing varies and any difference would be
    significant.

    Raises:
        UsageError: a name that was not evaluated, or a level or power out of range.

    Source: Cohen, Statistical Power Analysis, 1988, chapter 2; for rankings: Sakai, Information Retrieval
    Journal 19(3), 2016.
    """
    if not 0 < 1 - level < power < 1:
        raise UsageError(
            f"level={level}, power={power}: both must lie between 0 and 1, and power must be above 1 - level."
        )
    table = values_by_query(evaluation, measure, ties)
    variations = []
    for base, other in baseline_pairs([str(name) for name in table.columns], baseline):
        ours, theirs = table.iloc[:, other], table.iloc[:, base]
        samples = [values.dropna().to_numpy() for values in ([ours - theirs] if paired else [ours, theirs])]
        sizes = list(map(len, samples))
        if min(sizes) > 1:
            squares = sum(values.var() * len(values) for values in samples)
            variations.append((*sizes, float(np.sqrt(squares / sum(size - 1 for size in sizes)))))
    if not variations:
        return float("inf")
    *n_queries, deviation = np.median(variations, axis=0)
    if deviation <= EQUAL:
        n, n_all = int(n_queries[0]), int(sum(n_queries))
        return 0.0 if (agreeing_signs(n) if paired else 2 / comb(n_all, n)) < alpha(level) else float("inf")
    with needs("stats"):
        from statsmodels.stats.power import TTestIndPower, TTestPower  # noqa: PLC0415 tests need none of it
    chances = {"alpha": 1 - level, "power": power}
    if paired:
        effect = TTestPower().solve_power(nobs=n_queries[0], **chances)
    else:
        effect = TTestIndPower().solve_power(nobs1=n_queries[0], ratio=n_queries[1] / n_queries[0], **chances)
    return float(deviation * np.squeeze(effect))
