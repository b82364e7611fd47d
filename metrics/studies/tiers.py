"""Between which places other queries could put each reranker, and tiers of those that nothing tells apart."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.leaderboard import places
from metrics.studies.query_values import alpha, largest_difference, round_differences, values_by_query
from metrics.studies.resampling import flipped_sums
from metrics.support.arrays import BoolArray, FloatArray, IntArray

DRAWS = 1_999
"""Draws of signs for all queries: at a level of 0.95 the 99th largest decides."""
_ROUNDING = 1e-6
"""Part of a statistic that sums of the same differences may be apart by."""
_BATCH = 256
"""Draws looked at together, which stay in a processor's cache."""
_FLOAT32_END = 1e30
"""Largest sum of differences that is looked at in float32."""


def rank_intervals(
    evaluation: Evaluation, measure: str, ties: str = "expected", *, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Return between which ranks each reranker's true mean stands, all at once, and its tier.

    With the chance of `level`, the ranks by true means (those over all queries there could be) are all within
    their intervals: lowest = 1 + the rerankers that are better, highest = n - those that are worse, told by
    `better`. A tier is a run of places in which nobody is told apart: from the first place on, the next begins
    where somebody stands who is told worse than one in it, with all of equal mean. Members are not equal, and
    to be told apart is not transitive: who scatters much over queries may be in a later tier than one it is not
    told apart from, which its interval says.

    Args:
        evaluation: with `measure` under `ties`; its queries are resampled, the same for all rerankers, and the
            value of a query is the exact one.
        measure: name of a measure.
        ties: name of a treatment.
        level: chance that all intervals hold at once.
        seed: of the resamples; the same seed gives the same table.

    Returns:
        a row a reranker that has a mean, the highest first: reranker, place (by its mean; equal means share the
        first), lowest and highest (the smallest and largest rank), tier (1, 2, ...).

    Raises:
        UsageError: the evaluation lacks the measure or the treatment.

    Source: Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 91(1), 2024, section 3.
    """
    table = values_by_query(evaluation, measure, ties)
    values = table.to_numpy()
    counts = np.isfinite(values).sum(axis=0)
    means = np.nansum(values, axis=0) / np.maximum(1, counts)
    order = np.argsort(-means.round(12), kind="stable")
    order = order[counts[order] > 0]
    place = places(pd.Series(means[order])).to_numpy(np.int64)
    is_better = better(values[:, order], largest_difference(measure), level=level, seed=seed)
    return pd.DataFrame(
        {
            "reranker": pd.array(table.columns[order], dtype="str"),
            "place": place,
            "lowest": 1 + is_better.sum(axis=0),
            "highest": len(order) - is_better.sum(axis=1),
            "tier": _tiers(place, is_better),
        }
    )


def _tiers(place: IntArray, is_better: BoolArray) -> IntArray:
    tiers, start = np.ones(len(place), dtype=np.int64), 0
    for first in np.unique(place, return_index=True)[1]:
        is_level = place == place[first]
        if is_better[start:first, is_level].any():
            tiers[first:] += 1
            start = first
    return tiers


def with_tiers(leaderboard: pd.DataFrame, intervals: pd.DataFrame) -> pd.DataFrame:
    """Return a leaderboard with the columns tier, rank_low and rank_high; NA where there is no mean."""
    columns = {"tier": "tier", "lowest": "rank_low", "highest": "rank_high"}
    rows = intervals.set_index("reranker")[list(columns)].rename(columns=columns)
    return leaderboard.join(rows.reindex(leaderboard.index).astype("Int64"))


def tiers_condition(measure: str) -> str:
    """Return what rank intervals assume of a measure without an upper bound; nothing of another."""
    if np.isfinite(largest_difference(measure)):
        return ""
    return "Rank intervals assume that no query has a larger difference than those seen."


def better(values: FloatArray, largest: float = np.inf, *, level: float = 0.95, seed: int = 0) -> BoolArray:
    """Return which rerankers are better than which others, with so much confidence in all of it at once.

    Each of the k (k - 1) hypotheses that one is no better than another is tested by

        sum of differences / sqrt(sum of squared differences)

    over queries, which rises with Student's t. In a draw, each query flips the sign of all its differences or
    of none. Pairs beyond what the largest of all pairs is in a share of `level` of the draws are told apart;
    those left are compared with the largest of those left, until none is beyond (stepdown). Who is better than
    one that is better than a third is better than that one, too: it follows, and costs no confidence.

    That holds for any number of queries where differences of equal rerankers are as likely to have either sign.
    Elsewhere a few queries not seen yet may hold large differences the other way. So the statistic of a pair is
    no larger than `_likelihood_ratios` allows: in simulations of skewed values the confidence then holds. Five
    queries tell nothing apart: their signs agree by chance in 1 of 16 cases.

    Returns:
        (k, k) whether the row is better than the column.

    Source: Romano & Wolf, Journal of the American Statistical Association 100, 2005 (stepdown of the largest);
    Fisher, The Design of Experiments, 1935, section 21 (signs).
    """
    is_present = np.isfinite(values)
    counts = np.maximum(1, is_present.sum(axis=0))
    centre = values[is_present].mean() if is_present.any() else 0.0  # leaves a query that one lacks its share
    parts = np.where(is_present, values - centre, 0.0) * (len(values) / counts)
    sizes, sums = _sizes(parts), parts.sum(axis=0)
    observed = _over(round_differences((sums[:, None] - sums) / max(1, len(values))) * len(values), sizes)
    is_better = np.zeros_like(observed, dtype=bool)
    if (observed > 0).any():
        seen = float(np.ptp(np.where(is_present, values, centre), axis=1).max())
        reach = (largest if largest >= seen and np.isfinite(largest) else seen) * (len(values) / counts)
        observed = np.minimum(observed, _likelihood_ratios(parts, observed, reach))
        is_better = _stepdown(observed, flipped_sums(parts, DRAWS, seed).T, sizes, level)
    while (implied := is_better | (is_better @ is_better)).sum() > is_better.sum():
        is_better = implied
    return is_better


def _likelihood_ratios(parts: FloatArray, observed: FloatArray, reach: FloatArray) -> FloatArray:
    """Return (k, k) signed roots of likelihood ratios of each pair whose row is ahead: 0 is its mean, or more.

    The ratio is sum(log(1 + b d)) of the differences d, b = min(sum(d) / sum(d^2), 1 / reach): the empirical
    likelihood with a further point at the end of the range, where queries not seen may be. Where no d is below
    0, the chance to see none that is, exp(-ratio) / (s sqrt(2 pi)), s^2 = sum((b d / (1 + b d))^2), counts
    as a normal quantile instead: 30 differences of 0.1 are no evidence that none is -0.9.

    Source: Owen, Empirical Likelihood, 2001, chapter 2; Bahadur & Rao, Annals of Mathematical Statistics 31,
    1960 (tail); Waudby-Smith & Ramdas, Journal of the Royal Statistical Society B 86(1), 2024 (range).
    """
    from scipy.special import ndtri  # noqa: PLC0415 what only draws does without

    by_reranker, roots = np.ascontiguousarray(parts.T), np.full(observed.shape, np.inf)
    for row in range(len(observed)):
        columns = np.flatnonzero(observed[row] > 0)
        differences = by_reranker[row] - by_reranker[columns]
        scales = np.maximum(reach[row], reach[columns])[:, None] * (1 + EQUAL)
        differences /= scales
        bets = np.minimum(differences.sum(axis=1) / (differences**2).sum(axis=1), 1 / (1 + EQUAL))[:, None]
        ratios = np.maximum(np.log1p(bets * differences).sum(axis=1), 0.0)
        roots[row, columns] = np.sqrt(2 * ratios)
        is_one_sided = differences.min(axis=1, initial=0.0) * scales[:, 0] >= -EQUAL
        shares = bets[is_one_sided] * differences[is_one_sided]
        deviations = np.sqrt(((shares / (1 + shares)) ** 2).sum(axis=1))
        tails = np.exp(-ratios[is_one_sided]) / np.maximum(1, deviations * np.sqrt(2 * np.pi))
        roots[row, columns[is_one_sided]] = np.maximum(-ndtri(tails), 0.0)
    return roots


def _sizes(parts: FloatArray) -> FloatArray:
    k = parts.shape[1]
    by_reranker, sizes = np.ascontiguousarray(parts.T), np.zeros((k, k))
    for row in range(k - 1):
        differences = by_reranker[row] - by_reranker[row + 1 :]
        size = np.sqrt((differences**2).sum(axis=1))
        sizes[row, row + 1 :] = np.where(np.abs(differences).max(axis=1, initial=0.0) > EQUAL, size, 0.0)
    return sizes + sizes.T


def _over(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    return np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)


def _stepdown(observed: FloatArray, flipped_means: FloatArray, sizes: FloatArray, level: float) -> BoolArray:
    is_rejected = np.zeros(observed.shape, dtype=bool)
    place = int(np.ceil(alpha(level) * (DRAWS + 1))) - 1
    while place > 0:
        largest = _largest(flipped_means, sizes, ~is_rejected)
        beyond = observed > (1 + _ROUNDING) * np.partition(largest, -place)[-place]
        if (beyond <= is_rejected).all():
            break
        is_rejected |= beyond
    return is_rejected


def _largest(flipped_means: FloatArray, sizes: FloatArray, is_open: BoolArray) -> FloatArray:
    """Return (draws,) the largest statistic of the open pairs; in float32, a third of the work, if it may."""
    kind = np.dtype(np.float32 if np.abs(flipped_means).max(initial=0) < _FLOAT32_END else np.float64)
    weights = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=is_open & (sizes > 0)).astype(kind)
    largest = np.zeros(flipped_means.shape[1], dtype=kind)
    for start in range(0, len(largest), _BATCH):
        sums = np.ascontiguousarray(flipped_means[:, start : start + _BATCH], dtype=kind)
        part = largest[start : start + _BATCH]
        for row in range(len(sums) - 1):
            differences = sums[row] - sums[row + 1 :]
            for factors in (weights[row, row + 1 :], -weights[row + 1 :, row]):
                np.maximum(part, (differences * factors[:, None]).max(axis=0), out=part)
    return largest.astype(np.float64)
