"""Work of uneven depth in tables of bounded size, without a loop over single items."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from metrics.support.arrays import IntArray

_CELLS = 2**21
"""Cells of one table."""


def batch_by_depth(depth: IntArray) -> Iterator[tuple[IntArray, int]]:
    """Yield places of items whose (n,) depths differ by less than a factor of two, not 0, and the largest."""
    largest = int(depth.max(initial=0))
    order = np.flatnonzero(depth > 0)
    if largest > 1:
        order = order[np.argsort(depth[order], kind="stable")]
    bounds = np.searchsorted(depth[order], 2 ** np.arange(largest.bit_length() + 1))
    for low, high in pairwise(bounds.tolist()):
        if low < high:
            deepest = int(depth[order[high - 1]])
            step = max(1, _CELLS // deepest)
            for start in range(low, high, step):
                yield order[start : min(start + step, high)], deepest
