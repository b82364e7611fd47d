"""Documents that nobody judged, counted by query: those that may be relevant beside the judged ones."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from metrics.runs.query_doc_keys import Hashes, QueryDocKeys
from metrics.runs.stacks import RunStack
from metrics.support.arrays import BoolArray, FloatArray, IntArray, places_in

_ROWS = 2**16
"""Rows numbered at once: few enough to stay in the cache."""


class OpenDocuments(NamedTuple):
    """What nobody judged of some queries, and what it may be.

    Attributes:
        counts: (n_queries,) documents of each judged query that some reranker has and nobody judged; none where
            relevance stands beside the scores.
        grades: (n_levels,) distinct grades above 0 that judgments give, the lowest first.
    """

    counts: IntArray
    grades: FloatArray


def find_open_documents(stacks: Sequence[RunStack], qrels: pa.Table | None, queries: pa.Array) -> OpenDocuments:
    """Return what nobody judged."""
    if qrels is None:
        return OpenDocuments(np.zeros(0, np.int64), grades_of([stack.table for stack in stacks]))
    rows = [
        unjudged_rows(stack.pairs, stack.judgment < 0, queries)
        for stack in stacks
        if stack.judgment is not None
    ]
    return OpenDocuments(count_distinct(rows, len(queries)), grades_of([qrels]))


def unjudged_rows(pairs: QueryDocKeys, is_unjudged: BoolArray, queries: pa.Array) -> Hashes:
    """Return a number of the document of each row that nobody judged: the place of its query, then of its hash.

    Args:
        pairs: query and document of each row.
        is_unjudged: (n_rows,) whether nobody judged it.
        queries: the judged queries; rows of others are left out.
    """
    hashes, places = pairs.hashes, places_in(pairs.queries, queries)
    if (places < 0).any():
        is_unjudged = is_unjudged & (places >= 0).take(pairs.query)
    n_bits = _place_bits(len(queries))
    leading, numbers = places.astype(np.uint64) << (64 - n_bits), [np.empty(0, np.uint64)]
    for start in range(0, len(hashes), _ROWS):
        rows = start + np.flatnonzero(is_unjudged[start : start + _ROWS])
        numbers.append((hashes.take(rows) >> n_bits) | leading.take(pairs.query.take(rows)))
    return np.concatenate(numbers)


def count_distinct(documents: list[Hashes], n_queries: int) -> IntArray:
    """Return the (n_queries,) distinct documents of each query, of their numbers as of `unjudged_rows`."""
    numbers = np.concatenate([np.empty(0, np.uint64), *documents])
    numbers.sort()
    is_first = np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)]
    places = numbers.take(np.flatnonzero(is_first)) >> (64 - _place_bits(n_queries))
    return np.bincount(places.astype(np.int64), minlength=n_queries)


def _place_bits(n_queries: int) -> np.uint64:
    """Return the leading bits that hold the place of a query."""
    return np.uint64(n_queries.bit_length())


def grades_of(tables: list[pa.Table]) -> FloatArray:
    """Return the (n_levels,) distinct grades above 0, the lowest first."""
    grades = np.unique(np.concatenate([table["relevance"].to_numpy() for table in tables]))
    return np.asarray(grades[grades > 0])
