"""Judgments: what is known of relevance, query by query, and where a document's grade is looked up."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Judgments:
    """Grades of the documents of each query, sorted by query.

    Attributes:
        query_ids: (n_lists,) judged queries, in the order given.
        relevant_from: smallest grade that counts as relevant.
        doc_ids: (n_distinct,) the distinct documents judged.
        lists: (n_judged,) query of each judgment.
        codes: (n_judged,) its document, a place in `doc_ids`.
        grades: (n_judged,) its grade.
        targets: (n_judged,) what the document satisfies; None: each is its own target.
        source: the table they were read from.
    """

    query_ids: pa.Array
    relevant_from: float
    doc_ids: pa.Array
    lists: IntArray
    codes: IntArray
    grades: FloatArray
    targets: IntArray | None = None
    source: pa.Table | None = field(default=None, compare=False)

    @classmethod
    def of(cls, table: pa.Table, relevant_from: float = 1) -> "Judgments":
        """From qrels, or from a run that holds relevance: query_id, doc_id, relevance."""
        queries, documents = encoded(table["query_id"]), encoded(table["doc_id"])
        lists = queries.indices.to_numpy().astype(np.int64)
        targets = (
            encoded(table["target_id"]).indices.to_numpy().astype(np.int64)
            if "target_id" in table.column_names
            else None
        )
        return cls(
            query_ids=queries.dictionary,
            relevant_from=relevant_from,
            doc_ids=documents.dictionary,
            lists=lists,
            codes=documents.indices.to_numpy().astype(np.int64),
            grades=table["relevance"].to_numpy(),
            targets=targets,
            source=table,
        )

    def repeated(self, place: int, times: int) -> "Judgments":
        """The judgments of one query, as if it had been asked so many times."""
        rows = np.flatnonzero(self.lists == place)
        return Judgments(
            query_ids=pa.array([str(number) for number in range(times)]),
            relevant_from=self.relevant_from,
            doc_ids=self.doc_ids,
            lists=np.repeat(np.arange(times), len(rows)),
            codes=np.tile(self.codes[rows], times),
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
    def _by_key(self) -> tuple[IntArray, IntArray]:
        keys = self.lists * len(self.doc_ids) + self.codes
        order = np.argsort(keys)
        return np.append(keys[order], -1), order

    def find(self, lists: IntArray, documents: pa.DictionaryArray) -> tuple[IntArray, IntArray]:
        """Rows that are judged, and which judgment each has.

        Args:
            lists: (n_rows,) query of each row, -1 where it is not judged.
            documents: (n_rows,) its document.
        """
        known = pc.index_in(documents.dictionary, value_set=self.doc_ids)
        known = pc.fill_null(known, -1).to_numpy().astype(np.int64)
        codes = known[documents.indices.to_numpy()]
        rows = np.flatnonzero((codes >= 0) & (lists >= 0))
        wanted = lists[rows] * len(self.doc_ids) + codes[rows]
        keys, order = self._by_key
        at = np.searchsorted(keys[:-1], wanted)
        found = keys[at] == wanted
        return rows[found], order[at[found]]


def encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as one dictionary array: the distinct values in order of appearance, and their places."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
