"""Where the means of a leaderboard can land when every tie is broken at random."""

from collections.abc import Mapping
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, RefinedGroups, parse
from metrics.studies.one_list.ordering_samples import sample_values
from metrics.studies.tie_breaking.convolution import MAX_KINDS, merge_equal, sample_sums, sum_distribution
from metrics.studies.tie_breaking.list_distributions import list_distributions
from metrics.studies.tie_breaking.mean_distribution import MeanDistribution
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import Ranking

NORMAL_LISTS = 30
"""Lists of equal variance, or as good as so many, whose sum is taken as normal."""
MAX_SKEWNESS = 0.15
"""Skewness of a sum that is not: it moves a chance by a sixth of that times φ(0), 0.01, at most."""
MOST_DRAWS, FEWEST_DRAWS = 10_000, 1_000
"""Tie-breakings drawn of one reranker."""
_WORK = 2**22
"""Documents placed, or values drawn, to sample one reranker; they decide how often it is drawn."""
_MORE_KINDS = 128
"""Unlike lists up to which patterns are enumerated to draw from them."""
_SAME_VALUE = 1e-9
"""How far values of one list computed twice may be apart."""


def mean_distributions(
    evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
) -> dict[str, MeanDistribution]:
    """Distribution of each reranker's mean when ties are broken evenly, list by list and independently.

    Its expectation, worst and best are those of the evaluation. The method is chosen by size:

    - exact: the convolution of the lists' distributions, where its values are few (`total`).
    - normal: with the exact mean and the standard deviation sqrt(sum of the lists' variances v) / n, where
      (sum v)^2 / sum v^2, the number of lists that make it up, is `ENOUGH` or more, and the skewness, where
      it is known, `SKEWED` or less; nothing outside worst to best. The v are exact but for AP, DR and Div,
      whose `std` is drawn.
    - sampled: elsewhere, from 1,000 to 10,000 tie-breakings of all lists.

    Lists that the policies leave out are left out; those that count 0 are lists that always score 0.

    Args:
        evaluation: with the measure under expected, optimistic, pessimistic and std.
        measure: name of a measure.
        rankings: reranker → its lists, cut as for the evaluation; those without moving ties may be absent.
        seed: the same seed draws the same tie-breakings of a reranker, whatever else is asked for.

    Returns:
        by reranker, in order; without those no list of which counts.

    Raises:
        UsageError: the evaluation lacks the measure or a treatment, or a ranking is absent or another one.
    """
    lists = list_values(evaluation, measure)
    measure_at = parse(measure)
    distributions = {}
    for name in evaluation.policies.index:
        values = lists[lists.index.get_level_values("reranker") == name].droplevel("reranker")
        if len(values):
            distributions[str(name)] = _mean_distribution(str(name), values, measure_at, rankings, seed)
    return distributions


def list_values(evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """What the lists score by each treatment that a study of tie-breaking needs.

    Returns:
        index (reranker, query_id); expected, optimistic, pessimistic, std.

    Raises:
        UsageError: the evaluation was made without one of them.
    """
    ties = ["expected", "optimistic", "pessimistic", "std"]
    if measure not in evaluation.measures or not set(ties) <= set(evaluation.ties):
        raise UsageError(f"Evaluate {measure} under {', '.join(ties)} to see how stable it is.")
    return evaluation.scores[measure][ties]


def _mean_distribution(
    name: str, values: pd.DataFrame, measure: MeasureAt, rankings: Mapping[str, Ranking], seed: int
) -> MeanDistribution:
    low, high = (values[how].to_numpy() for how in ("pessimistic", "optimistic"))
    expected = values["expected"].to_numpy()
    moving = high - low > EQUAL * np.maximum(1.0, np.abs(high))
    mean, worst, best = (float(column.mean()) for column in (expected, low, high))
    if not moving.any():
        return MeanDistribution("exact", mean, 0.0, mean, mean, np.array([mean]), np.ones(1))
    if name not in rankings:
        raise UsageError(f"There is no ranking of {name}, whose ties can move its mean.")
    ranking = rankings[name]
    place, low, high = _list_ids(name, ranking, values, measure)[moving], low[moving], high[moving]
    fixed, n, variance = expected[~moving].sum(), len(values), values["std"].to_numpy()[moving] ** 2
    many = _is_many(variance)
    moving_lists = list_distributions(ranking, measure, place, low, high, MAX_KINDS if many else _MORE_KINDS)
    if moving_lists is not None and (exact := sum_distribution(moving_lists)) is not None:
        means, chances = (fixed + low.sum() + exact[0]) / n, exact[1] / exact[1].sum()
        std = float(np.sqrt(chances @ (means - mean) ** 2))
        return MeanDistribution("exact", mean, std, worst, best, means, chances)
    std = float(np.sqrt(variance.sum()) / n)
    if many and (moving_lists is None or abs(moving_lists.skewness) <= MAX_SKEWNESS):
        return MeanDistribution("normal", mean, std, worst, best, np.empty(0), np.empty(0))
    own = seed << 32 | crc32(name.encode())
    if moving_lists is None:
        sums = _sample_sums(ranking, measure, place, own)
    else:
        sums = low.sum() + sample_sums(moving_lists, _n_draws(len(place)), own)
    means, chances = merge_equal((fixed + sums) / n, np.full(len(sums), 1 / len(sums)))
    return MeanDistribution("sampled", mean, std, worst, best, means, chances, len(sums))


def _is_many(variance: FloatArray) -> bool:
    """Whether no few lists make up the variance of the sum."""
    share = variance / (variance.max() or 1.0)
    return bool(0 < NORMAL_LISTS * np.sum(share**2) <= share.sum() ** 2)


def _list_ids(name: str, ranking: Ranking, values: pd.DataFrame, measure: MeasureAt) -> IntArray:
    """(n,) list of each value in the ranking, once it is clear that both were made alike."""
    indices = pc.fill_null(pc.index_in(pa.array(values.index), value_set=ranking.query_ids), -1)
    list_ids = np.asarray(indices).astype(np.int64)
    again = measure.values(RefinedGroups(ranking).of(measure))[list_ids]
    difference = np.abs(again - values["expected"].to_numpy())
    if (list_ids < 0).any() or (difference > _SAME_VALUE * np.maximum(1.0, np.abs(again))).any():
        raise UsageError(f"The ranking of {name} was not cut as for the evaluation: precision, relevant_from?")
    return list_ids


def _sample_sums(ranking: Ranking, measure: MeasureAt, list_ids: IntArray, seed: int) -> FloatArray:
    """(draws,) sums of the lists that move, each time all of them in an order of their own."""
    groups = RefinedGroups(ranking).of(measure)
    draws = _n_draws(int(np.isin(groups.lists[groups.owner], list_ids).sum()))
    sums = np.zeros(draws)
    for list_id in list_ids.tolist():
        query = ranking.query_ids[list_id].as_py()
        sums += sample_values(ranking, query, str(measure), draws, seed << 32 | crc32(query.encode()))
    return sums


def _n_draws(work: int) -> int:
    """How often to draw what takes so much work."""
    return int(np.clip(_WORK // work, FEWEST_DRAWS, MOST_DRAWS))
