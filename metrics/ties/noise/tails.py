"""Chances that scores lie above the nodes of tiles: computed once, whatever measures ask for them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.support.cached import cached_property
from metrics.ties.noise.model import Spreads
from metrics.ties.noise.tiles import Tiles

_MAX_SHARED = 2**24
"""Numbers of a table that is kept for further measures."""
_ROWS = 2**13
"""Levels whose chances are computed in one go: they stay in the processor's cache."""


def tails_of(spreads: Spreads, documents: IntArray, origin: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return (n, n_nodes) the chance that each document is above scores.

    Args:
        spreads: of all documents.
        documents: (n,) which.
        origin: (n,) score that the nodes are counted from.
        nodes: (n, n_nodes) scores; they are overwritten.
    """
    location = spreads.scores if spreads.is_normal else spreads.high
    np.subtract((location[documents] - origin)[:, None], nodes, out=nodes)
    nodes *= (1 / spreads.scale[documents])[:, None]
    if spreads.is_normal:
        from scipy.special import ndtr  # noqa: PLC0415 only where scores are noisy

        return np.asarray(ndtr(nodes, out=nodes))
    return np.clip(nodes, 0, 1, out=nodes)


def level_range(spreads: Spreads, tiles: Tiles, part: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first level of scores that reaches into each of some tiles, and how many do.

    Args:
        spreads: of all documents.
        tiles: all of them.
        part: (n,) which.
    """
    first = spreads.level[tiles.first[part]]
    return first, spreads.level[tiles.end[part] - 1] - first + 1


def level_rows(spreads: Spreads, tiles: Tiles, part: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield some of the tiles, and a place among them and a level for each level that reaches into one.

    Arguments are those of `level_range`.
    """
    first, n_levels = level_range(spreads, tiles, part)
    end = np.cumsum(n_levels)
    cuts = np.flatnonzero(np.diff(end // _ROWS, prepend=0)) + 1
    for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(part)], strict=True):
        if start < stop:
            n = n_levels[start:stop]
            owner = np.repeat(np.arange(stop - start), n)
            yield part[start:stop], owner, joined_ranges(first[start:stop], n)


@dataclass(frozen=True, eq=False)
class TailTable:
    """A row of chances for each tile and each level of scores that reaches into it; zeros in the first row.

    Attributes:
        values: (n_rows, n_nodes) the chances.
        base: (n_tiles,) row of a level of documents, less the level.
    """

    values: FloatArray
    base: IntArray


@dataclass(frozen=True, eq=False)
class Tails:
    """Tables of chances, shared by all that ask for them where they are small enough to be kept.

    Attributes:
        spreads: of all documents.
        tiles: stretches of scores.
        tables: of a number of nodes: the table of all tiles, and which of them were computed.
    """

    spreads: Spreads
    tiles: Tiles
    tables: dict[int, tuple[TailTable, BoolArray]] = field(default_factory=dict)

    def table(self, part: IntArray, nodes: FloatArray) -> TailTable:
        """Return the chances of documents in some tiles.

        Args:
            part: (n,) the tiles.
            nodes: (n_nodes,) in (0, 1): where in each tile the scores are that the chances are of.

        Returns:
            The table; its `base` is that of these tiles.
        """
        n_nodes = len(nodes)
        if self._n_rows * n_nodes > _MAX_SHARED:
            table = self._room(part, n_nodes)
            self._fill(table, part, nodes)
            return table
        if n_nodes not in self.tables:
            all_tiles = np.arange(len(self.tiles.first))
            self.tables[n_nodes] = self._room(all_tiles, n_nodes), np.zeros(len(all_tiles), dtype=bool)
        table, is_computed = self.tables[n_nodes]
        missing = part[~is_computed[part]]
        self._fill(TailTable(table.values, table.base[missing]), missing, nodes)
        is_computed[missing] = True
        return TailTable(table.values, table.base[part])

    @cached_property
    def _n_rows(self) -> int:
        """Rows of a table of all tiles."""
        return int(level_range(self.spreads, self.tiles, np.arange(len(self.tiles.first)))[1].sum())

    def _room(self, part: IntArray, n_nodes: int) -> TailTable:
        """Return a table with room for the chances of some tiles: it costs nothing until they are written."""
        first, n_levels = level_range(self.spreads, self.tiles, part)
        end = np.cumsum(n_levels)
        values = np.empty((1 + int(n_levels.sum()), n_nodes))
        values[0] = 0
        return TailTable(values, 1 + end - n_levels - first)

    def _fill(self, table: TailTable, part: IntArray, nodes: FloatArray) -> None:
        """Write the chances of tiles into a table whose `base` is theirs."""
        tiles, start = self.tiles, 0
        for chunk, owner, level in level_rows(self.spreads, tiles, part):
            low, high = tiles.low[chunk], tiles.high[chunk]
            scores = low[:, None] + (high - low)[:, None] * nodes
            documents = self.spreads.level_starts[level]
            rows = table.base[start : start + len(chunk)][owner] + level
            table.values[rows] = tails_of(self.spreads, documents, tiles.origin[chunk][owner], scores[owner])
            start += len(chunk)
