"""All that breaking every tie at random says of a leaderboard."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.tie_breaking.mean_distributions import mean_distributions
from metrics.studies.tie_breaking.rank_distribution import rank_distribution
from metrics.studies.tie_breaking.stability import expected_tau, mean_bounds, pairwise_order
from metrics.ties import Ranking


@dataclass(frozen=True, eq=False)
class OrderStability:
    """What breaking every tie at random makes of a leaderboard; see `metrics.studies.tie_breaking.stability`.

    Attributes:
        spread: how far each mean can move.
        pairs: how likely each reranker is to come out above each other.
        places: where each can finish.
        tau: expected agreement of two leaderboards.
    """

    bounds: pd.DataFrame
    pairs: pd.DataFrame
    ranks: pd.DataFrame
    tau: float

    @classmethod
    def of(cls, evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking]) -> "OrderStability":
        """Of every reranker of an evaluation; arguments and errors as for `mean_distributions`."""
        distributions = mean_distributions(evaluation, measure, rankings)
        pairs = pairwise_order(distributions)
        return cls(mean_bounds(distributions), pairs, rank_distribution(distributions), expected_tau(pairs))
