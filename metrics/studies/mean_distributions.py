"""Where the means and ranks of a leaderboard can land when every tie is broken at random."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, RefinedGroups, parse
from metrics.studies.convolution import (
    EQUAL_MEANS,
    Distribution,
    Grid,
    ListDistributions,
    draw_sums,
    sum_distribution,
)
from metrics.studies.list_distributions import list_distributions
from metrics.studies.orderings import sample_values
from metrics.support.arrays import FloatArray, IntArray, places_in
from metrics.support.cached import cached_property
from metrics.support.progress import begin_step
from metrics.ties import Ranking, TieGroups

Method = Literal["exact", "grid", "sampled"]
METHODS: tuple[Method, ...] = ("exact", "grid", "sampled")
"""Finest first."""
_BATCHES = 16
"""Parts of the draws; how far their results differ says how far the result of all may be off."""
_WORK = 2**22, 2**18
"""Documents placed, and values drawn, of all lists of a reranker; they decide how often each list is drawn."""
_DRAWS = 2**10, 2**17
"""Fewest and most orders drawn of one list."""
_MIN_ORDERS = 2**14
"""Orders of one tie that are enumerated, however few would be drawn."""
_MAX_SHARED = 0.005
"""Chance of two means to share a grid point, above which the grid is too coarse and sums are drawn."""
_SUM_WORK, _SUMS_DRAWN = 2**26, (2**15, 2**17)
"""List values added up, and fewest and most sums, where they are drawn."""
_SAME_VALUE = 1e-9
"""How far values of one list computed twice may be apart."""
SPREADS = ("expected", "optimistic", "pessimistic", "std")
"""Treatments that studies of tie-breaking need."""


@dataclass(frozen=True, eq=False)
class MeanDistribution:
    """The mean of one reranker over its lists, in the measure's unit, each of their orderings equally likely.

    Attributes:
        method: how its distribution is known.
        mean: its expectation, exact.
        std: its standard deviation, exact.
        worst: the smallest mean any tie-breaking gives, exact.
        best: the largest.
        means: (n,) it can take, rising; points of a grid unless exact.
        chances: (n,) the chance of each.
        error: largest standard error of the chance to be below any value; 0 unless sampled.
    """

    method: Method
    mean: float
    std: float
    worst: float
    best: float
    means: FloatArray
    chances: FloatArray
    error: float = 0.0

    def below(self, values: FloatArray) -> FloatArray:
        """Return the (n,) chance that the mean is below each of some values; rounding is no difference."""
        return self._up_to[np.searchsorted(self.means, values - equality_margin(values), side="left")]

    def not_above(self, values: FloatArray) -> FloatArray:
        """Return the (n,) chance that the mean is below or equal to each of some values."""
        return self._up_to[np.searchsorted(self.means, values + equality_margin(values), side="right")]

    @cached_property
    def _up_to(self) -> FloatArray:
        """(n + 1,) chance of all values before each, and of all."""
        sums = np.concatenate([[0.0], np.cumsum(self.chances)])
        return np.asarray(sums / sums[-1])


def equality_margin(means: FloatArray) -> FloatArray:
    """Return how far a mean may be from each of these to be called equal to it."""
    return np.asarray(EQUAL_MEANS * np.maximum(1.0, np.abs(means)))


def mean_distributions(
    evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
) -> dict[str, MeanDistribution]:
    """Return the distribution of each reranker's mean when ties are broken evenly, each list by itself.

    Its expectation, worst and best are those of the evaluation. The method:

    - exact: the convolution of the lists' distributions, where its values are few (`sum_distribution`).
    - grid: elsewhere the same convolution on 4,096 or more equally spaced values (`Grid`), which moves chances
      by .002 or less.
    - sampled: where the distribution of some list is too large to write down. Up to 131,072 orders of it are
      drawn, weighted so that their mean is the exact one; the standard error is that of 16 parts of them. Also
      where means crowd at few points of the grid: up to 131,072 sums are drawn.

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
    distributions, known = {}, dict[Hashable, Distribution]()
    places = lists.groupby(level="reranker", sort=False, observed=True).indices
    for position, name in enumerate(evaluation.policies.index):
        begin_step("Breaking ties", position, len(evaluation.policies.index), str(name))
        if name in places:
            values = lists.iloc[places[name]].droplevel("reranker")
            distributions[str(name)] = _mean_distribution(str(name), values, measure_at, rankings, seed, known)
    return distributions


def list_values(evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """Return what the lists score under `SPREADS`: index (reranker, query_id), a column for each treatment."""
    if measure not in evaluation.measures or not set(SPREADS) <= set(evaluation.ties):
        raise UsageError(f"Evaluate {measure} under {', '.join(SPREADS)} to see how stable it is.")
    return evaluation.scores[measure][list(SPREADS)]


def _mean_distribution(
    name: str,
    values: pd.DataFrame,
    measure: MeasureAt,
    rankings: Mapping[str, Ranking],
    seed: int,
    known: dict[Hashable, Distribution],
) -> MeanDistribution:
    low, high = (values[treatment].to_numpy() for treatment in ("pessimistic", "optimistic"))
    expected = values["expected"].to_numpy()
    moving = high - low > EQUAL * np.maximum(1.0, np.abs(high))
    mean, worst, best = (float(column.mean()) for column in (expected, low, high))
    if not moving.any():
        return MeanDistribution("exact", mean, 0.0, mean, mean, np.array([mean]), np.ones(1))
    if name not in rankings:
        raise UsageError(f"There is no ranking of {name}, whose ties can move its mean.")
    ranking, n = rankings[name], len(values)
    groups = RefinedGroups(ranking).of(measure)
    list_ids = _list_ids(name, ranking, values, measure.values(groups))[moving]
    draws = _n_draws(groups, list_ids)
    counted_lists, other_ids = list_distributions(
        groups, measure, list_ids, (high - low)[moving], max(_MIN_ORDERS, draws), known
    )
    drawn_lists = []
    if len(other_ids):
        draws, own_seed = _n_draws(groups, other_ids), seed << 32 | crc32(name.encode())
        for row in np.flatnonzero(np.isin(list_ids, other_ids)).tolist():
            query = ranking.query_ids[list_ids[row]].as_py()
            query_seed = own_seed << 32 | crc32(query.encode())
            sample = sample_values(ranking, query, str(measure), draws, query_seed)
            drawn_lists.append((sample - low[moving][row], float((expected - low)[moving][row])))
    kinds, *batches = _kinds(counted_lists, drawn_lists)
    exact = sum_distribution(kinds)
    method: Method = "sampled" if drawn_lists else "exact" if exact else "grid"
    grid = Grid.of(kinds)
    rises, chances = exact or (grid.sums, grid.chances(kinds))
    error = 0.0
    if batches:
        each = np.cumsum([grid.chances(batch) for batch in batches], axis=1)
        error = max(float(each.std(axis=0, ddof=1).max()) / _BATCHES**0.5, 1 / draws)
    if not exact and chances @ chances > _MAX_SHARED:
        n_sums = int(np.clip(_SUM_WORK // int(kinds.times.sum()), *_SUMS_DRAWN))
        generator = np.random.default_rng(seed << 32 | crc32(name.encode()))
        method, error = "sampled", float(np.hypot(error, 0.5 / n_sums**0.5))
        rises, chances = draw_sums(kinds, n_sums, generator)
    std = float(np.sqrt((values["std"] ** 2).sum())) / n
    fixed, possible = expected[~moving].sum() + low[moving].sum(), chances > 0
    means = np.clip((fixed + rises[possible]) / n, worst, best)
    return MeanDistribution(method, mean, std, worst, best, means, chances[possible] / chances.sum(), error)


def _n_draws(groups: TieGroups, list_ids: IntArray) -> int:
    """Return how many orders are drawn of each of some lists; a multiple of the batches."""
    documents = int(np.isin(groups.lists[groups.owner], list_ids).sum())
    draws = min(_WORK[0] // max(1, documents), _WORK[1] // max(1, len(list_ids)))
    return int(np.clip(draws, *_DRAWS)) // _BATCHES * _BATCHES


def _kinds(
    counted_lists: ListDistributions | None, drawn_lists: list[tuple[FloatArray, float]]
) -> list[ListDistributions]:
    """Return the distributions of all lists; where some are drawn, also those of each batch of draws."""
    parts: list[list[Distribution]] = [[] for _ in range(1 + bool(drawn_lists) * _BATCHES)]
    for values, mean in drawn_lists:
        samples = [values, *values.reshape(_BATCHES, -1)]
        for part, sample in zip(parts, samples, strict=True):
            chances = calibrated_chances(sample[None], mean)[0]
            part.append((np.append(sample, 0.0), np.append(chances, 0.0)))  # the worst value may not be drawn
    return [ListDistributions.joined(counted_lists, part) for part in parts]


def calibrated_chances(values: FloatArray, mean: float) -> FloatArray:
    """Return the chances of drawn values by which each row has the mean that is known exactly.

    A row of n values v is weighted by w = (1 + (mean - v̄)(v - v̄) / s²) / n, never below 0: errors of the
    draws that go along with the mean are taken out, and no value is moved.

    Args:
        values: (n_batches, n) drawn values.
        mean: their expectation.

    Source: Deville & Särndal, Calibration estimators in survey sampling, JASA 1992.
    """
    largest = np.abs(values).max(initial=0) or 1.0
    centre = values.mean(axis=1, keepdims=True)
    apart, missing = (values - centre) / largest, (mean - centre) / largest
    variance = (apart**2).mean(axis=1, keepdims=True)
    varies = np.ptp(values, axis=1, keepdims=True) > 0  # where it does not, the variance is rounding
    slope = np.divide(missing, variance, out=np.zeros_like(variance), where=varies)
    weights = np.maximum(1 + slope * apart, 0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _list_ids(name: str, ranking: Ranking, values: pd.DataFrame, tied: FloatArray) -> IntArray:
    """Return the (n,) list of each value in the ranking, once it is clear that both were made alike."""
    list_ids = places_in(pa.array(values.index), ranking.query_ids)
    again = tied[list_ids]
    difference = np.abs(again - values["expected"].to_numpy())
    if (list_ids < 0).any() or (difference > _SAME_VALUE * np.maximum(1.0, np.abs(again))).any():
        raise UsageError(f"The ranking of {name} was not cut as for the evaluation: precision, relevant_from?")
    return list_ids


def variance_split(evaluation: Evaluation, measure: str, baseline: str) -> pd.DataFrame:
    """Return the variance of each reranker's mean difference from a baseline, by where it comes from.

    Draw n queries, then break the ties of both lists of each. With D the mean difference that comes out, d
    the expected difference of a query over its ties and t² the variance of its difference, by the law of
    total variance

        Var(D) = Var(E[D | queries]) + E[Var(D | queries)] = Var(d) / n + E[t²] / n.

    Lists are broken independently, so t² is the sum of both lists' variances (`std` squared), and E[t²] / n
    is estimated by sum t² / n². The d are exact expectations without noise from ties, so their sample
    variance, over n − 1, estimates Var(d) without bias and needs no correction. Of values of one strict
    order it would not: it estimates Var(d) + E[t²], and ties would be counted as queries.

    Returns:
        index reranker, the baseline left out, in order; difference (of tied means, over the n queries both
        have), queries and ties (variances, in squares of the measure's unit), share_ties
        (ties / (queries + ties), 0 where both are 0). NaN where n = 0; queries and share_ties NaN where
        n = 1: one query says nothing of their variance.

    Raises:
        UsageError: the baseline is not there, or the evaluation lacks the measure or a treatment.
    """
    if baseline not in evaluation.policies.index:
        raise UsageError(f"There is no reranker {baseline!r} to compare with.")
    wide, names = list_values(evaluation, measure).unstack("reranker"), evaluation.policies.index  # noqa: PD010
    expected, std = (wide[treatment].reindex(columns=names) for treatment in ("expected", "std"))
    difference = expected.drop(columns=baseline).sub(expected[baseline], axis=0)
    variance = std.drop(columns=baseline).pow(2).add(std[baseline].pow(2), axis=0).where(difference.notna())
    n = difference.count()
    queries, ties = difference.var(ddof=1) / n, variance.sum(min_count=1) / n**2
    share = (ties / (queries + ties)).mask(queries + ties == 0, 0.0)
    parts = {"difference": difference.mean(), "queries": queries, "ties": ties, "share_ties": share}
    return pd.DataFrame(parts).rename_axis("reranker")


_CELLS = 2**22
"""Chances computed for the places of one reranker, in all."""
_NODES = 2**6, 2**14
"""Fewest and most values at which a mean is looked at that is not exact."""
_NOTHING = 1e-17
"""Chance of a mean below which it is passed over."""


class RankDistribution(NamedTuple):
    """Where each reranker finishes.

    Attributes:
        chances: index reranker, columns 1, 2, ... n: the chance of each place; each row sums to 1.
        errors: the standard error of each; 0 unless sampled.
        methods: by reranker, the coarsest method of its mean and of those that it can change places with.
    """

    chances: pd.DataFrame
    errors: pd.DataFrame
    methods: "pd.Series[str]"


def rank_distribution(distributions: Mapping[str, MeanDistribution]) -> RankDistribution:
    """Return the chance of each reranker of `mean_distributions` to finish at each place.

    A place is 1 + the number of rerankers whose mean is strictly above, so equal means share the better
    one. Given its own mean, others are above or not independently of each other: their number is
    Poisson-binomial. Summed over the means it can take: all of them, or, on a grid, as many equally
    likely ones as a large leaderboard leaves time for.
    """
    ordered = list(distributions.values())
    index = pd.Index(list(distributions), name="reranker", dtype="str")
    tables, methods = np.zeros((2, len(ordered), len(ordered))), []
    for row, distribution in enumerate(ordered):
        above, rivals = 0, []
        for other in ordered[:row] + ordered[row + 1 :]:
            if other.worst > distribution.best + equality_margin(np.array(distribution.best)):
                above += 1
            elif other.best > distribution.worst + equality_margin(np.array(distribution.worst)):
                rivals.append(other)
        numbers = _number_above(distribution, rivals)
        tables[0, row, above : above + len(numbers)] = numbers
        if rivals:
            tables[1, row] = np.sqrt(distribution.error**2 + sum(other.error**2 for other in rivals))
        coarsest = max((each.method for each in (distribution, *rivals)), key=METHODS.index)
        methods.append(coarsest if rivals else "exact")
    places = pd.RangeIndex(1, len(ordered) + 1)
    chances, errors = (pd.DataFrame(table, index=index, columns=places) for table in tables)
    return RankDistribution(chances, errors, pd.Series(methods, index=index, dtype="str"))


def _number_above(distribution: MeanDistribution, rivals: list[MeanDistribution]) -> FloatArray:
    """Return (n_others + 1,) the chance of 0, 1, 2, ... rivals strictly above."""
    if not rivals:
        return np.ones(1)
    means, chances = _means_and_chances(distribution, len(rivals))
    number = np.zeros((len(rivals) + 1, len(means)))
    number[0] = 1
    for n_before, other in enumerate(rivals):
        higher = 1 - other.not_above(means)
        number[1 : n_before + 2] += higher * (number[: n_before + 1] - number[1 : n_before + 2])
        number[0] *= 1 - higher
    return np.asarray(number @ chances)


def _means_and_chances(distribution: MeanDistribution, n_rivals: int) -> tuple[FloatArray, FloatArray]:
    """Return the means of one reranker and their chances, which sum to 1."""
    nodes = int(np.clip(_CELLS // n_rivals**2, *_NODES))
    if distribution.method != "exact" and len(distribution.means) > nodes:
        return equal_nodes(distribution.means, distribution.chances, nodes), np.full(nodes, 1 / nodes)
    possible = distribution.chances > _NOTHING
    return distribution.means[possible], distribution.chances[possible] / distribution.chances[possible].sum()


def equal_nodes(values: FloatArray, chances: FloatArray, n: int) -> FloatArray:
    """Return (n,) values, each as often as its chance says.

    Args:
        values: what can come.
        chances: of each.
        n: how many to return.

    Source: systematic sampling; Madow & Madow, Annals of Mathematical Statistics 1944.
    """
    ends = np.cumsum(chances)
    upto = np.floor(ends * (n / ends[-1]) + 0.5).astype(np.int64)
    upto[-1] = n
    return np.repeat(values, np.diff(np.minimum(upto, n), prepend=0))
