"""Compute the distributions of means and ranks of a leaderboard over random tie orders."""

from collections.abc import Hashable, Iterable, Mapping
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
"""Methods, the most accurate first."""
_BATCHES = 16
"""Parts of the draws, whose variation gives the error of the result."""
_WORK = 2**22, 2**18
"""Documents placed and values drawn for a reranker, which limit the draws of each list."""
_DRAWS = 2**10, 2**17
"""Fewest and most orders drawn of one list."""
_MIN_ORDERS = 2**14
"""Orders of one tie that are enumerated even for few draws."""
_MAX_SHARED = 0.005
"""Chance of two means to share a grid point above which sums are drawn instead."""
_SUM_WORK, _SUMS_DRAWN = 2**26, (2**15, 2**17)
"""List values added up, and fewest and most sums, if sums are drawn."""
_SAME_VALUE = 1e-9
"""Tolerance of values of one list computed twice."""
SPREADS = ("expected", "optimistic", "pessimistic", "std")
"""Treatments that studies of tie orders need."""


@dataclass(frozen=True, eq=False)
class MeanDistribution:
    """The mean of one reranker over its lists, with all orderings of each equally likely.

    Attributes:
        method: how the distribution was computed.
        mean: its expectation, exact.
        std: its standard deviation, exact.
        worst: smallest mean in any tie order, exact.
        best: largest mean in any tie order, exact.
        means: (n,) possible means, rising; points of a grid unless exact.
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
        """Return the (n,) chance that the mean is below each of some values, within rounding."""
        return self._up_to[np.searchsorted(self.means, values - equality_margin(values), side="left")]

    def not_above(self, values: FloatArray) -> FloatArray:
        """Return the (n,) chance that the mean is below or equal to each of some values."""
        return self._up_to[np.searchsorted(self.means, values + equality_margin(values), side="right")]

    @cached_property
    def _up_to(self) -> FloatArray:
        sums = np.concatenate([[0.0], np.cumsum(self.chances)])
        return np.asarray(sums / sums[-1])


def exact_columns(distributions: Iterable[MeanDistribution]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the (n,) expectations, worst and best means."""
    rows = [(one.mean, one.worst, one.best) for one in distributions]
    mean, worst, best = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return mean, worst, best


def equality_margin(means: FloatArray) -> FloatArray:
    """Return the distance within which a mean equals each of these."""
    return np.asarray(EQUAL_MEANS * np.maximum(1.0, np.abs(means)))


def mean_distributions(
    evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
) -> dict[str, MeanDistribution]:
    """Return the distribution of each reranker's mean over independent random tie orders.

    Expectation, worst and best are those of the evaluation. Methods:

    - exact: convolution of the lists' distributions, for few values (`sum_distribution`).
    - grid: the same convolution on 4,096 or more equally spaced values (`Grid`), which changes chances by at
      most .002.
    - sampled: for lists whose distribution is too large. Up to 131,072 orders of such a list are drawn and
      weighted to have the exact mean; the standard error comes from 16 parts of them. If means crowd at few
      points of the grid, up to 131,072 sums are drawn as well.

    Lists left out by the policies are left out; lists that count 0 always score 0. `rankings` use the settings
    of the evaluation; rerankers that ties cannot move may be absent. A seed draws the same orders of a reranker
    in every call.

    Returns:
        by reranker, in order, without rerankers that have no scored list.

    Raises:
        UsageError: the evaluation lacks the measure or a treatment, or a ranking is missing or different.
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
    """Return the values of the lists under `SPREADS`: index (reranker, query_id), a column a treatment."""
    if measure not in evaluation.measures or not set(SPREADS) <= set(evaluation.ties):
        raise UsageError(f"Evaluate {measure} under {', '.join(SPREADS)}. Stability needs these treatments.")
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
        raise UsageError(
            f"The ranking of {name} is missing. It is needed because ties can change the mean of {name}."
        )
    ranking, n = rankings[name], len(values)
    groups = RefinedGroups(ranking).of(measure)
    list_ids = _list_ids(name, ranking, values, measure.values(groups))[moving]
    draws = _n_draws(groups, list_ids)
    counted_lists, other_ids = list_distributions(
        groups, measure, list_ids, (high - low)[moving], max(_MIN_ORDERS, draws), known
    )
    drawn_lists, parts = [], [slice(None)]
    if len(other_ids):
        draws, own_seed = _n_draws(groups, other_ids), seed << 32 | crc32(name.encode())
        size = draws // _BATCHES
        parts += [slice(start, start + size) for start in range(0, draws, size)]
        for row in np.flatnonzero(np.isin(list_ids, other_ids)).tolist():
            query = ranking.query_ids[list_ids[row]].as_py()
            query_seed = own_seed << 32 | crc32(query.encode())
            sample = sample_values(ranking, query, str(measure), draws, query_seed)
            drawn_lists.append((sample - low[moving][row], float((expected - low)[moving][row])))
    kinds, *batches = (
        ListDistributions.joined(
            counted_lists, [_calibrated(sample[part], list_mean) for sample, list_mean in drawn_lists]
        )
        for part in parts
    )
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
    """Return the number of orders to draw of each list, a multiple of the batches."""
    documents = int(np.isin(groups.lists[groups.owner], list_ids).sum())
    draws = min(_WORK[0] // max(1, documents), _WORK[1] // max(1, len(list_ids)))
    return int(np.clip(draws, *_DRAWS)) // _BATCHES * _BATCHES


def _calibrated(values: FloatArray, mean: float) -> Distribution:
    """Return drawn values with chances that give the exact mean, and the worst value, 0, with chance 0."""
    return np.append(values, 0.0), np.append(calibrated_chances(values, mean), 0.0)


def calibrated_chances(values: FloatArray, mean: float) -> FloatArray:
    """Return the chances of (n,) drawn values that give them the exact mean.

    Values v have the weights w = (1 + (mean − v̄)(v − v̄) / s²) / n, at least 0. This removes sampling errors
    correlated with the mean and keeps all values.

    Source: Deville & Särndal, Calibration estimators in survey sampling, JASA 1992.
    """
    largest, centre = np.abs(values).max(initial=0) or 1.0, values.mean()
    apart = (values - centre) / largest
    slope = (mean - centre) / largest / (apart**2).mean() if np.ptp(values) > 0 else 0.0  # else it is rounding
    weights = np.maximum(1 + slope * apart, 0)
    return np.asarray(weights / weights.sum())


def _list_ids(name: str, ranking: Ranking, values: pd.DataFrame, tied: FloatArray) -> IntArray:
    """Return the (n,) list of each value in the ranking, after checking that their tied values agree."""
    list_ids = places_in(pa.array(values.index), ranking.query_ids)
    again = tied[list_ids]
    difference = np.abs(again - values["expected"].to_numpy())
    if (list_ids < 0).any() or (difference > _SAME_VALUE * np.maximum(1.0, np.abs(again))).any():
        raise UsageError(
            f"The ranking of {name} differs from the evaluation. Use the same precision and relevant_from."
        )
    return list_ids


def variance_split(evaluation: Evaluation, measure: str, baseline: str) -> pd.DataFrame:
    """Split the variance of each reranker's mean difference from a baseline into queries and ties.

    Draw n queries, then break the ties of both lists of each. With D the mean difference, d the expected
    difference of a query over its ties and t² the variance of its difference, the law of total variance gives

        Var(D) = Var(E[D | queries]) + E[Var(D | queries)] = Var(d) / n + E[t²] / n.

    Lists are broken independently, so t² is the sum of both lists' variances (`std` squared), and E[t²] / n is
    estimated by sum t² / n². The d are exact expectations, so their sample variance, over n − 1, estimates
    Var(d) without bias. Values of one strict order would estimate Var(d) + E[t²] instead and count ties as
    queries.

    Returns:
        index reranker without the baseline, in order; difference (of tied means, over the n common queries),
        queries and ties (variances, in squares of the measure's unit), share_ties (ties / (queries + ties), 0
        if both are 0). NaN for n = 0; queries and share_ties NaN for n = 1.

    Raises:
        UsageError: no such baseline, or the evaluation lacks the measure or a treatment.
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
"""Chances computed for the ranks of one reranker."""
_NODES = 2**6, 2**14
"""Fewest and most values at which an inexact mean is evaluated."""
_NOTHING = 1e-17
"""Chance of a mean below which it is skipped."""


class RankDistribution(NamedTuple):
    """Distribution of the rank of each reranker.

    Attributes:
        chances: index reranker, columns 1, 2, ... n: the chance of each rank; rows sum to 1.
        errors: the standard error of each chance; 0 unless sampled.
        methods: by reranker, the least accurate method of its mean and of those that it can change ranks with.
    """

    chances: pd.DataFrame
    errors: pd.DataFrame
    methods: "pd.Series[str]"


def rank_distribution(distributions: Mapping[str, MeanDistribution]) -> RankDistribution:
    """Return the chance of each rank for each reranker of `mean_distributions`.

    A rank is 1 + the number of rerankers with a strictly higher mean, so equal means share the better rank.
    Given one reranker's mean, others are above it independently: their number is Poisson-binomial. The sum runs
    over all possible means, or on a grid over as many equally likely ones as the size of the leaderboard
    allows.
    """
    ordered = list(distributions.values())
    index = pd.Index(list(distributions), name="reranker", dtype="str")
    _, worst, best = exact_columns(ordered)
    tables, methods = np.zeros((2, len(ordered), len(ordered))), []
    for row, distribution in enumerate(ordered):
        is_above = worst > best[row] + equality_margin(best[row])
        is_rival = (best > worst[row] + equality_margin(worst[row])) & ~is_above
        is_rival[row] = False
        above, rivals = int(is_above.sum()), [ordered[place] for place in np.flatnonzero(is_rival)]
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
    return np.asarray(number @ chances).clip(0, 1)


def _means_and_chances(distribution: MeanDistribution, n_rivals: int) -> tuple[FloatArray, FloatArray]:
    nodes = int(np.clip(_CELLS // n_rivals**2, *_NODES))
    if distribution.method != "exact" and len(distribution.means) > nodes:
        return equal_nodes(distribution.means, distribution.chances, nodes), np.full(nodes, 1 / nodes)
    possible = distribution.chances > _NOTHING
    return distribution.means[possible], distribution.chances[possible] / distribution.chances[possible].sum()


def equal_nodes(values: FloatArray, chances: FloatArray, n: int) -> FloatArray:
    """Return (n,) values, each as often as its chance.

    Source: systematic sampling; Madow & Madow, Annals of Mathematical Statistics 1944.
    """
    ends = np.cumsum(chances)
    upto = np.floor(ends * (n / ends[-1]) + 0.5).astype(np.int64)
    upto[-1] = n
    return np.repeat(values, np.diff(np.minimum(upto, n), prepend=0))
