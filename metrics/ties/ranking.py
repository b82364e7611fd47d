"""Ranking: the lists of one reranker, sorted by score and cut into tie groups."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """Lists of one reranker, documents in order of list and falling score, ties in input order.

    Attributes:
        query_ids: (n_lists,) judged queries; a query the run lacks is a list without documents.
        lists: (n_docs,) list of each document.
        rows: (n_docs,) its row in the table the run came from: the input position.
        doc_ids: (n_docs,) its id.
        scores: (n_docs,) its score.
        grades: (n_docs,) its grade, 0 where unjudged.
        groups: (n_docs,) number of its tie group, counted through all lists.
        n_relevant: (n_lists,) relevant documents known for the query, listed or not.
        relevant_from: smallest grade that counts as relevant.
    """

    query_ids: pa.Array
    lists: IntArray
    rows: IntArray
    doc_ids: pa.Array
    scores: FloatArray
    grades: FloatArray
    groups: IntArray
    n_relevant: IntArray
    relevant_from: float

    @classmethod
    def of(cls, table: pa.Table, qrels: pa.Table | None, relevant_from: float = 1) -> "Ranking":
        """Cut the lists of one run.

        Args:
            table: query_id, doc_id, score, and relevance where there are no qrels; file order.
            qrels: query_id, doc_id, relevance; its queries are the lists. Without, the run's own are.
            relevant_from: smallest grade that counts as relevant.
        """
        query_ids = pc.unique((table if qrels is None else qrels)["query_id"])
        codes = pc.fill_null(pc.index_in(table["query_id"], value_set=query_ids), -1).to_numpy()
        codes = codes.astype(np.int64)
        scores = table["score"].to_numpy()
        if qrels is None:
            grades = table["relevance"].to_numpy()
            n_relevant = np.bincount(codes[grades >= relevant_from], minlength=len(query_ids))
        else:
            grades, n_relevant = _judge(table["doc_id"], codes, qrels, query_ids, relevant_from)
        known = np.flatnonzero(codes >= 0)
        order = known[np.lexsort((-scores[known], codes[known]))]
        lists, scores = codes[order], scores[order]
        return cls(
            query_ids=query_ids,
            lists=lists,
            rows=order,
            doc_ids=table["doc_id"].take(pa.array(order)),
            scores=scores,
            grades=grades[order],
            groups=_groups(lists, scores),
            n_relevant=n_relevant,
            relevant_from=relevant_from,
        )

    @property
    def n_lists(self) -> int:
        """Number of lists, empty ones included."""
        return len(self.query_ids)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_groups,) documents of each tie group."""
        return np.bincount(self.groups)

    @cached_property
    def group_lists(self) -> IntArray:
        """(n_groups,) list of each tie group."""
        return self.lists[self.starts]

    @cached_property
    def starts(self) -> IntArray:
        """(n_groups,) first document of each tie group."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def list_starts(self) -> IntArray:
        """(n_lists + 1,) first document of each list, and the end of the last."""
        return np.searchsorted(self.lists, np.arange(self.n_lists + 1))

    @cached_property
    def above(self) -> IntArray:
        """(n_groups,) documents of the same list strictly above each tie group."""
        return self.starts - self.list_starts[self.group_lists]

    @property
    def relevant(self) -> npt.NDArray[np.bool_]:
        """(n_docs,) whether each document is relevant."""
        return self.grades >= self.relevant_from

    def list_of(self, query_id: str) -> slice:
        """Where the documents of one query stand; empty where the run has none."""
        at = pc.index(self.query_ids, query_id).as_py()
        return slice(0, 0) if at < 0 else slice(int(self.list_starts[at]), int(self.list_starts[at + 1]))


def _groups(lists: IntArray, *keys: npt.NDArray[np.generic]) -> IntArray:
    """Number the runs of equal list and keys."""
    first = np.zeros(len(lists), dtype=bool)
    for key in (lists, *keys):
        first[1:] |= key[1:] != key[:-1]
    return np.cumsum(first)


def _judge(
    doc_ids: pa.ChunkedArray, lists: IntArray, qrels: pa.Table, query_ids: pa.Array, relevant_from: float
) -> tuple[FloatArray, IntArray]:
    """Grade of each document, 0 where unjudged, and the relevant documents of each query."""
    known = qrels["doc_id"].combine_chunks().dictionary_encode()
    query = pc.index_in(qrels["query_id"], value_set=query_ids).to_numpy().astype(np.int64)
    grade = qrels["relevance"].to_numpy()
    keys = query * len(known.dictionary) + known.indices.to_numpy()
    order = np.argsort(keys)
    keys, grade_by_key = keys[order], grade[order]

    documents = pc.fill_null(pc.index_in(doc_ids, value_set=known.dictionary), -1).to_numpy().astype(np.int64)
    wanted = lists * len(known.dictionary) + documents
    at = np.searchsorted(keys, wanted)
    keys, grade_by_key = np.append(keys, -1), np.append(grade_by_key, 0.0)
    found = (keys[at] == wanted) & (documents >= 0) & (lists >= 0)
    grades = np.where(found, grade_by_key[at], 0.0)
    return grades, np.bincount(query[grade >= relevant_from], minlength=len(query_ids))
