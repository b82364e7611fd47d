"""Documents compared two at a time: who wins how often, how comparisons contradict each other, and scores."""

from dataclasses import dataclass

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property

_LEVEL = 1e-6
"""Abilities closer than this are level: the optimiser ends far nearer to the maximum."""
_GRADIENT = 1e-10


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of documents within lists, those of one pair together.

    Attributes:
        list_of: (n_documents,) list of each document.
        first: (n_pairs,) a document.
        second: (n_pairs,) the other one, a later one than `first`.
        n: (n_pairs,) how often the two were compared.
        wins: (n_pairs,) how often `first` won, a tie being half a win.
        is_inconsistent: (n_pairs,) whether the comparisons of the two differ.
    """

    list_of: IntArray
    first: IntArray
    second: IntArray
    n: IntArray
    wins: FloatArray
    is_inconsistent: BoolArray

    @classmethod
    def of(
        cls, list_of: IntArray, document: IntArray, opponent: IntArray, results: FloatArray
    ) -> "Comparisons":
        """Put the comparisons of each pair together.

        Args:
            list_of: (n_documents,) list of each document.
            document: (n_rows,) a document.
            opponent: (n_rows,) another one of its list.
            results: (n_rows,) 1 where `document` won, 1/2 for a tie, 0.

        Returns:
            The pairs, each with its number of comparisons and its wins.
        """
        is_swapped = document > opponent
        results = np.where(is_swapped, 1 - results, results)
        keys = np.minimum(document, opponent) * len(list_of) + np.maximum(document, opponent)
        pairs, pair_of, n = np.unique(keys, return_inverse=True, return_counts=True)
        wins = _sums(pair_of, results, len(pairs))
        squares = _sums(pair_of, results**2, len(pairs))
        is_inconsistent = squares * n != wins**2  # no spread: results are halves, so exact
        return cls(list_of, pairs // len(list_of), pairs % len(list_of), n, wins, is_inconsistent)

    @cached_property
    def n_lists(self) -> int:
        """How many lists there are."""
        return int(self.list_of.max(initial=-1)) + 1

    @cached_property
    def n_missing(self) -> IntArray:
        """(n_lists,) pairs of documents that were never compared."""
        n_documents = np.bincount(self.list_of, minlength=self.n_lists)
        compared = np.bincount(self.list_of[self.first], minlength=self.n_lists)
        return n_documents * (n_documents - 1) // 2 - compared

    @cached_property
    def outcome(self) -> FloatArray:
        """(n_pairs,) 1 where `first` won more often, 0 where it lost, else 1/2."""
        return (np.sign(2 * self.wins - self.n) + 1) / 2

    @cached_property
    def copeland(self) -> FloatArray:
        """(n_documents,) pairs won, and half of those that are level; won is what was won more often.

        Source: Copeland, 1951; as PRP-Allpair: Qin et al., arXiv 2306.17563, equation 2.
        """
        n = len(self.list_of)
        return _sums(self.first, self.outcome, n) + _sums(self.second, 1 - self.outcome, n)

    @cached_property
    def components(self) -> IntArray:
        """(n_documents,) part of its list that comparisons connect each document with."""
        return self._connected("weak", np.ones(len(self.n), bool))

    @cached_property
    def is_in_cycle(self) -> BoolArray:
        """(n_documents,) whether each won, directly or over others, against one that won so against it."""
        parts = self._connected("strong", self.outcome != 1 / 2)
        return np.bincount(parts, minlength=1)[parts] > 1

    def _connected(self, connection: str, is_edge: BoolArray) -> IntArray:
        from scipy.sparse import coo_array  # noqa: PLC0415 other formats need not pay for it
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 as above

        n = len(self.list_of)
        is_lost = self.outcome == 0
        winner = np.where(is_lost, self.second, self.first)[is_edge]
        loser = np.where(is_lost, self.first, self.second)[is_edge]
        graph = coo_array((np.ones(len(winner), np.int8), (winner, loser)), shape=(n, n))
        parts: IntArray = connected_components(graph.tocsr(), connection=connection)[1].astype(np.int64)
        return parts

    def bradley_terry(self) -> FloatArray:
        """Return (n_documents,) the log ability of each: log P(i beats j) / P(j beats i) is their difference.

        The maximum of the likelihood, a tie being half a win of each, and each document having one tie with a
        document of ability 0: so the maximum exists and is one, whatever was compared, and documents that
        nothing connects can be compared. Abilities that differ by less than 1e-6 are level.

        Source: Bradley and Terry, Biometrika 1952; Hunter, Annals of Statistics 2004.
        """
        from scipy.optimize import minimize  # noqa: PLC0415 as above

        start = np.zeros(len(self.list_of))
        options = {"gtol": _GRADIENT * max(1, int(self.n.sum())) ** 0.5, "maxiter": 1000}
        fit = minimize(
            self._loss, start, method="trust-ncg", jac=self.gradient, hessp=self._curvature, options=options
        )
        return self._levelled(np.asarray(fit.x))

    def _loss(self, ability: FloatArray) -> float:
        """Return minus the logarithm of the likelihood."""
        lead = ability[self.first] - ability[self.second]
        losses = self.wins * np.logaddexp(0, -lead) + (self.n - self.wins) * np.logaddexp(0, lead)
        return float(losses.sum() + (np.logaddexp(0, ability) + np.logaddexp(0, -ability)).sum() / 2)

    def gradient(self, ability: FloatArray) -> FloatArray:
        """Return (n_documents,) the slope of minus the logarithm of the likelihood; 0 at its maximum."""
        surplus = self.n * _chance(ability[self.first] - ability[self.second]) - self.wins
        return self._spread(surplus) + _chance(ability) - 1 / 2

    def _curvature(self, ability: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the second derivative times a direction."""
        chance, own = _chance(ability[self.first] - ability[self.second]), _chance(ability)
        lead = direction[self.first] - direction[self.second]
        return self._spread(self.n * chance * (1 - chance) * lead) + own * (1 - own) * direction

    def _spread(self, of_pairs: FloatArray) -> FloatArray:
        """Return (n_documents,) the sums over pairs, added for the first and taken from the second."""
        n = len(self.list_of)
        return _sums(self.first, of_pairs, n) - _sums(self.second, of_pairs, n)

    def _levelled(self, ability: FloatArray) -> FloatArray:
        """Return abilities with those of a list that differ by next to nothing made equal."""
        order = np.lexsort((ability, self.list_of))
        ordered, lists = ability[order], self.list_of[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (lists[1:] != lists[:-1]) | (np.diff(ordered) > _LEVEL)
        levelled = np.empty_like(ability)
        levelled[order] = ordered[is_first][np.cumsum(is_first) - 1]
        return levelled


def _chance(lead: FloatArray) -> FloatArray:
    """Return the chance to win with a lead in ability."""
    from scipy.special import expit  # noqa: PLC0415 as above

    chances: FloatArray = expit(lead)
    return chances


def _sums(places: IntArray, values: FloatArray, n: int) -> FloatArray:
    """Return (n,) the sum of the values at each place."""
    return np.asarray(np.bincount(places, values, n), np.float64)
