"""How stable a leaderboard is when every tie is broken at random: all studies of it together."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.tie_breaking.mean_distributions import MeanDistribution, mean_distributions
from metrics.studies.tie_breaking.rank_distribution import RankDistribution, rank_distribution
from metrics.studies.tie_breaking.stability import expected_tau, mean_bounds, pairwise_order
from metrics.support.cached import cached_property
from metrics.ties import Ranking


@dataclass(frozen=True, eq=False)
class OrderStability:
    """The means, pairs and ranks of a leaderboard whose ties are all broken at random.

    Attributes:
        distributions: of each mean, as `mean_distributions` returns them.
    """

    distributions: Mapping[str, MeanDistribution]

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """How far ties move each mean, as `mean_bounds` returns it."""
        return mean_bounds(self.distributions)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The chances of each order of two, as `pairwise_order` returns them."""
        return pairwise_order(self.distributions)

    @cached_property
    def places(self) -> RankDistribution:
        """The chances of each place, as `rank_distribution` returns them."""
        return rank_distribution(self.distributions)

    @property
    def tau(self) -> float:
        """The expected Kendall tau of two leaderboards with ties broken at random, as `expected_tau`."""
        return expected_tau(self.pairs)

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
        return cls(mean_distributions(evaluation, measure, rankings, seed=seed))
