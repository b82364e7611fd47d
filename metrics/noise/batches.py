"""Tiles of like width side by side, each with nodes of integration and the documents that reach into it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from metrics.noise.model import Spreads
from metrics.noise.tiles import Tiles
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property

_CELLS = 2**16
"""Numbers of one table: it stays in the processor's cache."""
_NODES = 8
"""Nodes of a stretch of normal scores."""
_SQRT_TAU = np.sqrt(2 * np.pi)


@lru_cache(maxsize=64)
def legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes in (0, 1) and weights of Gauss and Legendre: exact up to degree 2n - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


@dataclass(frozen=True, eq=False)
class Batch:
    """Some tiles.

    Attributes:
        spreads: of all documents.
        tiles: (n,) their numbers.
        origin: (n,) score their nodes are counted from.
        nodes: (n, n_nodes) scores of integration, less the origin.
        weights: (n, n_nodes) of the nodes.
        members: (n, n_members) place of each member that reaches into the tile among all, -1 past the last.
        others: (n_others, n) the documents beside them, -1 past the last.
    """

    spreads: Spreads
    tiles: IntArray
    origin: FloatArray
    nodes: FloatArray
    weights: FloatArray
    members: IntArray
    others: IntArray

    def tail(self, documents: IntArray) -> FloatArray:
        """(n, n_nodes) the chance that the document of each tile is above the nodes: 0 for -1."""
        if self.spreads.is_normal:
            from scipy.special import ndtr  # noqa: PLC0415 only where scores are noisy

            return np.asarray(ndtr(-self._standardised(documents)))
        return np.asarray(np.clip(1 - self._standardised(documents), 0, 1))

    def density(self, documents: IntArray) -> FloatArray:
        """(n, n_nodes) density of the document of each tile at the nodes, times their weights: 0 for -1."""
        z = self._standardised(documents)
        if self.spreads.is_normal:
            density = np.exp(-0.5 * z * z) / _SQRT_TAU
        else:
            density = ((z > 0) & (z < 1)).astype(np.float64)
        return np.asarray(density * (self.weights / self.spreads.scale[documents][:, None]))

    def _standardised(self, documents: IntArray) -> FloatArray:
        """(n, n_nodes) nodes in standard deviations from the score of a document, or in widths from its end."""
        spreads = self.spreads
        given = spreads.scores if spreads.is_normal else spreads.low
        base = np.where(documents >= 0, given[documents] - self.origin, -np.inf)
        return np.asarray((self.nodes - base[:, None]) / spreads.scale[documents][:, None])


@dataclass(frozen=True, eq=False)
class Members:
    """Documents whose places matter, among all of their clusters.

    Attributes:
        spreads: of all documents.
        documents: (n_members,) rising.
        tiles: stretches of scores that members reach into.
        clusters: (n_tiles,) cluster of each.
        above: (n_tiles,) documents of the list certainly above each.
        members_above: (n_tiles,) members of the cluster among them.
    """

    spreads: Spreads
    documents: IntArray
    tiles: Tiles
    clusters: IntArray
    above: IntArray
    members_above: IntArray

    @cached_property
    def _others(self) -> IntArray:
        """Every document that is no member."""
        is_other = np.ones(len(self.spreads.scores), dtype=bool)
        is_other[self.documents] = False
        return np.flatnonzero(is_other)

    def batches(self, wanted: BoolArray, depth: IntArray) -> Iterator[Batch]:
        """Yield tiles of like width together, few enough that their tables stay small.

        Args:
            wanted: (n_tiles,) which.
            depth: (n_tiles,) rows of a table of each.
        """
        tiles = self.tiles
        order = np.flatnonzero(wanted)
        order = order[np.lexsort(((tiles.end - tiles.first)[order], depth[order]))]
        end = len(order)
        while end > 0:
            widest = int(order[end - 1])
            n_nodes = self._n_nodes(int(tiles.end[widest] - tiles.first[widest]))
            step = max(1, _CELLS // (n_nodes * int(depth[widest])))
            part = order[max(0, end - step) : end]
            yield self._batch(part)
            end -= len(part)

    def _n_nodes(self, n_documents: int) -> int:
        """Nodes that integrate a product of so many chances: of even scores, of degree below it, exactly."""
        return _NODES if self.spreads.is_normal else min(64, max(4, n_documents // 2 + 1))

    def _batch(self, part: IntArray) -> Batch:
        tiles = self.tiles
        first, end, low, width = (
            tiles.first[part],
            tiles.end[part],
            tiles.low[part],
            (tiles.high - tiles.low)[part],
        )
        nodes, weights = legendre(self._n_nodes(int((end - first).max())))
        others = _ranges(*np.searchsorted(self._others, [first, end]))
        return Batch(
            spreads=self.spreads,
            tiles=part,
            origin=tiles.origin[part],
            nodes=low[:, None] + width[:, None] * nodes,
            weights=width[:, None] * weights,
            members=_ranges(*np.searchsorted(self.documents, [first, end])),
            others=np.where(others >= 0, self._others[others], -1).T if len(self._others) else others.T,
        )


def _ranges(first: IntArray, end: IntArray) -> IntArray:
    """(n, longest) the whole numbers from each first to before its end, then -1."""
    place = first[:, None] + np.arange(int((end - first).max(initial=0)))
    return np.where(place < end[:, None], place, -1)
