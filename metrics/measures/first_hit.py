"""Measures of the rank of the first relevant document."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from metrics.measures.model import Family
from metrics.ties.permutations import first_relevant_rank
from metrics.ties.ranking import FloatArray, IntArray
from metrics.ties.treatments import TieGroups

_CELLS = 2**22
"""Places held in memory at once."""


def first_hit(value: Callable[[FloatArray], FloatArray]) -> Family:
    """A measure that is `value(rank of the first relevant document)`, 0 past the cut-off.

    Only the first group with a relevant document counts. With b documents above it,
    E = sum over l of P(l) * value(b + l), l from 1 to min(n - r + 1, k - b); P as in
    `first_relevant_rank`.

    Source: McSherry & Najork, Computing information retrieval performance measures efficiently in
    the presence of tied scores, ECIR 2008.
    """

    def family(groups: TieGroups, k: int | None) -> FloatArray:
        lists, first = np.unique(groups.lists, return_index=True)
        kinds = np.stack([groups.above[first], groups.size[first], groups.relevant[first]])
        (above, size, relevant), which = np.unique(kinds, axis=1, return_inverse=True)
        result = np.zeros(groups.n_lists)
        result[lists] = _expectation(value, above, size, relevant, k)[which]
        return result

    return family


def _expectation(
    value: Callable[[FloatArray], FloatArray],
    above: IntArray,
    size: IntArray,
    relevant: IntArray,
    k: int | None,
) -> FloatArray:
    """(n,) expectation for groups of these kinds; groups of like depth are taken together."""
    depth = size - relevant + 1
    if k is not None:
        depth = np.clip(k - above, 0, depth)
    result = np.zeros(len(above))
    order = np.argsort(depth, kind="stable")
    order = order[depth[order] > 0]
    bounds = np.searchsorted(np.log2(depth[order]), np.arange(64))
    for low, high in pairwise(bounds):
        if low == high:
            continue
        deepest = int(depth[order[high - 1]])
        step = max(1, _CELLS // deepest)
        for at in range(low, high, step):
            part = order[at : min(at + step, high)]
            chance = first_relevant_rank(size[part], relevant[part], deepest)
            place = np.arange(1, deepest + 1)
            rank = (above[part, None] + place).astype(np.float64)
            within = place <= depth[part, None]
            result[part] = np.sum(chance * value(rank), axis=1, where=within)
    return result
