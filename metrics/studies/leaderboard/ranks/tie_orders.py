"""Two rankings of items with ties, and the two ways to break them that bound how alike they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray, IntArray

Scores: TypeAlias = Mapping[Any, float] | pd.Series
"""Item → its score, the higher the better; items of one score are tied."""


@dataclass(frozen=True)
class RankingPair:
    """Two rankings over the items that are in either.

    Attributes:
        first: (n_items,) score of each item in the first ranking, -inf where it is not ranked.
        second: (n_items,) the same in the second.
    """

    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, first: Scores, second: Scores) -> "RankingPair":
        """Return the rankings of these scores; UsageError where one is empty, or a score is not finite."""
        rankings = [_checked(scores) for scores in (first, second)]
        items = rankings[0].index.union(rankings[1].index, sort=False)
        return cls(*(scores.reindex(items, fill_value=-np.inf).to_numpy() for scores in rankings))

    @property
    def has_same_items(self) -> bool:
        """Whether both rank the same items."""
        return bool(np.isfinite(self.first).all() and np.isfinite(self.second).all())

    @property
    def depth(self) -> int:
        """Items of the shorter ranking."""
        return int(min(np.isfinite(self.first).sum(), np.isfinite(self.second).sum()))

    def broken(self, *, agree: bool) -> "RankingPair":
        """Return the rankings without ties, each broken by the other: as alike as can be, or as different.

        Items that only one of them ties follow the other's order, or its reverse; those that both tie stand in
        one order in both, or in opposite ones. That bounds Kendall's τ, τ_AP and rank-biased overlap: two
        neighbours of a tie that do not follow the other ranking make none of them smaller when they are
        exchanged, and such exchanges lead to this order from every other.

        Args:
            agree: whether they are to be alike.
        """
        sign = 1 if agree else -1
        items = np.arange(len(self.first))
        first = _places(self.first, sign * self.second, items)
        second = _places(self.second, sign * self.first, sign * items)
        is_ranked = np.isfinite(self.first), np.isfinite(self.second)
        return RankingPair(
            np.where(is_ranked[0], -first.astype(float), -np.inf),
            np.where(is_ranked[1], -second.astype(float), -np.inf),
        )


def _checked(scores: Scores) -> "pd.Series[float]":
    series = pd.Series(scores, dtype=float)
    if series.empty:
        raise UsageError("A ranking is empty. Give each the scores of its items.")
    if not series.index.is_unique:
        raise UsageError(f"{series.index[series.index.duplicated()][0]!r} is ranked twice. Give it one score.")
    if not np.isfinite(series).all():
        raise UsageError(f"{series.index[~np.isfinite(series)][0]!r} has no finite score to be ranked by.")
    return series


def _places(scores: FloatArray, then: FloatArray, last: IntArray) -> IntArray:
    """Return the place of each item, from 0, by score, then by another, both highest first, then by number."""
    places = np.empty(len(scores), np.int64)
    places[np.lexsort((last, -then, -scores))] = np.arange(len(scores))
    return places
