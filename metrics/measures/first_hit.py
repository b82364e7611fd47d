"""Measures of the rank of the first relevant document."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth
from metrics.ties.groups import TieGroups

_NEGLIGIBLE = -60.0
"""Log of a chance that does not change a sum in float64: later ranks are left out."""
_MAX_MEMOIZED = 2**20
"""Most ranks whose chances are cached for the next measure."""

_Table = tuple[IntArray, FloatArray, FloatArray]


def first_hit(value: Callable[[FloatArray], FloatArray]) -> Family:
    """Return a measure that is `value(rank of the first relevant document)`, 0 past the cut-off.

    Only the first group with a relevant document counts. With b documents above it,
    E = sum over l of P(l) * value(b + l), l from 1 to min(n - r + 1, k - b); P as in
    `first_relevant_rank`. The variance is that of `value` under the same P.

    Source: McSherry & Najork, Computing information retrieval performance measures efficiently in
    the presence of tied scores, ECIR 2008.
    """

    def mean(groups: TieGroups, k: Parameter) -> FloatArray:
        means = np.zeros(groups.judgments.n_lists)
        for leading, chance, values in _places(groups, k, value):
            means[groups.lists[leading]] = (chance * values).sum(axis=1)
        return means

    def variance(groups: TieGroups, k: Parameter) -> FloatArray:
        variances = np.zeros(groups.judgments.n_lists)
        for leading, chance, values in _places(groups, k, value):
            mean = (chance * values).sum(axis=1)
            spread = (chance * (values - mean[:, None]) ** 2).sum(axis=1)
            size = groups.size[leading]
            beyond = chance_of_none(size, groups.relevant[leading], groups.within(k)[leading])
            variances[groups.lists[leading]] = spread + beyond * mean**2
        return variances

    return Family("first_hit", mean, variance, by_first_rank=True)


def _places(
    groups: TieGroups, k: Parameter, value: Callable[[FloatArray], FloatArray]
) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Yield leading groups with the chance and value of each rank within the cut-off."""
    depth = groups.memoize(_depths, lambda: _depths(groups))
    tables: Iterable[_Table]
    if depth.sum() <= _MAX_MEMOIZED:
        tables = groups.memoize(_tables, lambda: list(_tables(groups, depth)))
    else:
        within = depth if k is None else np.clip(int(k) - groups.above[groups.leading], 0, depth)
        tables = _tables(groups, within)
    for group, rank, chance in tables:
        yield group, chance if k is None else np.where(rank <= k, chance, 0.0), value(rank)


def _depths(groups: TieGroups) -> IntArray:
    """Return the (n_leading,) ranks of each leading group that can matter."""
    size, relevant = groups.size[groups.leading], groups.relevant[groups.leading]
    negligible = np.ceil(-size * np.expm1(_NEGLIGIBLE / relevant)).astype(np.int64)
    return np.asarray(np.minimum(size - relevant + 1, negligible))


def _tables(groups: TieGroups, depth: IntArray) -> Iterator[_Table]:
    """Yield leading groups of similar depth, (n, depth) ranks of their documents, and the chance of each."""
    for part, deepest in batch_by_depth(depth):
        group = groups.leading[part]
        rank = groups.above[group, None] + np.arange(1.0, deepest + 1)
        yield group, rank, first_relevant_rank(groups.size[group], groups.relevant[group], deepest)


def first_relevant_rank(size: IntArray, relevant: IntArray, depth: int) -> FloatArray:
    """Return the chance that the first relevant document of a tie group is at each of its ranks.

    P(l) = C(n - l, r - 1) / C(n, r), computed as the running product of r/n and (n - r - l + 1) / (n - l), so
    that a group of a million documents is exact to rounding.

    Shapes: `size` (n_groups,) documents n, `relevant` (n_groups,) of them relevant, r >= 1.

    Returns (n_groups, depth) chances of rank 1, 2, ...; 0 past rank n - r + 1.
    """
    places = np.arange(1, depth)
    chance = np.empty((len(size), depth))
    chance[:, 0] = relevant / size
    unmarked = np.maximum((size - relevant)[:, None] - places + 1, 0)
    np.divide(unmarked, np.maximum(size[:, None] - places, 1), out=chance[:, 1:])
    return np.multiply.accumulate(chance, axis=1, out=chance)


def chance_of_none(size: IntArray, marked: IntArray, within: IntArray) -> FloatArray:
    """Return the chance that none of some marked documents of a tie group is among its first ranks.

    C(n - t, m) / C(n, m), as the product of (n - max(t, m) - j) / (n - j), j from 0 to min(t, m) - 1.

    Shapes: `size` (n,), `marked` (n,), `within` (n,).
    """
    chances = np.ones(len(size))
    smaller, larger = np.minimum(marked, within), np.maximum(marked, within)
    for part, deepest in batch_by_depth(smaller):
        steps = np.arange(deepest)
        factors = np.clip((size - larger)[part, None] - steps, 0, None) / np.clip(
            size[part, None] - steps, 1, None
        )
        factors[steps >= smaller[part, None]] = 1
        chances[part] = factors.prod(axis=1)
    return chances


def chance_of_some(size: IntArray, marked: IntArray, within: IntArray) -> FloatArray:
    """Return 1 - `chance_of_none`, also accurate where it is small: the sum of `first_relevant_rank`.

    Shapes: `size` (n,), `marked` (n,), `within` (n,).
    """
    chances = np.zeros(len(size))
    smaller, larger = np.minimum(marked, within), np.maximum(marked, within)
    for part, deepest in batch_by_depth(smaller):
        chance = first_relevant_rank(size[part], larger[part], deepest)
        chances[part] = np.where(np.arange(deepest) < smaller[part, None], chance, 0).sum(axis=1)
    return chances
