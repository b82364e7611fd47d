"""Sorting many short lists at once, without a loop over them."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

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
