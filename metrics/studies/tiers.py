"""Confidence intervals of ranks, and tiers of rerankers that the data cannot tell apart."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, EXCESS, Evaluation
from metrics.studies.leaderboard import places
from metrics.studies.query_values import alpha, largest_difference, round_differences, values_by_query
from metrics.studies.resampling import flipped_sums
from metrics.support.arrays import BoolArray, FloatArray, IntArray

DRAWS = 1_999
"""Draws of signs; at a level of 0.95 the 99th largest decides."""
_BATCH = 256
"""Draws per block, which fit the processor cache."""
_FLOAT32_END = 1e30
"""Largest sum of differences for float32."""


def rank_intervals(
    evaluation: Evaluation, measure: str, ties: str = "expected", *, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Return a confidence interval for the rank of each reranker's true mean, and its tier.

    With probability `level`, the ranks by true means (over all possible queries) are all within their
    intervals: lowest = 1 + the number of rerankers that are better, highest = n - the number that are worse,
    as decided by `better`. The next tier begins at the first rank whose reranker is worse than one of the
    current tier, together with all of equal mean. Members of a tier are not equal. A reranker with a large
    variance over queries can be in a later tier than one that it does not differ from; its interval shows that.

    Args:
        evaluation: evaluation of `measure` under `ties`.
        measure: name of a measure.
        ties: name of a treatment.
        level: probability that all intervals hold together.
        seed: seed of the sign flips.

    Returns:
        one row per reranker with a mean, the highest first: reranker, place (rank by its mean, shared by equal
        means), lowest and highest (smallest and largest rank), tier (1, 2, ...).

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
    """Add tier, rank_low and rank_high to a leaderboard; NA without a mean."""
    columns = {"tier": "tier", "lowest": "rank_low", "highest": "rank_high"}
    rows = intervals.set_index("reranker")[list(columns)].rename(columns=columns)
    return leaderboard.join(rows.reindex(leaderboard.index).astype("Int64"))


def tiers_condition(measure: str) -> str:
    """Return the assumption of rank intervals for a measure without an upper bound; empty for others."""
    if np.isfinite(largest_difference(measure)):
        return ""
    return (
        "Rank intervals assume that no further query would have a difference larger than the largest observed "
        "one."
    )


def better(values: FloatArray, largest: float = np.inf, *, level: float = 0.95, seed: int = 0) -> BoolArray:
    """Return (k, k) whether the row is better than the column, with confidence `level` for all pairs together.

    Each of the k (k - 1) hypotheses that one reranker is no better than another is tested by

        sum of differences / sqrt(sum of squared differences)

    over queries, which increases with Student's t. A draw flips the sign of all differences of a query or of
    none. Pairs above the largest statistic of all pairs in a share of `level` of the draws are significant;
    the others are compared with the largest of the remaining pairs, until none is above (stepdown). If a is
    better than b and b than c, a is better than c; this costs no confidence.

    The test is exact for any number of queries if the differences of equal rerankers are symmetric. Otherwise
    unseen queries may have large differences of the opposite sign. So the statistic is limited to that of
    `_likelihood_ratios`, which keeps the confidence in simulations of skewed values. Five queries are never
    significant: their signs agree by chance in 1 of 16 cases.

    `values` are (n_queries, k), NaN without a value; `largest` is the largest possible difference of two values
    of a query, the largest observed one if infinite.

    Source: Romano & Wolf, Journal of the American Statistical Association 100, 2005 (stepdown of the largest);
    Fisher, The Design of Experiments, 1935, section 21 (signs).
    """
    is_present = np.isfinite(values)
    counts = np.maximum(1, is_present.sum(axis=0))
    centre = values[is_present].mean() if is_present.any() else 0.0  # a query that one lacks keeps its share
    parts = np.where(is_present, values - centre, 0.0) * (len(values) / counts)
    sizes, sums = _sizes(parts), parts.sum(axis=0)
    differences = round_differences((sums[:, None] - sums) / max(1, len(values))) * len(values)
    observed = np.divide(differences, sizes, out=np.zeros_like(sizes), where=sizes > 0)
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
    """Return (k, k) signed roots of the likelihood ratios of mean 0, for each pair whose row is ahead.

    The ratio is sum(log(1 + b d)) over the differences d, b = min(sum(d) / sum(d^2), 1 / reach): the empirical
    likelihood with one more point at the end of the range, for unseen queries. If no d is negative, the chance
    exp(-ratio) / (s sqrt(2 pi)) of that, s^2 = sum((b d / (1 + b d))^2), gives a normal quantile instead:
    30 differences of 0.1 do not exclude one of -0.9.

    `parts` are (n_queries, k) centred values, `observed` (k, k) statistics, `reach` (k,) largest differences.

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


def _stepdown(observed: FloatArray, flipped_means: FloatArray, sizes: FloatArray, level: float) -> BoolArray:
    is_rejected = np.zeros(observed.shape, dtype=bool)
    place = int(np.ceil(alpha(level) * (DRAWS + 1))) - 1
    while place > 0:
        largest = _largest(flipped_means, sizes, ~is_rejected)
        beyond = observed > EXCESS * np.partition(largest, -place)[-place]
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
