"""Documents that nobody judged, counted by query: those that may be relevant beside the judged ones."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.query_doc_keys import Hashes, QueryDocKeys
from metrics.support.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from metrics.runs.model import Runs


class OpenDocuments(NamedTuple):
    """What nobody judged of some queries, and what it may be.

    Attributes:
        counts: (n_queries,) documents of each judged query that some reranker has and nobody judged; none where
            relevance stands beside the scores.
        grades: (n_levels,) distinct grades above 0 that judgments give, the lowest first.
    """

    counts: IntArray
    grades: FloatArray

    @classmethod
    def of(cls, runs: "Runs") -> "OpenDocuments":
        """Return those of all rerankers."""
        if runs.qrels is None:
            return cls(np.zeros(0, np.int64), grades_of([stack.table for stack in runs.stacks.stacks]))
        hashes = [stack.pairs.hashes for stack in runs.stacks.stacks]  # which are dropped as stacks are matched
        rows = [
            unjudged_rows(stack.pairs, own_hashes, stack.judgment < 0, runs.judged_pairs.queries)
            for own_hashes, stack in zip(hashes, runs.matched_stacks.stacks, strict=True)
            if stack.judgment is not None
        ]
        return cls(count_distinct(rows, len(runs.judged_pairs.queries)), grades_of([runs.qrels]))


def unjudged_rows(
    pairs: QueryDocKeys, hashes: Hashes, is_unjudged: BoolArray, queries: pa.Array
) -> tuple[Hashes, IntArray]:
    """Return the documents of rows that nobody judged: hashes of query and document, and places of queries.

    Args:
        pairs: query and document of each row.
        hashes: (n_rows,) of these.
        is_unjudged: (n_rows,) whether nobody judged it.
        queries: the judged queries; rows of others are left out.
    """
    places = np.asarray(pc.fill_null(pc.index_in(pairs.queries, value_set=queries), -1)).astype(np.int64)
    places = places[pairs.query]
    rows = np.flatnonzero(is_unjudged & (places >= 0))
    return hashes[rows], places[rows]


def count_distinct(rows: list[tuple[Hashes, IntArray]], n_queries: int) -> IntArray:
    """(n_queries,) distinct documents of each query, of hashes of query and document, and places of queries."""
    hashes, places = (
        np.concatenate([np.empty(0, kind), *(part[column] for part in rows)])
        for column, kind in ((0, np.uint64), (1, np.int64))
    )
    is_first = ~pd.Index(hashes).duplicated()
    return np.bincount(places[is_first].astype(np.int64), minlength=n_queries)


def grades_of(tables: list[pa.Table]) -> FloatArray:
    """(n_levels,) distinct grades above 0, the lowest first."""
    grades = np.unique(np.concatenate([table["relevance"].to_numpy() for table in tables]))
    return np.asarray(grades[grades > 0])
