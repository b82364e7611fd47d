"""Who is compared with whom on which queries, and what is counted of a pair before any test."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from metrics.errors import UsageError
from metrics.evaluation import EQUAL
from metrics.measures import parse
from metrics.studies.significance.paired_tests import Comparison, Pair, is_constant
from metrics.studies.significance.query_values import agreeing_signs, alpha, round_differences
from metrics.studies.significance.test_registry import Test
from metrics.support.arrays import BoolArray, FloatArray
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

PairStatistics = dict[str, float]


def baseline_pairs(names: Sequence[str], baselines: Sequence[str] | str | None) -> list[Pair]:
    """Return the columns of each baseline and of every other reranker; of all pairs where `baselines` is None.

    No pair comes twice: of two baselines, and of all pairs, the one named first is the baseline.
    """
    if baselines is None:
        return list(combinations(range(len(names)), 2))
    baseline_names = [baselines] if isinstance(baselines, str) else baselines
    unknown = [name for name in baseline_names if name not in names]
    if unknown:
        raise UsageError(f"There is no reranker {unknown[0]!r}. Choose the baseline among: {', '.join(names)}.")
    columns = list(dict.fromkeys(names.index(name) for name in baseline_names))
    earlier = {one: set(columns[: at + 1]) for at, one in enumerate(columns)}
    return [(one, other) for one in columns for other in range(len(names)) if other not in earlier[one]]


def group_by_queries(
    table: FloatArray, pairs: Sequence[Pair], test: Test, level: float, seed: int, comparisons: int
) -> Iterator[tuple[list[int], Comparison]]:
    """Yield the pairs that can be tested at once, as places in `pairs`, with the values to test them on.

    Pairs of a paired test go together where they have the same queries in common.

    Args:
        table: (n_queries, n_rerankers); NaN where there is no value.
        pairs: columns of baseline and reranker.
        test: which test.
        level: of the intervals.
        seed: of what is drawn.
        comparisons: how many are corrected for.
    """
    everything = list(range(len(pairs)))
    is_present = np.isfinite(table)
    if test.queries == "own":
        yield everything, Comparison(table, pairs, level, seed, comparisons)
        return
    if test.queries == "all":
        yield everything, Comparison(table[is_present.all(axis=1)], pairs, level, seed, comparisons)
        return
    for places, common in _same_queries(is_present, pairs):
        columns = sorted({column for place in places for column in pairs[place]})
        place_of = {column: place for place, column in enumerate(columns)}
        local_pairs = [(place_of[pairs[place][0]], place_of[pairs[place][1]]) for place in places]
        values = np.asfortranarray(table[np.ix_(common, np.array(columns))])
        yield places, Comparison(values, local_pairs, level, seed, comparisons)


def _same_queries(is_present: BoolArray, pairs: Sequence[Pair]) -> Iterator[tuple[list[int], BoolArray]]:
    """Yield places of pairs with the same queries in common, and (n_queries,) whether each query is one."""
    patterns = np.unique(is_present, axis=1, return_inverse=True)[1].ravel()
    by_pattern: dict[frozenset[int], list[int]] = {}
    for place, pair in enumerate(pairs):
        by_pattern.setdefault(frozenset(patterns[list(pair)].tolist()), []).append(place)
    for places in by_pattern.values():
        baseline, reranker = pairs[places[0]]
        yield places, is_present[:, baseline] & is_present[:, reranker]


def pair_statistics(comparison: Comparison, pair: Pair, test: Test) -> PairStatistics:
    """Return what is counted of one pair before any test.

    Args:
        comparison: the values of all rerankers.
        pair: columns of the baseline and of the reranker.
        test: whether it is paired decides what n, dz and superiority are of.

    Returns:
        n, mean_baseline, mean, difference, dz, superiority, won, equal and lost, as `compare` explains them.
    """
    baseline, reranker = (comparison.scores[:, column] for column in pair)
    common = np.isfinite(baseline) & np.isfinite(reranker)
    differences = round_differences(reranker[common] - baseline[common])
    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    n_common = len(differences)
    outcome: PairStatistics = {"won": won, "equal": n_common - won - lost, "lost": lost}
    if test.paired:
        share = (won + outcome["equal"] / 2) / n_common if n_common else 0.5
        effect = _effect(_mean(differences), differences)
        return _means(baseline, reranker) | {"n": n_common, "dz": effect, "superiority": share} | outcome
    ours, theirs = (round_differences(one[np.isfinite(one)]) for one in (reranker, baseline))
    means = _means(theirs, ours)
    residuals = np.concatenate([ours - _mean(ours), theirs - _mean(theirs)])
    sizes = {"dz": _effect(means["difference"], residuals, n_means=2), "superiority": superiority(ours, theirs)}
    return means | {"n": len(ours)} | sizes | outcome


def comparison_notes(
    rows: Sequence[Mapping[str, Any]],
    test: Test,
    level: float,
    queries: Mapping[str, int],
    dropped: dict[str, int],
) -> list[str]:
    """Return the note of each row: the test's own, what p rests on, how many queries, what is no number.

    Args:
        rows: a mapping of columns to values for each comparison, with the test's note.
        test: which test.
        level: of the intervals.
        queries: reranker → queries it has a value for.
        dropped: as `count_not_finite` returns it.
    """
    texts = []
    for row in rows:
        unknown = sum(dropped.get(name, 0) for name in (row["baseline"], row["reranker"]))
        sizes = f"{count_of(row['n'], 'query')} against {queries[row['baseline']]}"
        differing = row["won"] + row["lost"] if test.paired else 0
        parts = (
            row["note"] or _reservation(row["p"], row["low"], row["high"], differing, level),
            "" if test.paired else sizes,
            f"values that are no numbers, left out: {unknown}" if unknown else "",
        )
        texts.append("; ".join(filter(None, parts)))
    return texts


def _reservation(p: float, low: float, high: float, differing: int, level: float) -> str:
    """Return what p and its interval leave open: they disagree, rest on an assumption, or have no bound."""
    is_significant = p < alpha(level)
    if is_significant != (low > 0 or high < 0):
        return "p is of ranks, the interval of means: here they disagree"
    if np.isinf(low):
        return f"so little allows any difference: no interval of {level:.4g} has a bound"
    smallest = agreeing_signs(differing)
    if differing and is_significant and smallest >= alpha(level):
        differ = f"{count_of(differing, 'query')} that differ{'s' * (differing == 1)}"
        return f"p assumes normal differences: the signs of {differ} agree by chance in {smallest:.4g}"
    return ""


def largest_difference(measure: str) -> float:
    """Return the largest difference of two values; infinite where they have no bound, as DCG and seconds."""
    try:
        return parse(measure).measure.largest or np.inf
    except UsageError:
        return np.inf


def stars(p: float) -> str:
    """Return *** below 0.001, ** below 0.01, * below 0.05, else ns."""
    return next((mark for bound, mark in STARS if p < bound), "ns")


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
