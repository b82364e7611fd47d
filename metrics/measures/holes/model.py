"""Tie groups with the documents in them that nobody judged, and every way to judge these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.runs.open_documents import OpenDocuments
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.batch_by_depth import batch_by_depth
from metrics.support.cached import cached_property
from metrics.ties import Ranking


class HoleTable(NamedTuple):
    """Lists of like many unjudged documents, a row each.

    Attributes:
        lists: (n_rows,) the lists.
        members: (n_rows, deepest) their unjudged documents, the first to be judged relevant first.
        is_member: (n_rows, deepest) whether there is such a document.
    """

    lists: IntArray
    members: IntArray
    is_member: BoolArray

    def running(self, start: FloatArray, increments: FloatArray) -> FloatArray:
        """Return (n_rows, deepest + 1, ...) sums as documents are judged relevant, one after the other.

        Args:
            start: (n_lists, ...) of each list while none is.
            increments: (n_unjudged, ...) what each document adds.
        """
        if not self.members.size:
            return start[self.lists][:, None]
        added = increments[self.members]
        added[~self.is_member] = 0.0
        return np.cumsum(np.concatenate([start[self.lists][:, None], added], axis=1), axis=1)

    @property
    def is_count(self) -> BoolArray:
        """(n_rows, deepest + 1) whether a list has so many unjudged documents."""
        return np.concatenate([np.ones((len(self.lists), 1), dtype=bool), self.is_member], axis=1)


@dataclass(frozen=True, eq=False)
class Holes:
    """Lists in tie groups, with what is judged of them and what is not.

    Documents of one group that share what is known of them are alike, so that a way to judge is a number of
    documents in each group; the grades of the scale are those that any judgment gives, and 0.

    Attributes:
        ranking: the lists.
        grades: (n_levels,) grades above 0 that a document may have, lowest first.
        n_open: (n_lists,) documents of each query that nobody judged and that may be relevant, listed or not.
        is_cut: whether lists go on past their end with documents that may be relevant.
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
        """Return lists with what nobody judged of their queries.

        Args:
            ranking: the lists.
            open_documents: what nobody judged, by query.
            lists: (n_lists,) number of each list among those of all queries, reranker by reranker.
            n_unlisted: documents of each query that no reranker has and that may be relevant.
            is_cut: whether lists go on past their end.
        """
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

    @property
    def end(self) -> IntArray:
        """(n_groups,) last place of each group: b + n."""
        return self.ranking.above + self.ranking.sizes

    @cached_property
    def unjudged(self) -> IntArray:
        """(n_groups,) unjudged documents of each group: u."""
        return self.count(~self.ranking.judged)

    @cached_property
    def counts(self) -> IntArray:
        """(n_groups, n_levels) judged documents of each group with at least each grade."""
        return np.stack([self.count(self.ranking.grades >= grade) for grade in self.grades], axis=1)

    def count(self, is_counted: BoolArray) -> IntArray:
        """(n_groups,) documents of each group of which something holds."""
        return np.bincount(self.ranking.groups[np.flatnonzero(is_counted)], minlength=len(self.ranking.starts))

    @cached_property
    def judged(self) -> IntArray:
        """(n_lists, n_levels) judged documents of each query with at least each grade, listed or not."""
        judgments = self.ranking.judgments
        n_queries = len(judgments.query_ids)
        rows = (judgments.lists[judgments.grades >= grade] for grade in self.grades)
        columns = (np.bincount(lists, minlength=n_queries) for lists in rows)
        return np.stack([judgments.by_list(column) for column in columns], axis=1)

    @property
    def relevant_level(self) -> slice:
        """The lowest level that is relevant, as a slice of the levels."""
        level = int(np.searchsorted(self.grades, self.ranking.judgments.relevant_from))
        return slice(level, level + 1)

    @cached_property
    def relevant(self) -> IntArray:
        """(n_groups,) judged relevant documents of each group: r."""
        return self.counts[:, self.relevant_level][:, 0]

    @cached_property
    def n_relevant(self) -> IntArray:
        """(n_lists,) judged relevant documents of each query: R."""
        return self.judged[:, self.relevant_level][:, 0]

    @cached_property
    def group(self) -> IntArray:
        """(n_unjudged,) tie group of each unjudged document, list by list, top first."""
        return np.repeat(np.arange(len(self.unjudged)), self.unjudged)

    @cached_property
    def number(self) -> IntArray:
        """(n_unjudged,) number of each among the unjudged ones of its group, from 1."""
        before = np.cumsum(self.unjudged) - self.unjudged
        return np.arange(1, len(self.group) + 1) - before[self.group]

    @cached_property
    def n_unjudged(self) -> IntArray:
        """(n_lists,) unjudged documents of each list."""
        return self.per_list(self.unjudged).astype(np.int64)

    @cached_property
    def unlisted(self) -> IntArray:
        """(n_lists,) documents that a list lacks, nobody judged and may be relevant: v."""
        return self.n_open - self.n_unjudged

    def per_list(self, values: FloatArray | IntArray) -> FloatArray:
        """(n_lists,) sum of a value of each group, list by list."""
        return np.bincount(self.lists, values, minlength=self.n_lists).astype(np.float64)

    def above_in_list(self, values: IntArray) -> IntArray:
        """(n_groups,) sum of a whole number of each group over the groups above it in its list."""
        before = np.cumsum(values) - values
        is_first = self.above == 0
        return before - before[is_first][np.cumsum(is_first) - 1] if len(values) else before

    @cached_property
    def leading(self) -> tuple[IntArray, IntArray]:
        """The first groups that hold a relevant document, and those that may hold one."""
        return self.first_with(self.relevant > 0), self.first_with(self.relevant + self.unjudged > 0)

    def first_with(self, is_held: BoolArray) -> IntArray:
        """The first group of each list of which something holds, of lists that have one."""
        groups = np.flatnonzero(is_held)
        return groups[np.diff(self.lists[groups], prepend=-1) > 0]

    @cached_property
    def owner(self) -> IntArray:
        """(n_unjudged,) list of each unjudged document."""
        return self.lists[self.group]

    def tables(self, owner: IntArray, *, from_below: bool = False) -> Iterator[HoleTable]:
        """Yield all lists with some of their unjudged documents, from the top of each or from below.

        Args:
            owner: (n_members,) list of each of these documents, list by list, top first.
            from_below: whether the last one comes first.
        """
        counts = np.bincount(owner, minlength=self.n_lists)
        ends = np.cumsum(counts)
        for lists, deepest in batch_by_depth(counts + 1):
            number = np.arange(deepest - 1)
            is_member = number < counts[lists][:, None]
            first = (ends - 1 if from_below else ends - counts)[lists][:, None]
            members = first - number if from_below else first + number
            yield HoleTable(lists, np.where(is_member, members, 0), is_member)
