"""Compare rerankers query by query: wins, losses, and the paired t-test of every pair."""

from collections import Counter

import numpy as np
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.studies.prose import ONE_RERANKER, Prose, Strong
from metrics.studies.tie_rules import own_rule_note
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import part_of


def values_by_query(evaluation: Evaluation, measure: str, ties: str) -> pd.DataFrame:
    """Return the values of a measure, a row a query and a column a reranker.

    Returns:
        index query_id, sorted; NaN where a reranker has no finite value.

    Raises:
        UsageError: a measure or treatment that was not evaluated.
    """
    for name, evaluated in ((measure, evaluation.measures), (ties, evaluation.ties)):
        if name not in evaluated:
            raise UsageError(f"{name} was not evaluated. Choose among: {', '.join(evaluated)}.")
    table = evaluation.scores[(measure, ties)].unstack("reranker").sort_index()  # noqa: PD010
    table = table.reindex(columns=evaluation.policies.index)
    return table.where(np.isfinite(table))


def count_not_finite(evaluation: Evaluation, measure: str, ties: str) -> dict[str, int]:
    """Count the values of each reranker that are not finite, for rerankers with any."""
    scores = evaluation.scores[(measure, ties)]
    lists = scores.index[~np.isfinite(scores.to_numpy())]
    return Counter(map(str, lists.get_level_values("reranker")))


def round_differences(differences: FloatArray) -> FloatArray:
    """Round differences to 12 decimals, so that rounding errors compare as equal or 0."""
    return np.where(np.abs(differences) <= EQUAL, 0.0, np.round(differences, 12))


def alpha(level: float) -> float:
    """Return 1 − level without float error: p values below it are significant."""
    return round(1 - level, 12)


def agreeing_signs(n: int) -> float:
    """Return the smallest p of a sign flip test of n differences: that n signs agree."""
    return 2.0 ** (1 - n) if n else 1.0


_CELLS = 2**18
"""Differences computed at once: 2 MB."""
_CANCELLED = 1e-6
"""Share of both variances below which the variance of a difference is computed query by query."""


def paired_p(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test every pair of rerankers by Student's paired t-test on common queries.

    t = mean / (sd / sqrt(n)) of the n differences. For centred x and y, the squares of x − y sum to those of x
    and of y less twice the products, so one matrix product gives all pairs. Where this cancels, the differences
    are computed; if all are equal, p is the chance that their signs agree.

    `values` is (n_queries, n_rerankers), NaN where a reranker has no value.

    Returns:
        (n_rerankers, n_rerankers) mean of row minus column, 0 without common queries, and p, 1 if untestable.

    Source: Student, Biometrika 6(1), 1908.
    """
    is_present = np.isfinite(values)
    present, filled = is_present.astype(np.float64), np.where(is_present, values, 0.0)
    centres = filled.sum(axis=0) / np.maximum(1, is_present.sum(axis=0))
    centred = np.where(is_present, values - centres, 0.0)
    n, sums, squares = present.T @ present, centred.T @ present, (centred**2).T @ present
    scale = squares + squares.T
    centred_mean = (sums - sums.T) / np.maximum(1, n)
    deviations = scale - 2 * centred.T @ centred - n * centred_mean**2
    difference = np.where(n > 0, centred_mean + centres[:, None] - centres, 0.0)
    p = _student_p(difference, np.maximum(deviations, 0.0), n)
    i, j = np.triu_indices(len(centres), 1)
    uncertain = deviations[i, j] <= np.maximum(_CANCELLED * scale[i, j], n[i, j] * EQUAL)
    i, j = i[uncertain], j[uncertain]
    difference[i, j], p[i, j] = _formed_p(values, i, j)
    difference[j, i], p[j, i] = -difference[i, j], p[i, j]
    return difference, p


def _student_p(mean: FloatArray, deviations: FloatArray, n: FloatArray) -> FloatArray:
    """Return p of means of n differences from their squared deviations; 1 for n below 2."""
    freedom = np.maximum(1, n - 1)
    error = np.sqrt(deviations / freedom / np.maximum(1, n))
    t = np.divide(np.abs(mean), error, out=np.zeros_like(mean), where=error > 0)
    with needs("stats"):
        from scipy.special import stdtr  # noqa: PLC0415 only where something is tested
    return np.where(n > 1, 2 * stdtr(freedom, -t), 1.0)


def _formed_p(values: FloatArray, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean difference and p of some pairs from the rounded difference of each query."""
    means, p = np.zeros(len(i)), np.ones(len(i))
    by_reranker = np.ascontiguousarray(values.T)
    size = max(1, _CELLS // max(1, len(values)))
    for start in range(0, len(i), size):
        part = slice(start, start + size)
        differences = round_differences(by_reranker[i[part]] - by_reranker[j[part]])
        is_common = np.isfinite(differences)
        n = is_common.sum(axis=1).astype(np.float64)
        means[part] = mean = np.where(is_common, differences, 0.0).sum(axis=1) / np.maximum(1, n)
        centred = np.where(is_common, differences - mean[:, None], 0.0)
        alike = np.ptp(centred, axis=1) <= 2 * EQUAL
        by_signs = np.where(np.abs(mean) > EQUAL, [agreeing_signs(int(number)) for number in n], 1.0)
        p[part] = np.where(alike, by_signs, _student_p(mean, (centred**2).sum(axis=1), n))
    return means, p


def holm_pairs(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean differences and p of `paired_p`, and p adjusted for all pairs."""
    difference, p = paired_p(values)
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper])
    return difference, p, np.minimum(adjusted, adjusted.T)


def holm(p: FloatArray) -> FloatArray:
    """Return (n,) p values adjusted for n comparisons by Holm's method.

    statsmodels' version runs the garbage collector, which takes 0.1 s in a large process.

    Source: Holm, Scandinavian Journal of Statistics 6(2), 1979.
    """
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)


def win_loss(evaluation: Evaluation, measure: str, baseline: str, traditional: str) -> pd.DataFrame:
    """Count how often each reranker beats the baseline on a common query.

    Returns:
        index reranker without the baseline; won, equal, lost (queries, by tied values), won_before,
        equal_before, lost_before (by traditional values), changed (queries whose outcome differs between the
        two), n (common queries).
    """
    leads = {}
    for ties in ("expected", traditional):
        values = evaluation.scores[measure, ties].unstack("reranker", sort=False)  # noqa: PD010
        leads[ties] = values.drop(columns=baseline).sub(values[baseline], axis=0)
    in_both = leads["expected"].notna()
    tied, before = (
        np.sign(lead.where(lead.abs() > EQUAL, 0.0)).where(in_both)
        for lead in (leads["expected"], leads[traditional])
    )
    counts = {
        "won": tied > 0,
        "equal": tied == 0,
        "lost": tied < 0,
        "won_before": before > 0,
        "equal_before": before == 0,
        "lost_before": before < 0,
        "changed": in_both & (tied != before),
        "n": in_both,
    }
    return pd.DataFrame({name: queries.sum() for name, queries in counts.items()}).rename_axis("reranker")


def win_loss_finding(table: pd.DataFrame, baseline: str, measure: str = "RR") -> Prose:
    """Name the reranker whose comparison with the baseline ties change most."""
    if not len(table):
        return ONE_RERANKER
    if note := own_rule_note(measure):
        return note
    most_changed = str(table["changed"].idxmax())
    row = table.loc[most_changed]
    if not row["changed"]:
        return (
            Strong("Ties change no outcome: "),
            "traditional and tied scores have the same winner on every query.",
        )
    return (
        "Against ",
        Strong(baseline),
        ", ties decide the winner on ",
        Strong(part_of(row["changed"], row["n"], "query")),
        " for ",
        Strong(most_changed),
        f": {row['won_before']} won and {row['lost_before']} lost by traditional scores, "
        f"{row['won']} won and {row['lost']} lost by tied scores.",
    )


def largest_difference(measure: str) -> float:
    """Return the largest difference of two values; infinite if unbounded, as for DCG and seconds."""
    try:
        return parse(measure).measure.largest or np.inf
    except UsageError:
        return np.inf
