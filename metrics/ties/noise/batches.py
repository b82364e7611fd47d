"""Noisy orders of documents: tiles of like width side by side, and the documents that reach into each."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.ties.noise.model import Spreads, refuse_long
from metrics.ties.noise.tiles import EVEN_NODES, Tails, TailTable, Tiles, level_rows, tails_of

_CELLS = 2**16
"""Numbers of one table: it stays in the processor's cache."""
_NODES = 8
"""Nodes of a stretch of normal scores whose standard deviations differ."""
_HEIGHT = 1 / math.sqrt(2 * math.pi)


_EVEN = (np.arange(EVEN_NODES) + 0.5) / EVEN_NODES, np.full(EVEN_NODES, 1 / EVEN_NODES)
"""Nodes in (0, 1) and weights where all scores are normal and alike."""


def power_of_two(numbers: IntArray) -> IntArray:
    """Return (n,) the power of two that is not below each: so a choice by it ignores what stands beside."""
    return np.left_shift(1, np.ceil(np.log2(np.maximum(numbers, 1))).astype(np.int64))


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
        first: (n,) first document that reaches into each.
        end: (n,) the document after the last that does.
        members: (n, n_members) place of each member that reaches into the tile among all, -1 past the last.
        documents: (n_members, n) its document, -1 past the last.
        others: (n_others, n) the documents beside them, -1 past the last.
        table: chances that documents are above the nodes.
    """

    spreads: Spreads
    tiles: IntArray
    origin: FloatArray
    nodes: FloatArray
    weights: FloatArray
    first: IntArray
    end: IntArray
    members: IntArray
    documents: IntArray
    others: IntArray
    table: TailTable

    def tails(self, documents: IntArray) -> FloatArray:
        """Return (..., n, n_nodes) the chance that (..., n) documents of tiles are above nodes: 0 for -1."""
        rows = np.where(documents < 0, 0, self.table.base + self.spreads.level[documents])
        return np.take(self.table.values, rows, axis=0)

    @cached_property
    def densities(self) -> FloatArray:
        """(n_members + 1, n, n_nodes) density of each member at the nodes, times their weights; last 0."""
        spreads, documents = self.spreads, self.documents
        location = spreads.scores if spreads.is_normal else spreads.high
        is_one = documents >= 0
        offset = np.where(is_one, location[documents] - self.origin, -np.inf)
        per_unit = (1 / spreads.scale[np.where(is_one, documents, self.first)])[:, :, None]
        distance = np.empty((len(documents) + 1, *self.nodes.shape))
        distance[-1] = -np.inf
        np.subtract(offset[:, :, None], self.nodes, out=distance[:-1])
        distance[:-1] *= per_unit
        if spreads.is_normal:
            distance *= distance
            distance *= -0.5
            np.exp(distance, out=distance)
            distance *= _HEIGHT * self.weights
        else:
            distance = np.where((distance > 0) & (distance < 1), self.weights, 0.0)
        distance[:-1] *= per_unit
        return distance


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
        products: what one measure leaves for the next: generating functions of the others.
    """

    spreads: Spreads
    documents: IntArray
    tiles: Tiles
    clusters: IntArray
    above: IntArray
    members_above: IntArray
    products: dict[tuple[int, bytes], list[tuple[Batch, FloatArray]]] = field(default_factory=dict, repr=False)

    @property
    def sizes(self) -> IntArray:
        """(n_tiles,) documents that reach into each tile, or stand between two that do."""
        return self.tiles.end - self.tiles.first

    @cached_property
    def _neighbours(self) -> IntArray:
        """Every document that is no member."""
        is_other = np.ones(len(self.spreads.scores), dtype=bool)
        is_other[self.documents] = False
        return np.flatnonzero(is_other)

    @cached_property
    def n_members(self) -> IntArray:
        """(n_tiles,) members that reach into each tile, or stand between two that do."""
        first, end = np.searchsorted(self.documents, [self.tiles.first, self.tiles.end])
        return np.asarray(end - first)

    def expected_above(self, selection: BoolArray) -> FloatArray:
        """Return (n_selected,) how many documents but members are expected above the upper end of tiles."""
        spreads, tiles = self.spreads, self.tiles
        n_others = np.diff(
            np.searchsorted(self._neighbours, np.append(spreads.level_starts, len(spreads.scores)))
        )
        sums: list[FloatArray] = [np.empty(0)]
        for part, owner, level in level_rows(spreads, tiles, np.flatnonzero(selection)):
            documents, ends = spreads.level_starts[level], tiles.high[part][owner]
            tails = tails_of(spreads, documents, tiles.origin[part][owner], ends[:, None])[:, 0]
            sums.append(np.bincount(owner, tails * n_others[level], minlength=len(part)).astype(np.float64))
        return np.concatenate(sums)

    def batches(self, selection: BoolArray, depth: IntArray) -> Iterator[Batch]:
        """Yield tiles of like width together, few enough that their tables stay small.

        Args:
            selection: (n_tiles,) which.
            depth: (n_tiles,) rows of a table of each.

        Raises:
            UsageError: a list is too long for that.
        """
        self._refuse_long(selection, depth)
        for n_nodes in np.unique(self._n_nodes[selection]).tolist():
            nodes = legendre(n_nodes) if n_nodes else _EVEN
            order = np.flatnonzero(selection & (self._n_nodes == n_nodes))
            order = order[np.lexsort((self.sizes[order], self.n_members[order], depth[order]))]
            end = len(order)
            while end > 0:
                step = max(1, _CELLS // (len(nodes[0]) * int(depth[order[end - 1]])))
                yield self._batch(order[max(0, end - step) : end], *nodes)
                end -= step

    def _refuse_long(self, selection: BoolArray, depth: IntArray) -> None:
        """Raise a UsageError where a row for each document at each node of a cluster's tiles is too much."""
        n_nodes = np.where(self._n_nodes == 0, EVEN_NODES, self._n_nodes)
        steps = np.where(selection, n_nodes * 1.0 * depth * self.sizes, 0.0)
        sums = np.asarray(np.bincount(self.clusters, steps), dtype=np.float64)
        first, end = np.full(len(sums), len(self.spreads.scores)), np.zeros(len(sums), dtype=np.int64)
        np.minimum.at(first, self.clusters, self.tiles.first)
        np.maximum.at(end, self.clusters, self.tiles.end)
        refuse_long(end - first, sums)

    @cached_property
    def _tails(self) -> Tails:
        return Tails(self.spreads, self.tiles)

    @cached_property
    def _n_nodes(self) -> IntArray:
        """(n_tiles,) nodes of Gauss and Legendre; 0 for even ones, which go on from tile to tile.

        A product of chances of even scores is a polynomial of lower degree than there are documents: exact.
        """
        if self.spreads.is_normal:
            return np.where(self.tiles.is_alike, 0, _NODES)
        return np.minimum(64, power_of_two(self.sizes) // 2 + 1)

    def _batch(self, part: IntArray, nodes: FloatArray, weights: FloatArray) -> Batch:
        tiles = self.tiles
        first, end, low = tiles.first[part], tiles.end[part], tiles.low[part]
        width = tiles.high[part] - low
        others = _ranges(*np.searchsorted(self._neighbours, [first, end]))
        members = _ranges(*np.searchsorted(self.documents, [first, end]))
        return Batch(
            spreads=self.spreads,
            tiles=part,
            origin=tiles.origin[part],
            nodes=low[:, None] + width[:, None] * nodes,
            weights=width[:, None] * weights,
            first=first,
            end=end,
            members=members,
            documents=np.where(members >= 0, self.documents[members], -1).T,
            others=np.where(others >= 0, self._neighbours[others], -1).T if len(self._neighbours) else others.T,
            table=self._tails.table(part, nodes),
        )


def _ranges(first: IntArray, end: IntArray) -> IntArray:
    """Return (n, longest) the whole numbers from each first to before its end, then -1."""
    place = first[:, None] + np.arange(int((end - first).max(initial=0)))
    return np.where(place < end[:, None], place, -1)


@dataclass(frozen=True, eq=False)
class NoisyOrder:
    """How likely the orders of documents are inside groups whose order is open.

    A group whose documents have one score and one spread is a tie: all its orders are equally likely,
    whatever the noise. The others are mixed.

    Attributes:
        spreads: where the true scores of all documents lie.
        starts: (n_groups,) first document of each group.
        sizes: (n_groups,) documents of each.
        above: (n_groups,) documents of the list certainly above each.
        documents: (n_contributing,) the contributing documents, rising.
        n_contributing: (n_groups,) how many of them each group has.
    """

    spreads: Spreads
    starts: IntArray
    sizes: IntArray
    above: IntArray
    documents: IntArray
    n_contributing: IntArray
    _memo: dict[bytes, tuple[IntArray, Members]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def is_mixed(self) -> BoolArray:
        """(n_groups,) whether its orders are not equally likely."""
        return ~self.spreads.are_ties(self.starts, self.sizes)

    @cached_property
    def owner(self) -> IntArray:
        """(n_contributing,) group of each contributing document."""
        return np.repeat(np.arange(len(self.starts)), self.n_contributing)

    def members(self, selection: BoolArray) -> tuple[IntArray, Members]:
        """Return those of chosen contributing documents that are in mixed groups, ready to be integrated.

        Measures that choose the same share what is computed of them.

        Args:
            selection: (n_contributing,) which.

        Returns:
            (n_members,) their places among the contributing documents, and the members.
        """
        key = selection.tobytes()
        if key not in self._memo:
            self._memo[key] = self._members(np.flatnonzero(selection & self.is_mixed[self.owner]))
        return self._memo[key]

    def _members(self, places: IntArray) -> tuple[IntArray, Members]:
        clusters = np.unique(self.owner[places])
        starts, documents = self.starts[clusters], self.documents[places]
        tiles = Tiles.of(self.spreads, starts, self.sizes[clusters], documents)
        start = starts[tiles.cluster]
        members = Members(
            spreads=self.spreads,
            documents=documents,
            tiles=tiles,
            clusters=clusters[tiles.cluster],
            above=self.above[clusters][tiles.cluster] + tiles.first - start,
            members_above=np.subtract(*np.searchsorted(documents, [tiles.first, start])),
        )
        return places, members
