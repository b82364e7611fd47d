"""Array types, and operations on arrays; numpy alone."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
_CELLS = 2**21
"""Most cells of a batch of `batch_by_depth`."""


def span_starts(*columns: npt.NDArray[np.generic]) -> IntArray:
    """Return the (n_spans,) start of each span of neighbours that are equal in all columns."""
    is_first = np.zeros(len(columns[0]), dtype=bool)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first.nonzero()[0]


def span_lengths(starts: IntArray, end: int) -> IntArray:
    """Return the (n_spans,) length of each span, the last of which reaches to the end."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = end - starts[-1:]
    return lengths


def joined_ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """Concatenate the ranges from each start with its length."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(lengths.sum()))


def histogram(values: FloatArray, n_bins: int) -> tuple[IntArray, FloatArray]:
    """Count values in bins of equal width between the smallest and largest value.

    Values are scaled before subtraction, so that neighbouring and extreme floats work. Equal values fall into
    the middle bin. Infinite values and NaN are not counted.

    Returns (n_bins,) counts and (n_bins,) centers.
    """
    finite = values[np.isfinite(values)].astype(np.float64)
    if not len(finite):
        return np.zeros(n_bins, np.int64), np.zeros(n_bins)
    low, high = finite.min(), finite.max()
    scale = max(abs(low), abs(high)) or 1.0
    scaled = finite / scale - low / scale
    span = scaled.max()
    counts, _ = np.histogram(scaled / span if span else scaled + 1 / 2, n_bins, (0, 1))
    share = (np.arange(n_bins) + 1 / 2) / n_bins
    return counts, np.clip((low / scale + share * span) * scale, low, high)


def from_tensor(values: Any) -> Any:  # noqa: ANN401 as they came
    """Return a tensor as an array of its precision (bfloat16 of torch as float32), other values unchanged."""
    if not hasattr(values, "detach"):
        has_numbers_of_its_own = hasattr(values, "__dlpack__") and not hasattr(values, "__array__")
        return np.from_dlpack(values) if has_numbers_of_its_own else values
    tensor = values.detach().cpu()
    return (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()


def batch_by_depth(depth: IntArray) -> Iterator[tuple[IntArray, int]]:
    """Yield batches of places with similar (n,) depths above 0, and the largest depth of each."""
    if len(depth) == 1 and depth[0] > 0:
        yield np.zeros(1, np.int64), int(depth[0])
        return
    n_bits = np.frexp(depth)[1].astype(np.uint8)
    order = np.argsort(n_bits, kind="stable")
    bounds = np.searchsorted(n_bits, np.arange(1, int(n_bits.max(initial=0)) + 2), sorter=order)
    for low, high in pairwise(bounds.tolist()):
        if low < high:
            deepest = int(depth[order[low:high]].max())
            step = max(1, _CELLS // deepest)
            for start in range(low, high, step):
                yield order[start : min(start + step, high)], deepest


_SORTED_CELLS = 2**24
"""Most cells, with padding, sorted at once."""


def sort_descending(
    keys: Sequence[FloatArray], starts: IntArray
) -> tuple[IntArray | slice, list[FloatArray], IntArray]:
    """Sort each segment by falling keys; later keys break ties of earlier ones.

    Shapes: `keys` (n_docs,) each, `starts` (n_segments + 1,).

    Returns the (n_docs,) order (a slice if already sorted), the sorted keys, and the (n_groups,) start of each
    tie group.
    """
    first = np.zeros(len(keys[0]), dtype=bool)
    first[starts[:-1]] = True
    order: IntArray | slice = slice(None)  # most files are sorted
    if len(keys) > 1:
        segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((*(-key for key in reversed(keys)), segment))
    elif (~first[1:] & (keys[0][1:] > keys[0][:-1])).any():
        order = _sort_by_one_key(keys[0], starts)
    ordered = [key[order] for key in keys]
    for key in ordered:
        first[1:] |= key[1:] != key[:-1]
    return order, ordered, first.nonzero()[0]


def _sort_by_one_key(key: FloatArray, starts: IntArray) -> IntArray:
    """Sort segments of similar length together, as rows of a table padded with NaN, which sorts last."""
    lengths = np.diff(starts)
    if len(lengths) and lengths.min() == lengths.max() and len(key) <= _SORTED_CELLS:
        order_by_segment = np.argsort(-key.reshape(len(lengths), -1), axis=1)
        order_by_segment += starts[:-1, None]
        return np.ravel(order_by_segment)
    order = np.empty(len(key), dtype=np.int64)
    width_class = np.ceil(np.log(np.maximum(lengths, 1)) / np.log(1.25)).astype(np.int64)
    for width in np.unique(width_class):
        segments = np.flatnonzero(width_class == width)
        widest = int(lengths[segments].max())
        step = max(1, _SORTED_CELLS // max(widest, 1))
        for start in range(0, len(segments), step):
            part = segments[start : start + step]
            documents = starts[part, None] + np.arange(widest)
            within = np.arange(widest) < lengths[part, None]
            table = np.where(within, -key[np.where(within, documents, 0)], np.nan)
            order[documents[within]] = (np.argsort(table, axis=1) + starts[part, None])[within]
    return order
