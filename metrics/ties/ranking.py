"""Ranking: the lists of one reranker, sorted by score and cut into tie groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.ties.groups import TieGroups
from metrics.ties.judgments import FloatArray, IntArray, Judgments, encoded
from metrics.ties.precision import rounded
from metrics.ties.sorting import falling, segments


@dataclass(frozen=True)
class Ranking:
    """Lists of one reranker: documents list by list, by falling score within; ties in no order.

    Attributes:
        judgments: what is known of relevance; its queries are the lists, with or without documents.
        doc_column: ids of the table the run came from, encoded.
        segment_lists: (n_segments,) list of each run of documents.
        segment_starts: (n_segments + 1,) first document of each, and the end.
        rows: (n_docs,) row of each document in its table: the input position.
        scores: (n_docs,) its score, rounded to the precision asked for.
        groups: (n_docs,) number of its tie group, counted through all lists.
        grades: (n_docs,) its grade, 0 where unjudged.
        judged: (n_docs,) whether it was judged.
        targets: (n_docs,) what it satisfies, None where each document is its own target.
    """

    judgments: Judgments
    doc_column: pa.DictionaryArray
    segment_lists: IntArray
    segment_starts: IntArray
    rows: IntArray
    scores: FloatArray
    groups: IntArray
    grades: FloatArray
    judged: npt.NDArray[np.bool_]
    targets: IntArray | None = None

    @classmethod
    def of(
        cls,
        table: pa.Table,
        judgments: Judgments,
        precision: str = "float64",
        tiebreak_by: Sequence[str] = (),
    ) -> "Ranking":
        """Cut the lists of one run.

        Args:
            table: query_id, doc_id, score, and the columns of `tiebreak_by`; file order.
            judgments: what is known of relevance.
            precision: how scores are rounded before they are compared (`metrics.ties.precision`).
            tiebreak_by: further score columns; each splits what is level in those before it.

        Raises:
            UsageError: a precision or a column that does not exist.
        """
        queries, documents = encoded(table["query_id"]), encoded(table["doc_id"])
        places = pc.fill_null(pc.index_in(queries.dictionary, value_set=judgments.query_ids), -1)
        lists = places.to_numpy().astype(np.int64)[queries.indices.to_numpy()]
        at, segment_lists, starts = segments(lists)
        keys = [rounded(table[name].to_numpy(), precision)[at] for name in _score_columns(table, tiebreak_by)]
        order, first = falling(keys, starts)
        if judgments.source is table:
            rows = judgment = np.arange(len(lists))
        else:
            rows, judgment = judgments.find(lists, documents)
        grades, judged = np.zeros(len(lists)), np.zeros(len(lists), dtype=bool)
        grades[rows], judged[rows] = judgments.grades[judgment], True
        targets = None
        if judgments.targets is not None:
            targets = np.full(len(lists), -1)
            targets[rows] = judgments.targets[judgment]
            targets = targets[at[order]]
        at = at[order]
        return cls(
            judgments=judgments,
            doc_column=documents,
            segment_lists=segment_lists,
            segment_starts=starts,
            rows=at,
            scores=keys[0][order],
            groups=np.cumsum(first) - 1,
            grades=grades[at],
            judged=judged[at],
            targets=targets,
        )

    @property
    def query_ids(self) -> pa.Array:
        """(n_lists,) judged queries."""
        return self.judgments.query_ids

    @property
    def n_lists(self) -> int:
        """Number of lists, empty ones included."""
        return self.judgments.n_lists

    @cached_property
    def sizes(self) -> IntArray:
        """(n_groups,) documents of each tie group."""
        return np.bincount(self.groups)

    @cached_property
    def starts(self) -> IntArray:
        """(n_groups,) first document of each tie group."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def _segments(self) -> IntArray:
        """(n_groups,) segment of each tie group."""
        return np.searchsorted(self.segment_starts, self.starts, side="right") - 1

    @cached_property
    def group_lists(self) -> IntArray:
        """(n_groups,) list of each tie group."""
        return self.segment_lists[self._segments]

    @cached_property
    def above(self) -> IntArray:
        """(n_groups,) documents of the same list strictly above each tie group."""
        return self.starts - self.segment_starts[self._segments]

    @cached_property
    def n_docs(self) -> IntArray:
        """(n_lists,) documents of each list."""
        lengths = np.zeros(self.n_lists, dtype=np.int64)
        lengths[self.segment_lists] = np.diff(self.segment_starts)
        return lengths

    @property
    def relevant(self) -> npt.NDArray[np.bool_]:
        """(n_docs,) whether each document is relevant."""
        return self.grades >= self.judgments.relevant_from

    def ids(self, documents: IntArray | Sequence[int]) -> pa.Array:
        """Ids of documents, by their number here."""
        return self.doc_column.take(pa.array(self.rows[np.asarray(documents)])).dictionary_decode()

    def listed(self, query_id: str) -> IntArray:
        """Documents of one query by falling score, ties in input order; none where the run has none."""
        place = pc.index(self.query_ids, query_id).as_py()
        segment = np.flatnonzero(self.segment_lists == place)
        if place < 0 or not len(segment):
            return np.empty(0, dtype=np.int64)
        documents = np.arange(*self.segment_starts[segment[0] : segment[0] + 2])
        return documents[np.lexsort((self.rows[documents], self.groups[documents]))]

    def in_orders(self, query_id: str, orders: IntArray) -> TieGroups:
        """Orderings of one query's list as lists of their own, with no ties left.

        Args:
            query_id: which list.
            orders: (n_orders, n_docs) documents, top first.
        """
        counted = self.grades[orders] > 0
        lists, places = np.nonzero(counted)
        documents = orders[counted]
        ones = np.ones_like(lists)
        return TieGroups(
            judgments=self.judgments.repeated(pc.index(self.query_ids, query_id).as_py(), len(orders)),
            n_docs=np.full(len(orders), orders.shape[1]),
            lists=lists,
            above=places,
            size=ones,
            first=np.arange(len(lists)),
            grades=self.grades[documents],
            targets=None if self.targets is None else self.targets[documents],
        )


def _score_columns(table: pa.Table, tiebreak_by: Sequence[str]) -> list[str]:
    for name in tiebreak_by:
        if name not in table.column_names or not pa.types.is_floating(table[name].type):
            scores = [field.name for field in table.schema if pa.types.is_floating(field.type)]
            raise UsageError(f"There is no score column {name!r} to break ties by. There are: {scores}.")
    return ["score", *tiebreak_by]
