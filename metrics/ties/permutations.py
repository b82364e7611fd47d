"""The orders that the ties of a list allow: how many, which, and at which ranks documents end up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, permutations
from math import comb, factorial, prod

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.support.arrays import FloatArray, IntArray, batch_by_depth
from metrics.ties.ranking import Ranking

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


def first_relevant_rank(size: IntArray, relevant: IntArray, depth: int) -> FloatArray:
    """Return the chance that the first relevant document of a tie group is at each of its ranks.

    P(l) = C(n - l, r - 1) / C(n, r), computed as the running product of r/n and (n - r - l + 1) / (n - l), so
    that a group of a million documents is exact to rounding.

    Shapes: `size` (n_groups,) documents n, `relevant` (n_groups,) of them relevant, r >= 1.

    Returns (n_groups, depth) chances of rank 1, 2, ...; 0 past rank n - r + 1.
    """
    places = np.arange(1, depth)
    chance = np.empty((len(size), depth))
    chance[:, 0] = relevant / size
    unmarked = np.maximum((size - relevant)[:, None] - places + 1, 0)
    np.divide(unmarked, np.maximum(size[:, None] - places, 1), out=chance[:, 1:])
    return np.cumprod(chance, axis=1, out=chance)


def chance_of_none(size: IntArray, marked: IntArray, within: IntArray) -> FloatArray:
    """Return the chance that none of some marked documents of a tie group is among its first ranks.

    C(n - t, m) / C(n, m), as the product of (n - max(t, m) - j) / (n - j), j from 0 to min(t, m) - 1.

    Shapes: `size` (n,), `marked` (n,), `within` (n,).
    """
    chances = np.ones(len(size))
    smaller, larger = np.minimum(marked, within), np.maximum(marked, within)
    for part, deepest in batch_by_depth(smaller):
        steps = np.arange(deepest)
        factors = np.clip((size - larger)[part, None] - steps, 0, None) / np.clip(
            size[part, None] - steps, 1, None
        )
        factors[steps >= smaller[part, None]] = 1
        chances[part] = factors.prod(axis=1)
    return chances


def chance_of_some(size: IntArray, marked: IntArray, within: IntArray) -> FloatArray:
    """Return 1 - `chance_of_none`, also accurate where it is small: the sum of `first_relevant_rank`.

    Shapes: `size` (n,), `marked` (n,), `within` (n,).
    """
    chances = np.zeros(len(size))
    smaller, larger = np.minimum(marked, within), np.maximum(marked, within)
    for part, deepest in batch_by_depth(smaller):
        chance = first_relevant_rank(size[part], larger[part], deepest)
        chances[part] = np.where(np.arange(deepest) < smaller[part, None], chance, 0).sum(axis=1)
    return chances


def place_chances(first: Sequence[int] | IntArray, last: Sequence[int] | IntArray, places: int) -> FloatArray:
    """Return (n_docs, places) the chance of each document at each rank: uniform within its tie group.

    Shapes: `first` and `last` (n_docs,) ranks of its tie group, from 1.
    """
    place = np.arange(1, places + 1)
    low, high = np.asarray(first)[:, None], np.asarray(last)[:, None]
    return np.where((place >= low) & (place <= high), 1 / (high - low + 1), 0.0)


@lru_cache(maxsize=1)
def _log10_factorials(depth: int) -> FloatArray:
    return np.cumsum(np.log10(np.maximum(np.arange(depth + 1), 1)))


def log10_factorials(largest: int) -> FloatArray:
    """Return (largest + 1,) log10 of 0!, 1!, 2!, ...: orders of one tie group of each size."""
    return _log10_factorials(1 << max(largest - 1, 0).bit_length())[: largest + 1]


def describe(ranking: Ranking, cutoffs: Sequence[int]) -> dict[str, npt.NDArray[np.generic]]:
    """Describe the ties of each list; arrays of (n_lists,)."""
    n, docs = ranking.n_lists, ranking.n_docs
    tied = np.flatnonzero(ranking.sizes > 1)
    owner, size, above = ranking.group_lists[tied], ranking.sizes[tied], ranking.above[tied]
    tied_docs = np.bincount(owner, size, minlength=n).astype(np.int64)
    largest = np.minimum(docs, 1)
    np.maximum.at(largest, owner, size)
    factorials = log10_factorials(int(size.max(initial=0)))
    table: dict[str, npt.NDArray[np.generic]] = {
        "n_docs": docs,
        "n_relevant": ranking.judgments.n_relevant,
        "n_tie_groups": np.bincount(owner, minlength=n),
        "max_tie_size": largest,
        "tied_docs": tied_docs,
        "tie_ratio": tied_docs / np.maximum(docs, 1),
        "log10_orderings": np.bincount(owner, factorials[size], minlength=n).astype(np.float64),
    }
    near = np.flatnonzero(above < max(cutoffs, default=0))
    owner, above, end = owner[near], above[near], above[near] + size[near]
    for k in cutoffs:
        across = np.zeros(n, dtype=bool)
        across[owner[(above < k) & (end > k)]] = True
        table[f"straddles_{k}"] = across
    return table
