"""Where the means of a leaderboard can land when every tie is broken at random."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, RefinedGroups, parse
from metrics.studies.one_list.ordering_samples import sample_values
from metrics.studies.tie_breaking.convolution import ListDistributions, merge_equal, sum_distribution
from metrics.studies.tie_breaking.list_distributions import list_distributions
from metrics.studies.tie_breaking.mean_distribution import MeanDistribution
from metrics.studies.tie_breaking.sampling import (
    BATCHES,
    ListSample,
    calibrated_chances,
    has_few_values,
    normal_error,
    sample_sums,
    skewness_and_kurtosis,
    thinned,
)
from metrics.support.arrays import FloatArray, IntArray, places_in
from metrics.support.steps import begin_step
from metrics.ties import Ranking

MAX_NORMAL_ERROR = 0.002
"""How far a normal curve may be from any chance, by `normal_error`, where it is taken."""
_WORK = 2**22, 2**18
"""Documents placed, and values drawn, of all lists of a reranker; they decide how often each list is drawn."""
_DRAWS = 2**10, 2**17
"""Fewest and most orders drawn of one list."""
_MIN_ORDERS = 2**12
"""Orders of one list that are enumerated, however few would be drawn."""
_SAME_VALUE = 1e-9
"""How far values of one list computed twice may be apart."""
SPREADS = ("expected", "optimistic", "pessimistic", "std")
"""Treatments that studies of tie-breaking need."""


def mean_distributions(
    evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
) -> dict[str, MeanDistribution]:
    """Return the distribution of each reranker's mean when ties are broken evenly, each list by itself.

    Its expectation, worst and best are those of the evaluation. The method:

    - exact: the convolution of the lists' distributions, where its values are few (`sum_distribution`).
    - normal: where the terms that follow the normal curve are `MAX_NORMAL_ERROR` or less in all
      (`normal_error`) and equal sums are rare (`has_few_values`); with the exact mean and
      sqrt(sum of the lists' variances) / n, nothing outside worst to best.
    - sampled: elsewhere. Each list's value is drawn from its exact distribution, or, where that is too large
      to write down, from up to 131,072 of its orders, weighted so that their mean is the exact one. Sums of
      lists are drawn 131,072 times, in 16 batches that share no draw; less often where lists are many.

    Lists that the policies leave out are left out; those that count 0 are lists that always score 0.

    Args:
        evaluation: with the measure under `SPREADS`.
        measure: name of a measure.
        rankings: reranker → its lists, cut as for the evaluation; those without moving ties may be absent.
        seed: the same seed draws the same tie-breakings of a reranker, whatever else is asked for.

    Returns:
        by reranker, in order; without those no list of which counts.

    Raises:
        UsageError: the evaluation lacks the measure or a treatment, or a ranking is absent or another one.
    """
    measure_at, lists = parse(measure), list_values(evaluation, measure)
    distributions = {}
    places = lists.groupby(level="reranker", sort=False, observed=True).indices
    for position, name in enumerate(evaluation.policies.index):
        begin_step("Breaking ties", position, len(evaluation.policies.index), str(name))
        if name in places:
            values = lists.iloc[places[name]].droplevel("reranker")
            distributions[str(name)] = _mean_distribution(str(name), values, measure_at, rankings, seed)
    return distributions


def list_values(evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """Return what the lists score under `SPREADS`: index (reranker, query_id), a column for each treatment."""
    if measure not in evaluation.measures or not set(SPREADS) <= set(evaluation.ties):
        raise UsageError(f"Evaluate {measure} under {', '.join(SPREADS)} to see how stable it is.")
    return evaluation.scores[measure][list(SPREADS)]


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
    list_ids = _list_ids(name, rankings[name], values, measure)[moving]
    lists = _MovingLists(rankings[name], measure, list_ids, expected[moving], low[moving], high[moving])
    fixed, n = expected[~moving].sum() + low[moving].sum(), len(values)
    std = float(np.sqrt((values["std"] ** 2).sum())) / n
    normal = MeanDistribution("normal", mean, std, worst, best, np.empty(0), np.empty(0))
    own_seed = seed << 32 | crc32(name.encode())
    distributions, other_ids = lists.distributions()
    if (
        distributions is not None
        and not len(other_ids)
        and (exact := sum_distribution(distributions)) is not None
    ):
        means, chances = (fixed + exact[0]) / n, exact[1] / exact[1].sum()
        return replace(normal, method="exact", means=means, chances=chances)
    samples = [*_samples(distributions), *lists.draw(other_ids, own_seed)]
    if normal_error(*skewness_and_kurtosis(samples)) <= MAX_NORMAL_ERROR and not has_few_values(samples):
        return normal
    generator = np.random.default_rng(own_seed)
    means = (fixed + sample_sums(samples, generator)) / n
    return _sampled(normal, means, generator)


def _sampled(normal: MeanDistribution, means: FloatArray, generator: np.random.Generator) -> MeanDistribution:
    """Return the distribution that drawn means, a row a batch, stand for."""
    nodes = np.stack(
        [
            thinned(row, chances, generator)
            for row, chances in zip(means, calibrated_chances(means, normal.mean), strict=True)
        ]
    )
    parts = [merge_equal(row, np.full(len(row), 1 / len(row))) for row in (*nodes, nodes.ravel())]
    *batches, pooled = (
        replace(normal, method="sampled", means=means, chances=chances) for means, chances in parts
    )
    return replace(pooled, draws=means.size, batches=tuple(batches))


def _samples(distributions: ListDistributions | None) -> list[ListSample]:
    """Return what lists of known distribution can score."""
    if distributions is None:
        return []
    pairs = zip(distributions.times.tolist(), distributions.distributions(), strict=True)
    return [ListSample(times, values[None], chances[None]) for times, (values, chances) in pairs]


@dataclass(frozen=True, eq=False)
class _MovingLists:
    """The lists of one reranker that ties can move.

    Attributes:
        ranking: all its lists.
        measure: the measure.
        list_ids: (n,) these.
        expected: (n,) the expectation of each.
        worst: (n,) the smallest value of each.
        best: (n,) the largest.
    """

    ranking: Ranking
    measure: MeasureAt
    list_ids: IntArray
    expected: FloatArray
    worst: FloatArray
    best: FloatArray

    def n_draws(self, list_ids: IntArray) -> int:
        """Return how many orders are drawn of each of some lists; a multiple of the batches."""
        groups = RefinedGroups(self.ranking).of(self.measure)
        documents = int(np.isin(groups.lists[groups.owner], list_ids).sum())
        draws = min(_WORK[0] // max(1, documents), _WORK[1] // max(1, len(list_ids)))
        return int(np.clip(draws, *_DRAWS)) // BATCHES * BATCHES

    def distributions(self) -> tuple[ListDistributions | None, IntArray]:
        """Return the distributions that can be counted, and the other lists."""
        max_orders = max(_MIN_ORDERS, self.n_draws(self.list_ids))
        return list_distributions(
            self.ranking, self.measure, self.list_ids, (self.worst, self.best), max_orders
        )

    def draw(self, list_ids: IntArray, seed: int) -> Iterator[ListSample]:
        """Yield values of some lists, drawn, less the worst of each."""
        draws = self.n_draws(list_ids)
        for row in np.flatnonzero(np.isin(self.list_ids, list_ids)).tolist():
            query = self.ranking.query_ids[self.list_ids[row]].as_py()
            own_seed = seed << 32 | crc32(query.encode())
            values = sample_values(self.ranking, query, str(self.measure), draws, own_seed)
            values = values.reshape(BATCHES, -1) - self.worst[row]
            if (np.ptp(values, axis=1) == 0).any():  # what is rare is missing from a batch: all share the draws
                values = values.reshape(1, -1)
            yield ListSample(1, values, calibrated_chances(values, self.expected[row] - self.worst[row]))


def _list_ids(name: str, ranking: Ranking, values: pd.DataFrame, measure: MeasureAt) -> IntArray:
    """Return the (n,) list of each value in the ranking, once it is clear that both were made alike."""
    list_ids = places_in(pa.array(values.index), ranking.query_ids)
    again = measure.values(RefinedGroups(ranking).of(measure))[list_ids]
    difference = np.abs(again - values["expected"].to_numpy())
    if (list_ids < 0).any() or (difference > _SAME_VALUE * np.maximum(1.0, np.abs(again))).any():
        raise UsageError(f"The ranking of {name} was not cut as for the evaluation: precision, relevant_from?")
    return list_ids
