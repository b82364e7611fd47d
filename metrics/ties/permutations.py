"""The orderings that the ties of a list allow: how many, which, and where the first relevant document lands."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, permutations
from math import factorial, prod

import numpy as np

from metrics.ties.ranking import FloatArray, IntArray, Ranking


@dataclass(frozen=True)
class Orderings:
    """Every strict order of one list that its scores allow.

    Iterating yields tuples of documents (their number in the ranking, see `Ranking`), lazily; the
    first is the input order, and the last tie group changes fastest.

    Attributes:
        groups: documents of each tie group, top group first, in input order.
    """

    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, ranking: Ranking, query_id: str) -> "Orderings":
        """The orderings of one query's list."""
        span = ranking.list_of(query_id)
        documents = np.arange(span.start, span.stop)
        cuts = np.flatnonzero(np.diff(ranking.groups[span])) + 1
        return cls(tuple(tuple(map(int, part)) for part in np.split(documents, cuts) if len(part)))

    @property
    def count(self) -> int:
        """Exact number of orderings: the product of the factorials of the group sizes."""
        return prod(factorial(len(group)) for group in self.groups)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        turns = [permutations(group) for group in self.groups]
        now = [next(turn) for turn in turns]
        while True:
            yield tuple(chain.from_iterable(now))
            for at in reversed(range(len(turns))):
                if (following := next(turns[at], None)) is not None:
                    now[at] = following
                    break
                turns[at] = permutations(self.groups[at])
                now[at] = next(turns[at])
            else:
                return


def first_relevant_rank(size: IntArray, relevant: IntArray, depth: int) -> FloatArray:
    """Chance that the first relevant document of a tie group stands at each of its places.

    P(l) = C(n - l, r - 1) / C(n, r), as the running product of r/n and (n - r - l + 1) / (n - l):
    no binomial is ever formed, so a group of a million documents is exact to rounding.

    Args:
        size: (n_groups,) documents in the group: n.
        relevant: (n_groups,) relevant ones, at least 1: r.
        depth: how many places to give.

    Returns:
        (n_groups, depth) chance of place 1, 2, ...; 0 past place n - r + 1.
    """
    places = np.arange(1, depth)
    left = np.clip((size - relevant)[:, None] - places + 1, 0, None)
    ratios = left / np.clip(size[:, None] - places, 1, None)
    return np.cumprod(np.hstack([(relevant / size)[:, None], ratios]), axis=1)


def log10_factorials(largest: int) -> FloatArray:
    """(largest + 1,) log10 of 0!, 1!, 2!, ...: orderings of one tie group of each size."""
    return np.cumsum(np.log10(np.maximum(np.arange(largest + 1), 1)))
