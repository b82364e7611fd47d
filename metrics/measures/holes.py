"""Lists with unjudged documents, and all ways to judge these."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.measures.weights import Parameter
from metrics.runs.stacks import OpenDocuments
from metrics.support.arrays import BoolArray, FloatArray, IntArray, batch_by_depth
from metrics.support.cached import cached_property
from metrics.ties import Ranking

Bounds = tuple[FloatArray, FloatArray]
"""(n_lists,) smallest and largest value."""


class HoleTable(NamedTuple):
    """Lists with similar numbers of unjudged documents, one column each.

    Attributes:
        lists: (n_columns,) the lists.
        members: (deepest, n_columns) their unjudged documents in the order in which they become relevant; past
            the last one the number of all documents.
        counts: (deepest + 1, n_columns) how many are relevant: 0, 1, ...; constant past the last one.
    """

    lists: IntArray
    members: IntArray
    counts: IntArray

    def running(self, start: FloatArray, increments: FloatArray) -> FloatArray:
        """Return (..., deepest + 1, n_columns) sums as documents become relevant one at a time.

        Shapes: `start` (..., n_lists), `increments` (..., n_unjudged).
        """
        sums = np.empty((*start.shape[:-1], *self.counts.shape))
        sums[..., 0, :] = start.take(self.lists, axis=-1)
        padded = np.concatenate([increments, np.zeros((*start.shape[:-1], 1))], axis=-1)
        sums[..., 1:, :] = padded.take(self.members, axis=-1)
        return np.cumsum(sums, axis=-2, out=sums)


@dataclass(frozen=True, eq=False)
class Holes:
    """Lists in tie groups, with their judged and unjudged documents.

    Unjudged documents of one group are interchangeable, so a way to judge is a number of documents in each
    group. The possible grades are 0 and all grades of the judgments.

    Attributes:
        ranking: the lists.
        grades: (n_levels,) grades above 0 that a document may have, lowest first.
        n_open: (n_lists,) unjudged documents of each query that may be relevant, listed or not.
        is_cut: true if lists continue past their end with documents that may be relevant.
    """

    ranking: Ranking
    grades: FloatArray
    n_open: IntArray
    is_cut: bool = False

    @classmethod
    def of(
        cls,
        ranking: Ranking,
        open_documents: OpenDocuments,
        lists: IntArray,
        n_unlisted: int = 0,
        *,
        is_cut: bool = False,
    ) -> "Holes":
        """Return lists with the unjudged documents of their queries; `lists` are their (n_lists,) numbers."""
        counts, grades = open_documents
        if not (grades >= ranking.judgments.relevant_from).any():
            grades = np.append(grades, ranking.judgments.relevant_from)
        n_open = counts[lists % len(counts)] if len(counts) else np.zeros(len(lists), np.int64)
        return cls(ranking, grades, n_open + n_unlisted, is_cut)

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return self.ranking.n_lists

    @property
    def lists(self) -> IntArray:
        """(n_groups,) list of each tie group."""
        return self.ranking.group_lists

    @property
    def above(self) -> IntArray:
        """(n_groups,) documents strictly above each group: b."""
        return self.ranking.above

    @cached_property
    def end(self) -> IntArray:
        """(n_groups,) last place of each group: b + n."""
        return self.ranking.above + self.ranking.sizes

    @cached_property
    def unjudged(self) -> IntArray:
        """(n_groups,) unjudged documents of each group: u."""
        return self.ranking.sizes - self._per_group(self._judged_documents[0])

    @cached_property
    def counts(self) -> IntArray:
        """(n_levels, n_groups) judged documents of each group with at least each grade."""
        groups, grades = self._judged_documents
        levels = []
        for grade in self.grades:
            graded = np.flatnonzero(grades >= grade)
            groups, grades = groups.take(graded), grades.take(graded)
            levels.append(self._per_group(groups))
        return np.stack(levels)

    @cached_property
    def _judged_documents(self) -> tuple[IntArray, FloatArray]:
        documents = np.flatnonzero(self.ranking.judged)
        return self.ranking.groups.take(documents), self.ranking.grades.take(documents)

    def count(self, is_counted: BoolArray) -> IntArray:
        """Return (n_groups,) how many documents of each group satisfy a condition."""
        return self._per_group(self.ranking.groups[is_counted])

    def _per_group(self, groups: IntArray) -> IntArray:
        return np.bincount(groups, minlength=len(self.ranking.starts))

    @cached_property
    def judged(self) -> IntArray:
        """(n_levels, n_lists) judged documents of each query with at least each grade, listed or not."""
        judgments = self.ranking.judgments
        n_queries = len(judgments.query_ids)
        rows = (judgments.lists.take(np.flatnonzero(judgments.grades >= grade)) for grade in self.grades)
        columns = (np.bincount(lists, minlength=n_queries) for lists in rows)
        return np.stack([judgments.by_list(column) for column in columns])

    @property
    def relevant_level(self) -> slice:
        """The lowest relevant level, as a slice of the levels."""
        level = int(np.searchsorted(self.grades, self.ranking.judgments.relevant_from))
        return slice(level, level + 1)

    @cached_property
    def relevant(self) -> IntArray:
        """(n_groups,) judged relevant documents of each group: r."""
        return np.asarray(self.counts[self.relevant_level][0])

    @cached_property
    def n_relevant(self) -> IntArray:
        """(n_lists,) judged relevant documents of each query: R."""
        return np.asarray(self.judged[self.relevant_level][0])

    @cached_property
    def group(self) -> IntArray:
        """(n_unjudged,) tie group of each unjudged document, list by list, top first."""
        return np.repeat(np.arange(len(self.unjudged)), self.unjudged)

    @cached_property
    def n_unjudged(self) -> IntArray:
        """(n_lists,) unjudged documents of each list."""
        return self.per_list(self.unjudged).astype(np.int64)

    @cached_property
    def unlisted(self) -> IntArray:
        """(n_lists,) unjudged documents that a list lacks and that may be relevant: v."""
        return self.n_open - self.n_unjudged

    def per_list(self, values: FloatArray | IntArray) -> FloatArray:
        """Return the (n_lists,) sum of a value of each group, list by list."""
        return np.bincount(self.lists, values, minlength=self.n_lists).astype(np.float64)

    def above_in_list(self, values: IntArray) -> IntArray:
        """Return (n_groups,) sums of a whole number over the groups above each in its list."""
        starts, ends = self.spans
        upto = np.append(0, np.cumsum(values))
        return np.asarray(upto[:-1] - np.repeat(upto.take(starts), ends - starts))

    @cached_property
    def spans(self) -> tuple[IntArray, IntArray]:
        """(n_lists,) each; the first group of each list, and the end of its last one."""
        lengths = np.bincount(self.lists, minlength=self.n_lists)
        ends = np.cumsum(lengths)
        return ends - lengths, ends

    @cached_property
    def unjudged_above(self) -> IntArray:
        """(n_groups,) unjudged documents above each group."""
        return self.above_in_list(self.unjudged)

    @cached_property
    def relevant_above(self) -> IntArray:
        """(n_groups,) judged relevant documents above each group: c."""
        return self.above_in_list(self.relevant)

    @cached_property
    def leading(self) -> tuple[IntArray, IntArray]:
        """The first groups with a relevant document, and the first that may have one."""
        return self.first_with(self.relevant > 0), self.first_with(self.relevant + self.unjudged > 0)

    def first_with(self, is_held: BoolArray) -> IntArray:
        """Return the first group of each list that satisfies a condition, for lists that have one."""
        groups = np.flatnonzero(is_held)
        lists = self.lists.take(groups)
        return np.asarray(groups[np.append(True, lists[1:] != lists[:-1])[: len(groups)]])

    @cached_property
    def owner(self) -> IntArray:
        """(n_unjudged,) list of each unjudged document."""
        return self.lists[self.group]

    def tables(
        self, owner: IntArray, is_taken: BoolArray | None = None, *, from_below: bool = False
    ) -> Iterator[HoleTable]:
        """Yield lists with some of their unjudged documents.

        Shapes: `owner` (n,), `is_taken` (n_lists,).
        """
        counts = np.bincount(owner, minlength=self.n_lists)
        ends = np.cumsum(counts)
        for lists, deepest in batch_by_depth(counts + 1 if is_taken is None else (counts + 1) * is_taken):
            number, n_members = np.arange(deepest)[:, None], counts[lists]
            first = (ends - 1 if from_below else ends - counts)[lists]
            members = np.where(number < n_members, first - number if from_below else first + number, len(owner))
            yield HoleTable(lists, members[:-1], np.minimum(number, n_members))


Joint = Callable[[Holes, Parameter], Bounds]
"""(lists with unjudged documents, parameter) → their bounds over all orders and judgments."""
