"""Judgments: the grades of each query's documents."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.stacks import target_numbers
from metrics.support.arrays import FloatArray, IntArray, span_starts
from metrics.support.cached import cached_property

T = TypeVar("T", bound=np.generic)


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
    """

    query_ids: pa.Array
    relevant_from: float
    lists: IntArray
    grades: FloatArray
    targets: IntArray | None = None
    query_of_list: IntArray | None = None
    _memo: dict[Hashable, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, table: pa.Table, pairs: QueryDocKeys, relevant_from: float) -> "Judgments":
        """Take judgments from qrels, or from a run; `pairs` identifies each row.

        Without relevance, all grades are 0, so that ties can be counted.
        """
        lists = pairs.query.astype(np.int64)
        grades = table["relevance"].to_numpy() if "relevance" in table.column_names else np.zeros(len(table))
        return cls(pairs.queries, relevant_from, lists, grades, target_numbers(table))

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

    def by_list(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
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

    def memoize(self, key: Hashable, compute: Callable[[], FloatArray]) -> FloatArray:
        """Return `compute()`, cached by `key` for all treatments."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    @cached_property
    def levels(self) -> FloatArray:
        """The distinct grades above 0, lowest first."""
        grades = np.sort(self.grades[self.grades > 0])
        return grades[span_starts(grades)]
