"""Choose the pairs to compare, compute their statistics, and estimate the smallest detectable difference."""

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.query_values import agreeing_signs, alpha, holm, round_differences, values_by_query
from metrics.studies.resampling import CELLS
from metrics.studies.significance_tests import Comparison, Pair, TestResults, is_constant
from metrics.studies.test_registry import Test
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.wording import count_of

with needs("stats"):
    from scipy.special import stdtr

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

Texts = npt.NDArray[np.object_]


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


def group_by_queries(
    table: FloatArray, pairs: IntArray, test: Test, level: float, seed: int, comparisons: int
) -> Iterator[tuple[IntArray, Comparison]]:
    """Yield the pairs that can be tested at once, as places in `pairs`, with the values to test.

    A paired test takes pairs together that have the same common queries. `table` is (n_queries, n_rerankers),
    NaN where there is no value.
    """
    is_present = np.isfinite(table)
    if test.queries in ("own", "all"):
        values = table if test.queries == "own" else table[is_present.all(axis=1)]
        yield np.arange(len(pairs)), Comparison(values, pairs, level, seed, comparisons)
        return
    for places, common in _same_queries(is_present, pairs):
        columns, local = np.unique(pairs[places], return_inverse=True)
        values = np.asfortranarray(table[np.ix_(common, columns)])
        yield places, Comparison(values, local.reshape(-1, 2), level, seed, comparisons)


def _same_queries(is_present: BoolArray, pairs: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield the places of pairs that share the same common queries, with a mask of those queries."""
    patterns = np.unique(is_present, axis=1, return_inverse=True)[1].ravel()
    both = np.sort(patterns[pairs], axis=1)
    kinds = np.unique(both[:, 0] * (patterns.max(initial=0) + 1) + both[:, 1], return_inverse=True)[1].ravel()
    order = np.argsort(kinds, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1) if len(order) else ():
        baseline, reranker = pairs[places[0]]
        yield places, is_present[:, baseline] & is_present[:, reranker]


def paired_p(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test every pair of rerankers by Student's paired t-test on common queries, as `t_test` does.

    `values` is (n_queries, n_rerankers), NaN where a reranker has no value.

    Returns:
        (n_rerankers, n_rerankers) mean of row minus column, 0 without common queries, and p, 1 if untestable.
    """
    by_reranker = np.ascontiguousarray(values.T)
    is_present = np.isfinite(by_reranker)
    totals = np.where(is_present, by_reranker, 0.0) @ is_present.T
    difference = (totals - totals.T) / np.maximum(1, is_present.astype(float) @ is_present.T)
    p = np.ones_like(difference)
    rows, columns = np.triu_indices(len(by_reranker), 1)
    size = max(1, CELLS // max(1, len(values)))
    for start in range(0, len(rows), size):
        row, column = rows[start : start + size], columns[start : start + size]
        p[row, column] = _student_p(round_differences(by_reranker[row] - by_reranker[column]))
    return np.where(np.abs(difference) <= EQUAL, 0.0, difference), np.minimum(p, p.T)


def _student_p(differences: FloatArray) -> FloatArray:
    """Return p of (n_pairs, n_queries) differences, NaN for queries that are not common."""
    is_common = np.isfinite(differences)
    n = is_common.sum(axis=1)
    freedom, divisor = np.maximum(1, n - 1), np.maximum(1, n)
    differences[~is_common] = 0
    mean = differences.sum(axis=1) / divisor
    centred = (differences - mean[:, None]) * is_common
    error = np.sqrt(np.square(centred).sum(axis=1) / freedom / divisor)
    t = np.divide(np.abs(mean), error, out=np.zeros_like(mean), where=error > 0)
    by_signs = np.where(np.abs(mean) > EQUAL, [agreeing_signs(int(number)) for number in n], 1.0)
    is_level = centred.max(axis=1, initial=0.0) - centred.min(axis=1, initial=0.0) <= 2 * EQUAL
    return np.where(n > 1, np.where(is_level, by_signs, 2 * stdtr(freedom, -t)), 1.0)


def holm_pairs(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean differences and p of `paired_p`, and p adjusted for all pairs."""
    difference, p = paired_p(values)
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper])
    return difference, p, np.minimum(adjusted, adjusted.T)


def pair_statistics(comparison: Comparison, test: Test) -> Mapping[str, npt.NDArray[Any]]:
    """Return the statistics of each pair that need no test, a column each.

    Returns:
        n, mean_baseline, mean, difference, dz, superiority, won, equal and lost, as `compare` explains them.
    """
    if not test.paired:
        rows = [_unpaired_statistics(comparison, pair) for pair in comparison.pairs]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}
    summary, n = comparison.summary, len(comparison.scores)
    baseline, reranker = np.asarray(comparison.pairs).reshape(-1, 2).T
    means = np.ascontiguousarray(comparison.scores.T).sum(axis=1) / max(1, n)
    difference = means[reranker] - means[baseline]
    equal = n - summary.won - summary.lost
    return {
        "n": np.full(len(difference), n),
        "mean_baseline": means[baseline],
        "mean": means[reranker],
        "difference": np.where(np.abs(difference) <= EQUAL, 0.0, difference),
        "dz": _effects(comparison),
        "superiority": (summary.won + equal / 2) / n if n else np.full(len(difference), 0.5),
        "won": summary.won,
        "equal": equal,
        "lost": summary.lost,
    }


def _effects(comparison: Comparison) -> FloatArray:
    summary, n = comparison.summary, len(comparison.scores)
    differs = (np.abs(summary.mean) > EQUAL) & (n > 1)
    constant = summary.range <= 2 * EQUAL
    spread = np.sqrt(summary.squares / max(1, n - 1))
    effects = np.where(differs & constant, np.copysign(np.inf, summary.mean), 0.0)
    return np.divide(summary.mean, spread, out=effects, where=differs & ~constant)


def _unpaired_statistics(comparison: Comparison, pair: Pair) -> dict[str, float]:
    baseline, reranker = (comparison.scores[:, column] for column in pair)
    differences = round_differences(reranker - baseline)
    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    ours, theirs = (round_differences(values[np.isfinite(values)]) for values in (reranker, baseline))
    mean, mean_baseline = (float(values.mean()) if len(values) else 0.0 for values in (ours, theirs))
    difference = 0.0 if abs(mean - mean_baseline) <= EQUAL else mean - mean_baseline
    return {
        "n": len(ours),
        "mean_baseline": mean_baseline,
        "mean": mean,
        "difference": difference,
        "dz": _pooled_effect(difference, np.concatenate([ours - mean, theirs - mean_baseline])),
        "superiority": superiority(ours, theirs),
        "won": won,
        "equal": int(np.isfinite(differences).sum()) - won - lost,
        "lost": lost,
    }


def _pooled_effect(difference: float, residuals: FloatArray) -> float:
    """Return a difference of two means in standard deviations of the residuals around both."""
    n_means = 2
    if abs(difference) <= EQUAL or len(residuals) <= n_means:
        return 0.0
    if is_constant(residuals):
        return float(np.copysign(np.inf, difference))
    squares = ((residuals - residuals.mean()) ** 2).sum()
    return difference / float(np.sqrt(squares / (len(residuals) - n_means)))


def comparison_notes(
    statistics: Mapping[str, npt.NDArray[Any]],
    results: TestResults,
    test: Test,
    level: float,
    n_baseline: IntArray,
    n_dropped: IntArray,
) -> Texts:
    """Return the note of each pair: the test's own or a reservation, unequal queries, values left out.

    `n_baseline` is the number of queries of each baseline, `n_dropped` the number of values of each pair that
    are not finite.
    """
    differing = statistics["won"] + statistics["lost"] if test.paired else np.zeros_like(n_baseline)
    notes = np.where(results.note != "", results.note, _reservations(results, differing, level))
    for place in np.flatnonzero((n_dropped > 0) | (not test.paired)).tolist():
        parts = [notes[place]]
        if not test.paired:
            queries = count_of(int(statistics["n"][place]), "query")
            parts.append(f"{queries} of the reranker, {n_baseline[place]} of the baseline")
        if n_dropped[place]:
            parts.append(f"values left out because they are not finite: {n_dropped[place]}")
        notes[place] = "; ".join(filter(None, parts))
    return notes


def _reservations(results: TestResults, differing: IntArray, level: float) -> Texts:
    is_significant = results.p < alpha(level)
    disagree = is_significant != ((results.low > 0) | (results.high < 0))
    texts = np.full(len(differing), "", dtype=object)
    texts[is_significant] = [_too_few_signs(int(n), level) for n in differing[is_significant]]
    unbounded = f"too few queries: the interval of the difference at level {level:.4g} is unbounded"
    texts[np.isinf(results.low)] = unbounded
    texts[disagree] = "p compares ranks, the interval compares means, and the two disagree"
    return texts


def _too_few_signs(differing: int, level: float) -> str:
    smallest = agreeing_signs(differing)
    if not differing or smallest < alpha(level):
        return ""
    queries = f"{count_of(differing, 'query')} that differ{'s' * (differing == 1)}"
    return (
        f"this p value assumes normal differences; a sign test on {queries} cannot give p below {smallest:.4g}"
    )


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
