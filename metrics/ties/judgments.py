"""Judgments: what is known of relevance, query by query, and where a document's grade is looked up."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.runs.columns import SUBTOPICS
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.support.arrays import BoolArray, FloatArray, IntArray, combine_chunks, places_in
from metrics.support.cached import cached_property

T = TypeVar("T", bound=np.generic)
Unjudged = Literal["nonrelevant", "leave_out"]
"""What is done about documents that nobody judged: they are not relevant, or are left out of the lists."""


def check_relevant_from(grade: float) -> None:
    """Raise a UsageError where a document that nobody judged would be relevant."""
    if not grade > 0:
        raise UsageError(f"relevant_from={grade}: it is above 0, the grade of unjudged documents.")


def check_unjudged(unjudged: str) -> None:
    """Raise a UsageError where nothing is known by this name that could be done about unjudged documents."""
    if unjudged not in get_args(Unjudged):
        raise UsageError(f"unjudged={unjudged!r}: it is {' or '.join(map(repr, get_args(Unjudged)))}.")


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Subtopics of the query that each judged document is relevant to.

    Attributes:
        starts: (n_judged + 1,) first entry of each judgment, and the end.
        subtopic: (n_entries,) subtopic, by number.
        id_order: (n_judged,) place of the document's id in ascending order.
    """

    starts: IntArray
    subtopic: IntArray
    id_order: IntArray

    @classmethod
    def of(cls, grades: pa.MapArray, documents: pa.Array, relevant_from: float) -> "Subtopics":
        """Return the subtopics of judgments: each has a map of subtopics to grades, or none."""
        starts = grades.offsets.to_numpy()
        entries = slice(starts[0], starts[-1])
        is_relevant = grades.items.to_numpy()[entries] >= relevant_from
        subtopic = grades.keys.dictionary_encode().indices.to_numpy()[entries].astype(np.int64)
        n_before = np.append(0, np.cumsum(is_relevant))
        id_order = np.empty(len(documents), np.int64)
        id_order[pc.array_sort_indices(documents).to_numpy()] = np.arange(len(documents))
        return cls(n_before[starts - starts[0]], subtopic[is_relevant], id_order)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Grades of the documents of each query.

    Attributes:
        query_ids: (n_queries,) judged queries, in the order given.
        relevant_from: smallest grade that counts as relevant.
        lists: (n_judged,) query of each judgment, a place in `query_ids`.
        grades: (n_judged,) its grade.
        targets: (n_judged,) what the document satisfies; None: each is its own target.
        subtopics: of all judgments that these are a part of; None where no subtopics are known.
        rows: (n_judged,) place of each judgment in `subtopics`; None: their own places.
        asked: (n_lists,) query of each list, a place in `query_ids`; None: each has one list, in their order.
    """

    query_ids: pa.Array
    relevant_from: float
    lists: IntArray
    grades: FloatArray
    targets: IntArray | None = None
    subtopics: Subtopics | None = None
    rows: IntArray | None = None
    asked: IntArray | None = None
    _memo: dict[Hashable, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, table: pa.Table, pairs: QueryDocKeys, relevant_from: float = 1) -> "Judgments":
        """Take judgments from qrels, or from a run that holds relevance.

        Args:
            table: relevance, perhaps target_id and subtopics.
            pairs: query and document of each row.
            relevant_from: smallest grade that counts as relevant.

        Returns:
            The judgments, by query.
        """
        targets = None
        if "target_id" in table.column_names:
            codes = pc.fill_null(combine_chunks(table["target_id"]).dictionary_encode().indices, -1)
            targets = np.asarray(codes).astype(np.int64)
            targets[targets < 0] = len(targets) + np.flatnonzero(targets < 0)
        subtopics = None
        if SUBTOPICS in table.column_names:
            subtopics = Subtopics.of(combine_chunks(table[SUBTOPICS]), pairs.documents, relevant_from)
        lists = pairs.query.astype(np.int64)
        return cls(pairs.queries, relevant_from, lists, table["relevance"].to_numpy(), targets, subtopics)

    @cached_property
    def _by_list(self) -> "Judgments":
        """The same, the judgments of each query together."""
        if (self.lists[1:] >= self.lists[:-1]).all():
            return self
        order = np.argsort(self.lists, kind="stable")
        targets = None if self.targets is None else self.targets[order]
        rows = order if self.rows is None else self.rows[order]
        return replace(self, lists=self.lists[order], grades=self.grades[order], targets=targets, rows=rows)

    def part(self, first: int, end: int) -> "Judgments":
        """Return the judgments of some lists that follow each other, numbered from 0."""
        if (first, end) == (0, self.n_lists):
            return self
        if self.asked is not None:
            return self.asked_for(self.asked[first:end])
        grouped = self._by_list
        span = slice(*np.searchsorted(grouped.lists, (first, end)))
        return Judgments(
            query_ids=self.query_ids.slice(first, end - first),
            relevant_from=self.relevant_from,
            lists=grouped.lists[span] - first,
            grades=grouped.grades[span],
            targets=None if grouped.targets is None else grouped.targets[span],
            subtopics=grouped.subtopics,
            rows=np.arange(len(grouped.lists))[span] if grouped.rows is None else grouped.rows[span],
        )

    def asked_for(self, queries: IntArray) -> "Judgments":
        """Return the same judgments for other lists: (n_lists,) query of each, as often as it was asked."""
        return replace(self, asked=queries)

    @property
    def n_lists(self) -> int:
        """Number of lists: of judged queries, unless some were asked more than once."""
        return len(self.query_ids) if self.asked is None else len(self.asked)

    @property
    def list_queries(self) -> pa.Array:
        """(n_lists,) query of each list."""
        return self.query_ids if self.asked is None else self.query_ids.take(pa.array(self.asked))

    def by_list(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
        """Return (n_lists,) what each list has of (n_queries,) values."""
        return values if self.asked is None else values[self.asked]

    @cached_property
    def n_relevant(self) -> IntArray:
        """(n_lists,) relevant documents of the query of each: R."""
        return self._count(self.grades >= self.relevant_from)

    @cached_property
    def n_nonrelevant(self) -> IntArray:
        """(n_lists,) documents of the query of each that were judged and are not relevant: N.

        A grade below 0 says that a document was in the pool and that nobody judged it, to bpref and infAP; to
        every other measure it is a judgment of not relevant. trec_eval has it so.
        """
        return self._count((self.grades >= 0) & (self.grades < self.relevant_from))

    def _count(self, is_counted: BoolArray) -> IntArray:
        """Return the (n_lists,) judgments of the query of each list of which something holds."""
        return self.by_list(np.bincount(self.lists[is_counted], minlength=len(self.query_ids)))

    @cached_property
    def best_first(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Query, place from 0, and grade of each judgment above 0, the highest grade of a query first."""
        graded = np.flatnonzero(self.grades > 0)
        place = self.lists[graded] * len(self.levels) - np.searchsorted(self.levels, self.grades[graded])
        graded = graded[np.argsort(place)]
        lists = self.lists[graded]
        return lists, np.arange(len(lists)) - np.searchsorted(lists, lists), self.grades[graded]

    def memoize(self, key: Hashable, compute: Callable[[], FloatArray]) -> FloatArray:
        """Return what `compute` gives, computed when first asked for: the same under every treatment."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    def places(self, pairs: QueryDocKeys) -> IntArray:
        """Return (n,) place in `query_ids` of each query of a run, -1 where it is not judged."""
        return places_in(pairs.queries, self.query_ids)

    @cached_property
    def levels(self) -> FloatArray:
        """The distinct grades above 0, lowest first."""
        return np.unique(self.grades[self.grades > 0])
