"""Where the means of a leaderboard can land when every tie is broken at random."""

from collections.abc import Mapping
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, parse
from metrics.studies.one_list.ordering_samples import drawn_values
from metrics.studies.tie_breaking.convolution import MOST_KINDS, drawn, gathered, total
from metrics.studies.tie_breaking.list_distributions import list_distributions, tied_groups
from metrics.studies.tie_breaking.mean_distribution import MeanDistribution
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import Ranking

ENOUGH = 30
"""Lists of equal variance, or as good as so many, whose sum is taken as normal."""
SKEWED = 0.15
"""Skewness of a sum that is not: it moves a chance by a sixth of that times φ(0), 0.01, at most."""
MOST_DRAWS, FEWEST_DRAWS = 10_000, 1_000
"""Tie-breakings drawn of one reranker."""
_WORK = 2**22
"""Documents placed, or values drawn, to sample one reranker; they decide how often it is drawn."""
_MORE_KINDS = 128
"""Unlike lists up to which patterns are enumerated to draw from them."""
_AGREES = 1e-9
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
    asked = parse(measure)
    found = {}
    for name in evaluation.policies.index:
        values = lists[lists.index.get_level_values("reranker") == name].droplevel("reranker")
        if len(values):
            found[str(name)] = _luck(str(name), values, asked, rankings, seed)
    return found


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


def _luck(
    name: str, values: pd.DataFrame, asked: MeasureAt, rankings: Mapping[str, Ranking], seed: int
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
    place, low, high = _places(name, ranking, values, asked)[moving], low[moving], high[moving]
    fixed, n, variance = expected[~moving].sum(), len(values), values["std"].to_numpy()[moving] ** 2
    many = _many(variance)
    known = list_distributions(ranking, asked, place, low, high, MOST_KINDS if many else _MORE_KINDS)
    if known is not None and (exact := total(known)) is not None:
        means, chances = (fixed + low.sum() + exact[0]) / n, exact[1] / exact[1].sum()
        std = float(np.sqrt(chances @ (means - mean) ** 2))
        return MeanDistribution("exact", mean, std, worst, best, means, chances)
    std = float(np.sqrt(variance.sum()) / n)
    if many and (known is None or abs(known.skewness) <= SKEWED):
        return MeanDistribution("normal", mean, std, worst, best, np.empty(0), np.empty(0))
    own = seed << 32 | crc32(name.encode())
    if known is None:
        sums = _drawn(ranking, asked, place, own)
    else:
        sums = low.sum() + drawn(known, _draws(len(place)), own)
    means, chances = gathered((fixed + sums) / n, np.full(len(sums), 1 / len(sums)))
    return MeanDistribution("sampled", mean, std, worst, best, means, chances, len(sums))


def _many(variance: FloatArray) -> bool:
    """Whether no few lists make up the variance of the sum."""
    share = variance / (variance.max() or 1.0)
    return bool(0 < ENOUGH * np.sum(share**2) <= share.sum() ** 2)


def _places(name: str, ranking: Ranking, values: pd.DataFrame, asked: MeasureAt) -> IntArray:
    """(n,) list of each value in the ranking, once it is clear that both were made alike."""
    found = pc.fill_null(pc.index_in(pa.array(values.index), value_set=ranking.query_ids), -1)
    place = np.asarray(found).astype(np.int64)
    again = asked.values(tied_groups(ranking, asked))[place]
    apart = np.abs(again - values["expected"].to_numpy())
    if (place < 0).any() or (apart > _AGREES * np.maximum(1.0, np.abs(again))).any():
        raise UsageError(f"The ranking of {name} was not cut as for the evaluation: precision, relevant_from?")
    return place


def _drawn(ranking: Ranking, asked: MeasureAt, place: IntArray, seed: int) -> FloatArray:
    """(draws,) sums of the lists that move, each time all of them in an order of their own."""
    groups = tied_groups(ranking, asked)
    draws = _draws(int(np.isin(groups.lists[groups.owner], place).sum()))
    sums = np.zeros(draws)
    for one in place.tolist():
        query = ranking.query_ids[one].as_py()
        sums += drawn_values(ranking, query, str(asked), draws, seed << 32 | crc32(query.encode()))
    return sums


def _draws(work: int) -> int:
    """How often to draw what takes so much work."""
    return int(np.clip(_WORK // work, FEWEST_DRAWS, MOST_DRAWS))
