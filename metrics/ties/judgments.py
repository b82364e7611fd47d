"""Judgments: what is known of relevance, query by query, and where a document's grade is looked up."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.arrays import FloatArray, IntArray
from metrics.runs.pairs import Pairs, Prints, same_text, whole

_BITS = 22
"""Size of the table that says which prints are not judged: 2^22 cells."""


@dataclass(frozen=True)
class Judgments:
    """Grades of the documents of each query.

    Attributes:
        query_ids: (n_lists,) judged queries, in the order given.
        relevant_from: smallest grade that counts as relevant.
        lists: (n_judged,) query of each judgment.
        grades: (n_judged,) its grade.
        targets: (n_judged,) what the document satisfies; None: each is its own target.
        pairs: query and document of each judgment; none where nothing is looked up.
        source: the table they were read from.
    """

    query_ids: pa.Array
    relevant_from: float
    lists: IntArray
    grades: FloatArray
    targets: IntArray | None = None
    pairs: Pairs = field(default_factory=Pairs.none)
    source: pa.Table | None = field(default=None, compare=False)

    @classmethod
    def of(cls, table: pa.Table, relevant_from: float = 1, pairs: Pairs | None = None) -> "Judgments":
        """From qrels, or from a run that holds relevance: query_id, doc_id, relevance, perhaps target_id."""
        pairs = pairs or Pairs.of(table)
        targets = None
        if "target_id" in table.column_names:
            codes = pc.fill_null(whole(table["target_id"]).dictionary_encode().indices, -1)
            targets = np.asarray(codes).astype(np.int64)
            targets[targets < 0] = len(targets) + np.flatnonzero(targets < 0)
        grades = table["relevance"].to_numpy()
        return cls(pairs.queries, relevant_from, pairs.query, grades, targets, pairs, table)

    def repeated(self, place: int, times: int) -> "Judgments":
        """The judgments of one query, as if it had been asked so many times."""
        rows = np.flatnonzero(self.lists == place)
        return Judgments(
            query_ids=pa.array([str(number) for number in range(times)]),
            relevant_from=self.relevant_from,
            lists=np.repeat(np.arange(times), len(rows)),
            grades=np.tile(self.grades[rows], times),
            targets=None if self.targets is None else np.tile(self.targets[rows], times),
        )

    @property
    def n_lists(self) -> int:
        """Number of judged queries."""
        return len(self.query_ids)

    @cached_property
    def n_relevant(self) -> IntArray:
        """(n_lists,) relevant documents of each query: R."""
        return np.bincount(self.lists[self.grades >= self.relevant_from], minlength=self.n_lists)

    @cached_property
    def best_first(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Query, place from 0, and grade of each judgment above 0, the highest grade of a query first."""
        kept = np.flatnonzero(self.grades > 0)
        kept = kept[np.lexsort((-self.grades[kept], self.lists[kept]))]
        lists = self.lists[kept]
        return lists, np.arange(len(lists)) - np.searchsorted(lists, lists), self.grades[kept]

    @cached_property
    def _by_print(self) -> tuple[Prints, IntArray, npt.NDArray[np.bool_], int]:
        """Prints in order, the judgment of each, which low bits occur, and the most judgments of one print."""
        prints = self.pairs.prints
        order = np.argsort(prints)
        prints = prints[order]
        occurs = np.zeros(2**_BITS, dtype=bool)
        occurs[_low(prints)] = True
        runs = np.diff(np.flatnonzero(np.r_[True, prints[1:] != prints[:-1], True][: len(prints) + 1]))
        return prints, order, occurs, int(runs.max(initial=0))

    def places(self, pairs: Pairs) -> IntArray:
        """(n_queries,) list of each query of a run, -1 where it is not judged."""
        found = pc.fill_null(pc.index_in(pairs.queries, value_set=self.query_ids), -1)
        return np.asarray(found).astype(np.int64)

    def find(self, pairs: Pairs) -> tuple[IntArray, IntArray]:
        """Look up the rows of a run.

        Returns:
            rows that are judged, the judgment of each.
        """
        places = self.places(pairs)
        prints, order, occurs, most = self._by_print
        maybe = np.flatnonzero(occurs[_low(pairs.prints)])
        maybe = maybe[np.argsort(pairs.prints[maybe])]
        wanted = pairs.prints[maybe]
        at = np.searchsorted(prints, wanted)
        rows, judgments = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for shift in range(most):
            near = np.minimum(at + shift, len(prints) - 1)
            equal = np.flatnonzero(prints[near] == wanted)
            row, judgment = maybe[equal], order[near[equal]]
            same = places[pairs.query[row]] == self.lists[judgment]
            same &= same_text(pairs.documents, row, self.pairs.documents, judgment)
            rows.append(row[same])
            judgments.append(judgment[same])
        return np.concatenate(rows), np.concatenate(judgments)

    @cached_property
    def levels(self) -> FloatArray:
        """The distinct grades above 0, lowest first."""
        return np.unique(self.grades[self.grades > 0])


def _low(prints: Prints) -> npt.NDArray[np.uint32]:
    """The low bits of each print."""
    return prints.astype(np.uint32) & np.uint32(2**_BITS - 1)
