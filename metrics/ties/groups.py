"""Tie groups as measures see them: only those with a contributing document.

A document contributes if its grade is above 0 or, for measures of judged documents, if it is judged.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray, span_lengths, span_starts
from metrics.support.cached import cached_property
from metrics.ties.judgments import Judgments

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class TieGroups:
    """The tie groups that matter to a measure, list by list, top first.

    Attributes:
        judgments: the judgments of all documents, listed or not.
        n_docs: (n_lists,) documents of each list.
        lists: (n,) list of each group.
        above: (n,) documents of the list strictly above the group: b.
        size: (n,) documents in the group: n.
        first: (n,) first of its contributing documents.
        grades: (n_contributing,) grade of the contributing documents, group by group.
        targets: (n_contributing,) the target each satisfies, None where each is its own target.
    """

    judgments: Judgments
    n_docs: IntArray
    lists: IntArray
    above: IntArray
    size: IntArray
    first: IntArray
    grades: FloatArray
    targets: IntArray | None = None
    _memo: dict[Hashable, object] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_lists(self) -> int:
        """Number of lists, those without groups included."""
        return self.judgments.n_lists

    @property
    def n_relevant(self) -> IntArray:
        """(n_lists,) relevant documents of each query, listed or not: R."""
        return self.judgments.n_relevant

    @property
    def n_nonrelevant(self) -> IntArray:
        """(n_lists,) documents of each query that are judged irrelevant, listed or not: N."""
        return self.judgments.n_nonrelevant

    @cached_property
    def hits(self) -> BoolArray:
        """(n_contributing,) whether each contributing document is relevant."""
        return self.grades >= self.judgments.relevant_from

    @cached_property
    def relevant(self) -> IntArray:
        """(n,) relevant documents of each group: r."""
        return self.sum(self.hits.astype(np.float64)).astype(np.int64)

    @cached_property
    def relevant_above(self) -> IntArray:
        """(n,) relevant documents of the list in groups above: c."""
        return self.above_in_list(self.relevant)

    def within(self, k: float | None) -> IntArray:
        """Return the (n,) ranks of each group within a cut-off, all without one: m."""
        return self.size if k is None else np.clip(int(k) - self.above, 0, self.size)

    def above_in_list(self, values: IntArray) -> IntArray:
        """Return the (n,) sum of a whole number of each group over the groups above it in its list."""
        before, starts = values.cumsum() - values, span_starts(self.lists)
        return before - before[starts].repeat(span_lengths(starts, len(self.lists)))

    @cached_property
    def nonrelevant(self) -> IntArray:
        """(n,) documents of each group that are judged irrelevant; a grade below 0 does not count."""
        return self.sum((~self.hits & (self.grades >= 0)).astype(np.float64)).astype(np.int64)

    @cached_property
    def owner(self) -> IntArray:
        """(n_contributing,) group of each contributing document."""
        return np.arange(len(self.first)).repeat(span_lengths(self.first, len(self.grades)))

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the (n,) sum of a value of the contributing documents, group by group."""
        return np.add.reduceat(values, self.first) if len(self.first) else values[:0]

    def memoize(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return `compute()`, cached by `key` for all measures."""
        if key not in self._memo:
            self._memo[key] = compute()
        return cast("T", self._memo[key])

    def per_list(self, values: FloatArray) -> FloatArray:
        """Return the (n_lists,) sum of a value of each group, list by list."""
        return np.bincount(self.lists, values, minlength=self.n_lists).astype(np.float64)

    @cached_property
    def leading(self) -> IntArray:
        """(n_leading,) the first group of each list that holds a relevant document."""
        hit = self.relevant.nonzero()[0]
        return hit[span_starts(self.lists[hit])]
