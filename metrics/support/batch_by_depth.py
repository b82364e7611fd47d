"""Work of uneven depth in tables of bounded size, without a loop over single items."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from metrics.support.arrays import IntArray

_CELLS = 2**21
"""Cells of one table."""


def batch_by_depth(depth: IntArray) -> Iterator[tuple[IntArray, int]]:
    """Yield places of items whose (n,) depths differ by less than a factor of two, not 0, and the largest."""
    n_bits = np.frexp(depth)[1].astype(np.uint8)  # which sorts in no time
    order = np.argsort(n_bits, kind="stable")
    bounds = np.searchsorted(n_bits, np.arange(1, int(n_bits.max(initial=0)) + 2), sorter=order)
    for low, high in pairwise(bounds.tolist()):
        if low < high:
            deepest = int(depth[order[low:high]].max())
            step = max(1, _CELLS // deepest)
            for start in range(low, high, step):
                yield order[start : min(start + step, high)], deepest
