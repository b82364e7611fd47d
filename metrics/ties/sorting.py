"""Sorting many short lists at once, without a loop over them, and orders inside their ties."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow.compute as pc

from metrics.runs.query_doc_keys import reseed
from metrics.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from metrics.ties.groups import ScoredGroups
    from metrics.ties.ranking import Ranking

Key = Callable[["Ranking", "ScoredGroups"], IntArray]
"""(n,) whole numbers from 0 for the documents of some tie groups; the smallest first in a group."""

_CELLS = 2**24
"""Places, padding included, that are sorted at once."""


def sort_descending(
    keys: Sequence[FloatArray], starts: IntArray, *, is_stable: bool = False
) -> tuple[IntArray | slice, list[FloatArray], IntArray]:
    """Sort each segment by falling keys; later keys decide where earlier ones are level.

    Args:
        keys: (n_docs,) each.
        starts: (n_segments + 1,) first document of each segment and the end.
        is_stable: whether level documents stay in the order in which they came; else any is as good.

    Returns:
        (n_docs,) documents in order, all of them as a slice where they are so already, their keys, and
            (n_groups,) the first document of each tie group.
    """
    first = np.zeros(len(keys[0]), dtype=bool)
    first[starts[:-1]] = True
    order: IntArray | slice = slice(None)  # as in most files, which need no copy
    if len(keys) > 1:
        segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((*(-key for key in reversed(keys)), segment))
    elif (~first[1:] & (keys[0][1:] > keys[0][:-1])).any():
        order = _sort_by_one_key(keys[0], starts, "stable" if is_stable else "quicksort")
    ordered = [key[order] for key in keys]
    for key in ordered:
        first[1:] |= key[1:] != key[:-1]
    return order, ordered, np.flatnonzero(first)


def _sort_by_one_key(key: FloatArray, starts: IntArray, kind: Literal["stable", "quicksort"]) -> IntArray:
    """Sort segments of like length together, as rows of a padded table; padding sorts last as NaN."""
    lengths = np.diff(starts)
    if len(lengths) and lengths.min() == lengths.max() and len(key) <= _CELLS:
        order_by_segment = np.argsort(-key.reshape(len(lengths), -1), axis=1, kind=kind)
        order_by_segment += starts[:-1, None]
        return np.ravel(order_by_segment)
    order = np.empty(len(key), dtype=np.int64)
    width_class = np.ceil(np.log(np.maximum(lengths, 1)) / np.log(1.25)).astype(np.int64)
    for width in np.unique(width_class):
        segments = np.flatnonzero(width_class == width)
        widest = int(lengths[segments].max())
        step = max(1, _CELLS // max(widest, 1))
        for start in range(0, len(segments), step):
            part = segments[start : start + step]
            documents = starts[part, None] + np.arange(widest)
            within = np.arange(widest) < lengths[part, None]
            table = np.where(within, -key[np.where(within, documents, 0)], np.nan)
            order[documents[within]] = (np.argsort(table, axis=1, kind=kind) + starts[part, None])[within]
    return order


def input_order(ranking: "Ranking", scored: "ScoredGroups") -> IntArray:
    """Return the row of each document in its table."""
    return ranking.rows[scored.documents]


def docid_ascending(ranking: "Ranking", scored: "ScoredGroups") -> IntArray:
    """Place of each document's id by code point; UTF-8 bytes sort like code points."""
    ranks = pc.rank(ranking.ids(scored.documents), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks).astype(np.int64)


def docid_descending(ranking: "Ranking", scored: "ScoredGroups") -> IntArray:
    """Place of each document's id from the last code point on."""
    ascending = docid_ascending(ranking, scored)
    return np.asarray(ascending.max(initial=0) - ascending)


def seeded_order(seed: int) -> Key:
    """Order by a hash of seed, query and document: even, and the same whatever else is in the table."""

    def key(ranking: "Ranking", scored: "ScoredGroups") -> IntArray:
        hashes = reseed(ranking.pairs.hashes[ranking.rows[scored.documents]], seed)
        rank = np.empty(len(hashes), dtype=np.int64)
        rank[np.argsort(hashes, kind="stable")] = np.arange(len(hashes))
        return rank

    return key
