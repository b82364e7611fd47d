"""The orders that the ties of a list allow: how many, which, and at which ranks documents end up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from math import comb, factorial, prod

import numpy as np
import pandas as pd

from metrics.support.arrays import FloatArray, IntArray
from metrics.ties.ranking import Ranking, log10_factorials

TRACTABLE = 10_000
"""Orderings up to which the notebook enumerates."""


WRITTEN = 15
"""Digits up to which a count is exact."""


@dataclass(frozen=True)
class OrderingCounts:
    """Number of orders of one list, and whether enumeration is feasible.

    Attributes:
        log10_orderings: log10 of the number of orders, the product of the factorials of the tie sizes.
        orderings: their exact number, None from 10^15 on.
        log10_patterns: log10 of the number of relevance patterns.
        patterns: their exact number, None from 10^15 on.
        tie_sizes: sizes of the ties, top first.
    """

    log10_orderings: float
    orderings: int | None
    log10_patterns: float
    patterns: int | None
    tie_sizes: tuple[int, ...]

    @classmethod
    def of(cls, groups: IntArray, grades: FloatArray) -> "OrderingCounts":
        """Count the orders of (n_docs,) documents by their tie groups, top first, and their grades.

        The factorial of a large tie is not computed.
        """
        sizes = np.diff(np.flatnonzero(np.diff(groups, prepend=-1, append=-1)))
        ties = sizes[sizes > 1]
        log10 = float(log10_factorials(int(ties.max(initial=0)))[ties].sum())
        orderings = prod(map(factorial, ties.tolist())) if log10 < WRITTEN else None
        return cls(log10, orderings, *_count_patterns(groups, grades), tuple(ties.tolist()))

    @property
    def tractable(self) -> bool:
        """Whether the notebook would enumerate the orders."""
        return self.orderings is not None and self.orderings <= TRACTABLE

    @property
    def draws(self) -> int:
        """Draws that the notebook recommends if it would not enumerate."""
        return max(1_000, TRACTABLE if self.orderings is None else min(TRACTABLE, self.orderings // 10))


def count_orderings(ranking: Ranking, query_id: str) -> OrderingCounts:
    """Count the orders and relevance patterns of one list."""
    documents = ranking.documents_of(query_id)
    return OrderingCounts.of(ranking.groups[documents], ranking.grades[documents])


def _count_patterns(groups: IntArray, grades: FloatArray) -> tuple[float, int | None]:
    """Return log10 of the number of orders of grades within groups, and the number if not too large."""
    alike = pd.DataFrame({"group": groups, "grade": grades}).groupby(["group", "grade"]).size()
    size = alike.groupby(level="group").transform("sum")
    mixed, size = alike[alike < size], size[alike < size]
    logs = log10_factorials(int(size.max()) if len(size) else 0)
    log10 = float(logs[size.groupby(level="group").first()].sum() - logs[mixed].sum())
    if log10 >= WRITTEN:
        return log10, None
    so_far = mixed.groupby(level="group").cumsum()
    return log10, prod(comb(*pair) for pair in zip(so_far.tolist(), mixed.tolist(), strict=True))


@dataclass(frozen=True)
class Orderings:
    """Every strict order of one list that its scores allow.

    Iterating yields tuples of documents (their number in the ranking, see `Ranking`), lazily. The first is the
    input order, and the last tie group changes fastest. `groups` are the documents of each tie group, top group
    first, in input order.
    """

    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, ranking: Ranking, query_id: str) -> "Orderings":
        """Return the orderings of one query's list."""
        documents = ranking.documents_of(query_id)
        cuts = np.flatnonzero(np.diff(ranking.groups[documents])) + 1
        return cls(tuple(tuple(map(int, part)) for part in np.split(documents, cuts) if len(part)))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        iterators = [permutations(group) for group in self.groups]
        now = [next(turn) for turn in iterators]
        while True:
            yield tuple(chain.from_iterable(now))
            for position in reversed(range(len(iterators))):
                if (following := next(iterators[position], None)) is not None:
                    now[position] = following
                    break
                iterators[position] = permutations(self.groups[position])
                now[position] = next(iterators[position])
            else:
                return


def place_chances(first: Sequence[int] | IntArray, last: Sequence[int] | IntArray, places: int) -> FloatArray:
    """Return (n_docs, places) the chance of each document at each rank: uniform within its tie group.

    Shapes: `first` and `last` (n_docs,) ranks of its tie group, from 1.
    """
    place = np.arange(1, places + 1)
    low, high = np.asarray(first)[:, None], np.asarray(last)[:, None]
    return np.where((place >= low) & (place <= high), 1 / (high - low + 1), 0.0)
