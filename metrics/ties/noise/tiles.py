"""Stretches of scores over which noisy orders are integrated, and the chances that scores lie above them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from metrics.errors import needs
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.support.cached import cached_property
from metrics.ties.noise.model import MAX_STRETCHES, REACH, Spreads, refuse_long, refuse_wide

EVEN_NODES = 6
"""Nodes of a stretch of normal scores whose standard deviations are alike."""
_EVEN_STEP = 0.35 * EVEN_NODES
"""Longest such stretch, in standard deviations."""
_STEP = 1.5
"""Longest stretch where they differ, in the smallest that reaches into it."""
_PLAIN_CROWD = 15
"""Documents within 1.5 standard deviations of one up to which that serves."""
_CLOSER = 1.15
"""Factor between the crowds that are told apart."""
_DEGREE = 128
"""Documents up to which a stretch of even scores that they reach into is integrated exactly."""


@dataclass(frozen=True, eq=False)
class Tiles:
    """Stretches of scores in which some member may lie; the order of the documents outside is certain.

    Attributes:
        cluster: (n,) cluster of each, a place among those given.
        origin: (n,) score that `low` and `high` are counted from, so that small noise loses no digit.
        low: (n,) lower end.
        high: (n,) upper end.
        first: (n,) first document that reaches into it; the documents of the list before are above.
        end: (n,) the document after the last that does; those from here on are below.
        is_alike: (n,) whether all scores of its cluster are normal with one standard deviation.
    """

    cluster: IntArray
    origin: FloatArray
    low: FloatArray
    high: FloatArray
    first: IntArray
    end: IntArray
    is_alike: BoolArray

    @classmethod
    def of(cls, spreads: Spreads, starts: IntArray, sizes: IntArray, members: IntArray) -> "Tiles":
        """Cut clusters into stretches.

        Args:
            spreads: of all documents.
            starts: (n_clusters,) first document of each cluster, rising.
            sizes: (n_clusters,) documents of each.
            members: documents of these clusters whose places matter, rising.

        Returns:
            The stretches in which some member may lie.

        Raises:
            UsageError: a cluster asks for too many, or has standard deviations too far apart.
        """
        owner, documents = _documents(starts, sizes)
        smallest, unit, is_alike = _units(spreads, starts, sizes, documents)
        is_bordered = ~is_alike[owner]
        is_member = np.zeros(len(documents), dtype=bool)
        is_member[np.searchsorted(documents, members)] = True
        is_bordered |= is_member
        owner, documents, is_member = owner[is_bordered], documents[is_bordered], is_member[is_bordered]
        if spreads.is_normal:
            n_borders = 2 * REACH * np.where(is_alike, 1, 2) * smallest / unit  # of a document, at most
            refuse_long(sizes, np.bincount(owner, minlength=len(starts)) * n_borders, MAX_STRETCHES)
        origin = spreads.scores[starts]
        border_of, border, change = _borders(
            spreads, documents, origin[owner], smallest[owner], unit[owner], is_member
        )
        owner = owner[border_of]
        order = np.lexsort((border, owner))
        owner, border = owner[order], border[order]
        n_members = np.cumsum(change[order])
        is_tile = (owner[1:] == owner[:-1]) & (border[1:] > border[:-1]) & (n_members[:-1] > 0)
        cluster = owner[:-1][is_tile]
        low, high = (ends[is_tile] * unit[cluster] for ends in (border[:-1], border[1:]))
        bounds = starts[cluster], starts[cluster] + sizes[cluster]
        first = _bisect(*bounds, spreads.lowest, origin[cluster], high)
        end = _bisect(*bounds, spreads.highest, origin[cluster], np.nextafter(low, np.inf))
        # Borders on the grid lie outside the reach of what asks for them: no member may reach into the last.
        is_reached = np.subtract(*np.searchsorted(members, [end, first])) > 0
        cluster, low, high, first, end = (part[is_reached] for part in (cluster, low, high, first, end))
        if not spreads.is_normal:
            n_pieces = -(-(end - first) // _DEGREE)
            n_stretches = np.asarray(np.bincount(cluster, n_pieces, len(sizes)), dtype=np.float64)
            refuse_long(sizes, n_stretches, MAX_STRETCHES)
            tile, low, high = _pieces(n_pieces, low, high)
            cluster, first, end = cluster[tile], first[tile], end[tile]
        return cls(cluster, origin[cluster], low, high, first, end, is_alike[cluster])


def _documents(starts: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return every document of clusters, and before it the place of its cluster."""
    return np.repeat(np.arange(len(starts)), sizes), joined_ranges(starts, sizes)


def _units(
    spreads: Spreads, starts: IntArray, sizes: IntArray, documents: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the smallest spread and stretch of each cluster, and whether all standard deviations are alike.

    Then the members alone ask for borders; where spreads differ or end abruptly, every document does.
    """
    if not spreads.is_normal:
        return np.ones(len(starts)), np.ones(len(starts)), np.zeros(len(starts), dtype=bool)
    scale = spreads.scale[documents]
    first = np.cumsum(sizes) - sizes
    smallest, largest = np.minimum.reduceat(scale, first), np.maximum.reduceat(scale, first)
    is_alike = smallest == largest
    span = np.where(is_alike, 0.0, spreads.highest[starts] - spreads.lowest[starts + sizes - 1])
    refuse_wide(span, smallest)
    crowding = np.sqrt(np.maximum(_crowds(spreads, starts, sizes, documents) / _PLAIN_CROWD, 1))
    return smallest, smallest * np.where(is_alike, _EVEN_STEP, _STEP) / crowding, is_alike


def _crowds(spreads: Spreads, starts: IntArray, sizes: IntArray, documents: IntArray) -> IntArray:
    """Return (n_clusters,) about how many documents at most stand within 1.5 standard deviations of one.

    How many of n such documents are above x is told by x but for a part of 1/sqrt(n) of a standard deviation:
    nodes must be as close.
    """
    scores, reach = spreads.scores[documents], 1.5 * spreads.scale[documents]
    owner = np.repeat(np.arange(len(starts)), sizes)
    crowds = np.ones(len(starts), dtype=np.int64)
    n, largest = 2, int(sizes.max(initial=0))
    while n <= largest:
        first, last = slice(None, len(scores) - n + 1), slice(n - 1, None)
        is_close = (scores[first] - scores[last] <= np.maximum(reach[first], reach[last])) & (
            owner[first] == owner[last]
        )
        if not is_close.any():
            break
        n = max(n + 1, int(n * _CLOSER))
        crowds[owner[first][is_close]] = n - 1
    return crowds


def _borders(
    spreads: Spreads,
    documents: IntArray,
    origin: FloatArray,
    smallest: FloatArray,
    unit: FloatArray,
    is_member: BoolArray,
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return borders of stretches that documents ask for, in units, and how many members begin or end there.

    A normal score asks for cells of a grid that is doubled with its standard deviation over the smallest: the
    grids of all are nested, so that the finest that reaches a stretch decides. An even score asks for its ends.
    """
    if not spreads.is_normal:
        ends = np.concatenate([spreads.low[documents] - origin, spreads.high[documents] - origin])
        change = np.concatenate([is_member.astype(np.int64), -is_member.astype(np.int64)])
        return np.tile(np.arange(len(documents)), 2), ends, change
    center = (spreads.scores[documents] - origin) / unit
    scale = spreads.scale[documents] / unit
    cell = np.exp2(np.floor(np.log2(spreads.scale[documents] / smallest)))
    low = np.floor((center - REACH * scale) / cell)
    n_borders = (np.ceil((center + REACH * scale) / cell) - low).astype(np.int64) + 1
    border_of = np.repeat(np.arange(len(documents)), n_borders)
    last = np.cumsum(n_borders) - 1
    first = last - n_borders + 1
    border = (low[border_of] + np.arange(len(border_of)) - first[border_of]) * cell[border_of]
    change = np.zeros(len(border_of), dtype=np.int64)
    change[first[is_member]], change[last[is_member]] = 1, -1
    return border_of, border, change


def _pieces(n_pieces: IntArray, low: FloatArray, high: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return stretches of even scores in as many pieces as keep each polynomial within reach of the nodes."""
    tile = np.repeat(np.arange(len(n_pieces)), n_pieces)
    piece = joined_ranges(np.zeros_like(n_pieces), n_pieces)
    width = (high - low)[tile] / n_pieces[tile]
    return tile, low[tile] + piece * width, low[tile] + (piece + 1) * width


def _bisect(
    first: IntArray, end: IntArray, sorted_scores: FloatArray, origin: FloatArray, bound: FloatArray
) -> IntArray:
    """Return the first place of each range where values, less an origin, are below a bound, or its end."""
    first, end = first.copy(), end.copy()
    while (first < end).any():
        middle = (first + end) // 2
        is_below = sorted_scores[np.minimum(middle, len(sorted_scores) - 1)] - origin < bound
        is_open = first < end
        end = np.where(is_open & is_below, middle, end)
        first = np.where(is_open & ~is_below, middle + 1, first)
    return first


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
        with needs("stats"):
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
