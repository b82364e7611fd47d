"""What measures see: the judgments of each query, and the tie groups with a contributing document.

A document contributes if its grade is above 0 or, for measures of judged documents, if it is judged.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
import numpy.typing as npt

from metrics.support.arrays import BoolArray, FloatArray, IntArray, span_lengths, span_starts
from metrics.support.cached import cached_property

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
N = TypeVar("N", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Grades of the documents of each query.

    Attributes:
        query_ids: (n_queries,) judged queries, in the order given.
        relevant_from: smallest relevant grade.
        lists: (n_judged,) query of each judgment, an index into `query_ids`.
        grades: (n_judged,) its grade.
        targets: (n_judged,) the target its document satisfies; None: each is its own target.
        query_of_list: (n_lists,) an index into `query_ids`; None: one list per query, in their order.
        memo: (n_queries,) numbers that several tie orders need.
    """

    query_ids: "pa.Array"
    relevant_from: float
    lists: IntArray
    grades: FloatArray
    targets: IntArray | None = None
    query_of_list: IntArray | None = None
    memo: dict[Hashable, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _by_list(self) -> "Judgments":
        if (self.lists[1:] >= self.lists[:-1]).all():
            return self
        order = np.argsort(self.lists, kind="stable")
        targets = None if self.targets is None else self.targets[order]
        return replace(self, lists=self.lists[order], grades=self.grades[order], targets=targets)

    def part(self, first: int, end: int) -> "Judgments":
        """Return the judgments of consecutive lists, renumbered from 0."""
        if (first, end) == (0, self.n_lists):
            return self
        if self.query_of_list is not None:
            return self.with_lists(self.query_of_list[first:end])
        grouped = self._by_list
        span = slice(*np.searchsorted(grouped.lists, (first, end)))
        return Judgments(
            query_ids=self.query_ids.slice(first, end - first),
            relevant_from=self.relevant_from,
            lists=grouped.lists[span] - first,
            grades=grouped.grades[span],
            targets=None if grouped.targets is None else grouped.targets[span],
        )

    def with_lists(self, query_of_list: IntArray) -> "Judgments":
        """Return the same judgments for other lists, whose (n_lists,) queries may repeat."""
        return replace(self, query_of_list=query_of_list)

    @property
    def n_lists(self) -> int:
        """Number of lists: one per judged query, unless `query_of_list` says otherwise."""
        return len(self.query_ids) if self.query_of_list is None else len(self.query_of_list)

    def by_list(self, values: npt.NDArray[N]) -> npt.NDArray[N]:
        """Return (n_lists,) the value of each list's query, from (n_queries,) values."""
        return values if self.query_of_list is None else values[self.query_of_list]

    @cached_property
    def n_relevant(self) -> IntArray:
        """(n_lists,) relevant documents of each list's query: R."""
        relevant = self.lists[self.grades >= self.relevant_from]
        return self.by_list(np.bincount(relevant, minlength=len(self.query_ids)))

    @cached_property
    def n_nonrelevant(self) -> IntArray:
        """(n_lists,) documents of each list's query that are judged irrelevant: N.

        As in trec_eval, bpref takes a grade below 0 for an unjudged document of the pool. For all other
        measures it is a judgment of irrelevance.
        """
        nonrelevant = self.lists[(self.grades >= 0) & (self.grades < self.relevant_from)]
        return self.by_list(np.bincount(nonrelevant, minlength=len(self.query_ids)))

    @cached_property
    def best_first(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Query, rank from 0, and grade of each judgment above 0, the highest grade of a query first."""
        graded = np.flatnonzero(self.grades > 0)
        place = self.lists[graded] * len(self.levels) - np.searchsorted(self.levels, self.grades[graded])
        graded = graded[np.argsort(place)]
        lists = self.lists[graded]
        return lists, np.arange(len(lists)) - np.searchsorted(lists, lists), self.grades[graded]

    @cached_property
    def levels(self) -> FloatArray:
        """The distinct grades above 0, lowest first."""
        grades = np.sort(self.grades[self.grades > 0])
        return grades[span_starts(grades)]


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
        return np.bincount(self.lists, values, minlength=self.judgments.n_lists).astype(np.float64)

    @cached_property
    def leading(self) -> IntArray:
        """(n_leading,) the first group of each list that holds a relevant document."""
        hit = self.relevant.nonzero()[0]
        return hit[span_starts(self.lists[hit])]
