"""Who is compared with whom, what is counted of a pair, and how small a difference could be found."""

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.query_values import agreeing_signs, alpha, round_differences, values_by_query
from metrics.studies.significance_tests import Comparison, Pair, TestResults, is_constant
from metrics.studies.test_registry import Test
from metrics.support.arrays import BoolArray, FloatArray, IntArray
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
"""Columns of a table of comparisons, and what they hold."""

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Adjusted p below which a verdict has so many stars."""
MARKS = (*(mark for _, mark in STARS), "ns")
"""Marks of verdicts, the surest first."""

PairStatistics = dict[str, float]
Texts = npt.NDArray[np.object_]


def baseline_pairs(names: Sequence[str], baselines: Sequence[str] | str | None) -> IntArray:
    """Return (n_pairs, 2) columns of each baseline and of every other reranker; of all pairs where it is None.

    No pair comes twice: of two baselines, and of all pairs, the one named first is the baseline.
    """
    if baselines is None:
        return np.column_stack(np.triu_indices(len(names), 1))
    baseline_names = [baselines] if isinstance(baselines, str) else baselines
    unknown = [name for name in baseline_names if name not in names]
    if unknown:
        raise UsageError(f"There is no reranker {unknown[0]!r}. Choose the baseline among: {', '.join(names)}.")
    columns = list(dict.fromkeys(names.index(name) for name in baseline_names))
    earlier = {one: set(columns[: at + 1]) for at, one in enumerate(columns)}
    pairs = [(one, other) for one in columns for other in range(len(names)) if other not in earlier[one]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def group_by_queries(
    table: FloatArray, pairs: IntArray, test: Test, level: float, seed: int, comparisons: int
) -> Iterator[tuple[IntArray, Comparison]]:
    """Yield the pairs that can be tested at once, as places in `pairs`, with the values to test them on.

    Pairs of a paired test go together where they have the same queries in common.

    Args:
        table: (n_queries, n_rerankers); NaN where there is no value.
        pairs: (n_pairs, 2) columns of baseline and reranker.
        test: which test.
        level: of the intervals.
        seed: of what is drawn.
        comparisons: how many are corrected for.
    """
    everything = np.arange(len(pairs))
    is_present = np.isfinite(table)
    if test.queries == "own":
        yield everything, Comparison(table, pairs, level, seed, comparisons)
        return
    if test.queries == "all":
        yield everything, Comparison(table[is_present.all(axis=1)], pairs, level, seed, comparisons)
        return
    for places, common in _same_queries(is_present, pairs):
        columns, local = np.unique(pairs[places], return_inverse=True)
        values = np.asfortranarray(table[np.ix_(common, columns)])
        yield places, Comparison(values, local.reshape(-1, 2), level, seed, comparisons)


def _same_queries(is_present: BoolArray, pairs: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield places of pairs with the same queries in common, and (n_queries,) whether each query is one."""
    patterns = np.unique(is_present, axis=1, return_inverse=True)[1].ravel()
    both = np.sort(patterns[pairs], axis=1)
    kinds = np.unique(both[:, 0] * (patterns.max(initial=0) + 1) + both[:, 1], return_inverse=True)[1].ravel()
    order = np.argsort(kinds, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1) if len(order) else ():
        baseline, reranker = pairs[places[0]]
        yield places, is_present[:, baseline] & is_present[:, reranker]


def pair_statistics(comparison: Comparison, test: Test) -> Mapping[str, npt.NDArray[Any]]:
    """Return what is counted of each pair before any test, a column a figure.

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
    """Return (n_pairs,) mean differences in standard deviations, infinite where all queries differ alike."""
    summary, n = comparison.summary, len(comparison.scores)
    differs = (np.abs(summary.mean) > EQUAL) & (n > 1)
    constant = summary.range <= 2 * EQUAL
    spread = np.sqrt(summary.squares / max(1, n - 1))
    effects = np.where(differs & constant, np.copysign(np.inf, summary.mean), 0.0)
    return np.divide(summary.mean, spread, out=effects, where=differs & ~constant)


def _unpaired_statistics(comparison: Comparison, pair: Pair) -> PairStatistics:
    baseline, reranker = (comparison.scores[:, column] for column in pair)
    common = np.isfinite(baseline) & np.isfinite(reranker)
    differences = round_differences(reranker[common] - baseline[common])
    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    outcome: PairStatistics = {"won": won, "equal": len(differences) - won - lost, "lost": lost}
    ours, theirs = (round_differences(one[np.isfinite(one)]) for one in (reranker, baseline))
    means = _means(theirs, ours)
    residuals = np.concatenate([ours - _mean(ours), theirs - _mean(theirs)])
    sizes = {"dz": _effect(means["difference"], residuals, n_means=2), "superiority": superiority(ours, theirs)}
    return means | {"n": len(ours)} | sizes | outcome


def comparison_notes(
    statistics: Mapping[str, npt.NDArray[Any]],
    results: TestResults,
    test: Test,
    level: float,
    n_baseline: IntArray,
    n_dropped: IntArray,
) -> Texts:
    """Return the note of each pair: the test's own, what p rests on, how many queries, what is no number.

    Args:
        statistics: as `pair_statistics` returns them.
        results: of the test.
        test: which test.
        level: of the intervals.
        n_baseline: (n_pairs,) queries that the baseline has a value for.
        n_dropped: (n_pairs,) values of either that are no numbers.
    """
    differing = statistics["won"] + statistics["lost"] if test.paired else np.zeros_like(n_baseline)
    notes = np.where(results.note != "", results.note, _reservations(results, differing, level))
    for place in np.flatnonzero(n_dropped > 0).tolist() if test.paired else range(len(notes)):
        sizes = f"{count_of(int(statistics['n'][place]), 'query')} against {n_baseline[place]}"
        unknown = int(n_dropped[place])
        parts = (
            notes[place],
            "" if test.paired else sizes,
            f"values that are no numbers, left out: {unknown}" if unknown else "",
        )
        notes[place] = "; ".join(filter(None, parts))
    return notes


def _reservations(results: TestResults, differing: IntArray, level: float) -> Texts:
    """Return what p and its interval leave open: they disagree, rest on an assumption, or have no bound."""
    is_significant = results.p < alpha(level)
    disagree = is_significant != ((results.low > 0) | (results.high < 0))
    counts, place = np.unique(differing, return_inverse=True)
    by_count = np.array([_too_few_signs(int(n), level) for n in counts], dtype=object)
    texts = np.where(is_significant, by_count[place.ravel()] if len(counts) else "", "").astype(object)
    texts[np.isinf(results.low)] = f"so little allows any difference: no interval of {level:.4g} has a bound"
    texts[disagree] = "p is of ranks, the interval of means: here they disagree"
    return texts


def _too_few_signs(differing: int, level: float) -> str:
    """Return what to say of a small p where so many signs agree by chance more often, else nothing."""
    smallest = agreeing_signs(differing)
    if not differing or smallest < alpha(level):
        return ""
    differ = f"{count_of(differing, 'query')} that differ{'s' * (differing == 1)}"
    return f"p assumes normal differences: the signs of {differ} agree by chance in {smallest:.4g}"


def stars(p: float) -> str:
    """Return *** below 0.001, ** below 0.01, * below 0.05, else ns."""
    return MARKS[int(star_places(np.array([p]))[0])]


def star_places(p: FloatArray) -> IntArray:
    """Return the (n,) place in `MARKS` of the stars of each p."""
    return np.searchsorted([bound for bound, _ in STARS], p, side="right")


def superiority(ours: FloatArray, theirs: FloatArray) -> float:
    """Return the chance that one of ours is above one of theirs, equal ones half; 0.5 where there is none."""
    if not len(ours) or not len(theirs):
        return 0.5
    ordered = np.sort(theirs)
    below, up_to = (np.searchsorted(ordered, ours, side) for side in ("left", "right"))
    return float((below + up_to).mean() / 2 / len(theirs))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else 0.0


def _means(baseline: FloatArray, reranker: FloatArray) -> PairStatistics:
    difference = _mean(reranker) - _mean(baseline)
    difference = 0.0 if abs(difference) <= EQUAL else difference
    return {"mean_baseline": _mean(baseline), "mean": _mean(reranker), "difference": difference}


def _effect(difference: float, values: FloatArray, n_means: int = 1) -> float:
    """Return a difference in standard deviations of values, degrees of freedom lost to so many means."""
    if abs(difference) <= EQUAL or len(values) <= n_means:
        return 0.0
    if is_constant(values):
        return float(np.copysign(np.inf, difference))
    residuals = values - values.mean()
    return difference / float(np.sqrt((residuals**2).sum() / (len(values) - n_means)))


SortKey = Literal["moved", "difference"]


def query_differences(
    evaluation: Evaluation,
    measure: str,
    a: str,
    b: str,
    traditional: str,
    sort_by: SortKey = "moved",
) -> pd.DataFrame:
    """Return a row for each query both rerankers have, the farthest apart first.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        measure: name of a measure.
        a: one reranker.
        b: the other.
        traditional: the treatment taken as the traditional one.
        sort_by: farthest by how much the order of ties moved the difference, or by the difference itself.

    Returns:
        query_id; a, b, difference (a − b): tied; a_before, b_before, difference_before: traditional;
        moved (difference_before − difference); tie_ratio_a, tie_ratio_b: of the two lists. Differences are
        exactly 0 where they are rounding. Sorted by size of `sort_by`, then of the other, then by query.

    Raises:
        UsageError: a name that was not evaluated, or an order that does not exist.
    """
    if sort_by not in ("moved", "difference"):
        raise UsageError(f"sort_by={sort_by!r}: it is 'moved' or 'difference'.")
    parts = []
    for ties, ending in (("expected", ""), (traditional, "_before")):
        table = values_by_query(evaluation, measure, ties)
        names = [str(name) for name in table.columns]
        baseline_pairs(names, [a, b])
        ours, theirs = (table.iloc[:, names.index(name)] for name in (a, b))
        gap = pd.Series(round_differences((ours - theirs).to_numpy()), index=table.index)
        parts += [ours.rename(f"a{ending}"), theirs.rename(f"b{ending}"), gap.rename(f"difference{ending}")]
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
    """Return the smallest mean difference from the baseline, in the measure's unit, that a t-test finds.

    d sd, where d is the effect size found with that power at 1 - level, two-sided and uncorrected, and numbers
    of queries and sd are medians over the other rerankers that can be tested. Paired: common queries, and the
    standard deviation of differences. Unpaired: each one's own queries, and the pooled standard deviation of
    values. Infinite where there is none, 0 where nothing varies and a
    difference of any size would be significant.

    Args:
        evaluation: with `measure` under `ties`.
        measure: name of a measure.
        ties: name of a treatment.
        baseline: whom the others are compared with.
        level: of the test.
        power: chance to find a difference of that size.
        paired: whether the test is on common queries.

    Raises:
        UsageError: a name that is not there, or a level or power that cannot be.

    Source: Cohen, Statistical Power Analysis, 1988, chapter 2; for rankings: Sakai, Information Retrieval
    Journal 19(3), 2016.
    """
    if not 0 < 1 - level < power < 1:
        raise UsageError(f"level={level}, power={power}: power lies above 1 - level, and both between 0 and 1.")
    samples = _samples(values_by_query(evaluation, measure, ties), baseline, paired=paired)
    spreads = [(*map(len, values), _pooled_std(values)) for values in samples if min(map(len, values)) > 1]
    if not spreads:
        return float("inf")
    *sizes, spread = np.median(spreads, axis=0)
    if spread <= EQUAL:
        smallest_p = agreeing_signs(int(sizes[0])) if paired else 2 / comb(int(sum(sizes)), int(sizes[0]))
        return 0.0 if smallest_p < alpha(level) else float("inf")
    with needs("stats"):
        from statsmodels.stats.power import TTestIndPower, TTestPower  # noqa: PLC0415 tests need none of it
    chances = {"alpha": 1 - level, "power": power}
    if paired:
        effect = TTestPower().solve_power(nobs=sizes[0], **chances)
    else:
        effect = TTestIndPower().solve_power(nobs1=sizes[0], ratio=sizes[1] / sizes[0], **chances)
    return float(spread * np.squeeze(effect))


def _samples(table: pd.DataFrame, baseline: str, *, paired: bool) -> list[list[FloatArray]]:
    """Return for each other reranker its differences from the baseline, or its values and the baseline's."""
    pairs = baseline_pairs([str(name) for name in table.columns], baseline)
    columns = [(table.iloc[:, other], table.iloc[:, base]) for base, other in pairs]
    compared = [[ours - theirs] if paired else [ours, theirs] for ours, theirs in columns]
    return [[values.dropna().to_numpy() for values in parts] for parts in compared]


def _pooled_std(samples: list[FloatArray]) -> float:
    """Return the standard deviation of values from the mean of their sample."""
    squares = sum(values.var() * len(values) for values in samples)
    return float(np.sqrt(squares / sum(len(values) - 1 for values in samples)))
