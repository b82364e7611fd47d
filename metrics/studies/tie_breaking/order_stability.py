"""How stable a leaderboard is when every tie is broken at random: all studies of it together."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.tie_breaking.mean_distributions import mean_distributions
from metrics.studies.tie_breaking.rank_distribution import RankDistribution, rank_distribution
from metrics.studies.tie_breaking.stability import expected_tau, mean_bounds, pairwise_order
from metrics.ties import Ranking


@dataclass(frozen=True, eq=False)
class OrderStability:
    """The means, pairs and ranks of a leaderboard whose ties are all broken at random.

    Attributes:
        bounds: of each mean, as `mean_bounds` returns them.
        pairs: as `pairwise_order` returns them.
        places: as `rank_distribution` returns them.
        tau: as `expected_tau` returns it.
    """

    bounds: pd.DataFrame
    pairs: pd.DataFrame
    places: RankDistribution
    tau: float

    @property
    def ranks(self) -> pd.DataFrame:
        """The chance of each place: index reranker, columns 1, 2, ... n."""
        return self.places.chances

    @classmethod
    def of(
        cls, evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
    ) -> "OrderStability":
        """Study every reranker of an evaluation.

        Args:
            evaluation: as for `mean_distributions`.
            measure: name of a measure.
            rankings: as for `mean_distributions`.
            seed: as for `mean_distributions`.

        Returns:
            The means, pairs and places of its leaderboard.

        Raises:
            UsageError: as `mean_distributions`.
        """
        distributions = mean_distributions(evaluation, measure, rankings, seed=seed)
        pairs = pairwise_order(distributions)
        return cls(mean_bounds(distributions), pairs, rank_distribution(distributions), expected_tau(pairs))
