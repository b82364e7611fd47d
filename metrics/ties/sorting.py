"""Sorting many short lists at once, without a loop over them."""

from collections.abc import Sequence

import numpy as np

from metrics.arrays import BoolArray, FloatArray, IntArray

_CELLS = 2**24
"""Places, padding included, that are sorted at once."""


def segments(lists: IntArray) -> tuple[IntArray | None, IntArray, IntArray]:
    """Bring the rows of each list together, in the order of the first row of each; leave out list -1.

    Args:
        lists: (n_rows,) list of each row.

    Returns:
        (n_docs,) row of each document, None where that is every row in its place, (n_segments,) list of
        each segment, (n_segments + 1,) first
        document of each segment and the end.
    """
    cuts = np.flatnonzero(lists[1:] != lists[:-1]) + 1
    starts = np.concatenate([[0], cuts, [len(lists)]]) if len(lists) else np.zeros(1, dtype=np.int64)
    owner = lists[starts[:-1]]
    if len(owner) and np.bincount(owner + 1).max() > 1:
        _, appearance = np.unique(lists, return_index=True)
        place = np.empty(int(lists.max()) + 2, dtype=np.int64)
        place[lists[np.sort(appearance)] + 1] = np.arange(len(appearance))
        rows = np.argsort(place[lists + 1], kind="stable")
        together, owner, starts = segments(lists[rows])
        return rows if together is None else rows[together], owner, starts
    if (owner < 0).any():
        rows = np.flatnonzero(lists >= 0)
        lengths = np.diff(starts)[owner >= 0]
        return rows, owner[owner >= 0], np.concatenate([[0], np.cumsum(lengths)])
    return None, owner, starts


def falling(keys: Sequence[FloatArray], starts: IntArray) -> tuple[IntArray, BoolArray]:
    """Sort each segment by falling keys; later keys decide where earlier ones are level.

    Args:
        keys: (n_docs,) each.
        starts: (n_segments + 1,) first document of each segment and the end.

    Returns:
        (n_docs,) documents in order, and whether each is the first of its tie group.
    """
    if len(keys) == 1:
        order = _falling_one(keys[0], starts)
    else:
        segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((*(-key for key in reversed(keys)), segment))
    first = np.zeros(len(order), dtype=bool)
    first[starts[:-1]] = True
    for key in keys:
        ordered = key[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    return order, first


def _falling_one(key: FloatArray, starts: IntArray) -> IntArray:
    """Sort segments of like length together, as rows of a padded table; padding sorts last as NaN."""
    lengths = np.diff(starts)
    if len(lengths) and lengths.min() == lengths.max() and len(key) <= _CELLS:
        order = np.argsort(-key.reshape(len(lengths), -1), axis=1)
        return np.ravel(order + starts[:-1, None])
    order = np.empty(len(key), dtype=np.int64)
    width_class = np.ceil(np.log(np.maximum(lengths, 1)) / np.log(1.25)).astype(np.int64)
    for width in np.unique(width_class):
        same = np.flatnonzero(width_class == width)
        widest = int(lengths[same].max())
        step = max(1, _CELLS // max(widest, 1))
        for at in range(0, len(same), step):
            part = same[at : at + step]
            documents = starts[part, None] + np.arange(widest)
            within = np.arange(widest) < lengths[part, None]
            table = np.where(within, -key[np.where(within, documents, 0)], np.nan)
            order[documents[within]] = (np.argsort(table, axis=1) + starts[part, None])[within]
    return order
