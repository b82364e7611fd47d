"""Expected worth and precision of documents whose scores are noisy, integrated over stretches of scores.

A stretch is called a tile. With J the number of documents above a score, E[t^J] is a product of chances.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from metrics.errors import needs
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges, span_starts
from metrics.support.cached import cached_property
from metrics.ties.noise import MAX_STRETCHES, REACH, Spreads, refuse_long, refuse_wide

EVEN_NODES = 6
"""Nodes of a tile of normal scores with one standard deviation."""
_EVEN_STEP = 0.35 * EVEN_NODES
"""Longest such tile, in standard deviations."""
_STEP = 1.5
"""Longest tile where standard deviations differ, in the smallest that reaches into it."""
_PLAIN_CROWD = 15
"""Most documents within 1.5 standard deviations of one for which `_STEP` is short enough."""
_CLOSER = 1.15
"""Factor between the sizes of crowds that are tried."""
_DEGREE = 128
"""Most documents that reach into a tile of uniform scores that is integrated exactly."""


@dataclass(frozen=True, eq=False)
class Tiles:
    """Stretches of scores that members may fall into.

    Attributes:
        cluster: (n,) index of the cluster of each tile.
        origin: (n,) score that `low` and `high` are counted from, so that small noise loses no digit.
        low: (n,) lower end.
        high: (n,) upper end.
        first: (n,) first document that reaches into it; the earlier documents of the list are above.
        end: (n,) the document after the last that does; it and later ones are below.
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
        """Cut clusters into tiles."""
        owner, documents = np.repeat(np.arange(len(starts)), sizes), joined_ranges(starts, sizes)
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
        # Borders are on a grid, outside the reach of their documents: no member may reach into the last tile.
        is_reached = np.subtract(*np.searchsorted(members, [end, first])) > 0
        cluster, low, high, first, end = (part[is_reached] for part in (cluster, low, high, first, end))
        if not spreads.is_normal:
            n_pieces = -(-(end - first) // _DEGREE)
            n_stretches = np.asarray(np.bincount(cluster, n_pieces, len(sizes)), dtype=np.float64)
            refuse_long(sizes, n_stretches, MAX_STRETCHES)
            tile, low, high = _pieces(n_pieces, low, high)
            cluster, first, end = cluster[tile], first[tile], end[tile]
        return cls(cluster, origin[cluster], low, high, first, end, is_alike[cluster])


def _units(
    spreads: Spreads, starts: IntArray, sizes: IntArray, documents: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the smallest scale and the tile length of each cluster, and whether its scales are all equal."""
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
    """Estimate (n_clusters,) the largest number of documents within 1.5 standard deviations of one.

    With n such documents, the number above x changes within 1/sqrt(n) of a standard deviation of x: nodes must
    be as close as that.
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
    """Return the tile borders that documents need, in units, and how many members begin or end there.

    A normal score needs the cells of a grid whose step doubles with its standard deviation over the smallest.
    The grids are nested, so the finest in a stretch decides. A uniform score needs its ends.
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
    tile = np.repeat(np.arange(len(n_pieces)), n_pieces)
    piece = joined_ranges(np.zeros_like(n_pieces), n_pieces)
    width = (high - low)[tile] / n_pieces[tile]
    return tile, low[tile] + piece * width, low[tile] + (piece + 1) * width


def _bisect(
    first: IntArray, end: IntArray, sorted_scores: FloatArray, origin: FloatArray, bound: FloatArray
) -> IntArray:
    """Return the first index of each range where the score, less the origin, is below the bound, or its end."""
    first, end = first.copy(), end.copy()
    while (first < end).any():
        middle = (first + end) // 2
        is_below = sorted_scores[np.minimum(middle, len(sorted_scores) - 1)] - origin < bound
        is_open = first < end
        end = np.where(is_open & is_below, middle, end)
        first = np.where(is_open & ~is_below, middle + 1, first)
    return first


_ROWS = 2**13
"""Levels whose chances are computed together."""


def tails_of(spreads: Spreads, documents: IntArray, origin: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return (n, n_nodes) the chance that each document is above scores; `nodes` is overwritten."""
    location = spreads.scores if spreads.is_normal else spreads.high
    np.subtract((location[documents] - origin)[:, None], nodes, out=nodes)
    nodes *= (1 / spreads.scale[documents])[:, None]
    if spreads.is_normal:
        with needs("stats"):
            from scipy.special import ndtr  # noqa: PLC0415 only where scores are noisy

        return np.asarray(ndtr(nodes, out=nodes))
    return np.clip(nodes, 0, 1, out=nodes)


def level_range(spreads: Spreads, tiles: Tiles, part: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first level of scores that reaches into each tile of `part`, and how many levels do."""
    first = spreads.level[tiles.first[part]]
    return first, spreads.level[tiles.end[part] - 1] - first + 1


def level_rows(spreads: Spreads, tiles: Tiles, part: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield some of the tiles, with the tile and the level of each level that reaches into one."""
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
    """The chance that documents are above the nodes of some tiles.

    Attributes:
        values: (n_rows, n_nodes) a row for each tile and each level of scores in it; zeros in the first row.
        base: (n_tiles,) row of a level of documents, less the level.
    """

    values: FloatArray
    base: IntArray

    @classmethod
    def of(cls, spreads: Spreads, tiles: Tiles, part: IntArray, nodes: FloatArray) -> "TailTable":
        """Compute the chances of the tiles of `part`."""
        first, n_levels = level_range(spreads, tiles, part)
        base, start = 1 + np.cumsum(n_levels) - n_levels - first, 0
        values = np.zeros((1 + int(n_levels.sum()), len(nodes)))
        for chunk, owner, level in level_rows(spreads, tiles, part):
            low, high = tiles.low[chunk], tiles.high[chunk]
            scores = low[:, None] + (high - low)[:, None] * nodes
            documents = spreads.level_starts[level]
            rows = base[start : start + len(chunk)][owner] + level
            values[rows] = tails_of(spreads, documents, tiles.origin[chunk][owner], scores[owner])
            start += len(chunk)
        return cls(values, base)


_CELLS = 2**16
"""Numbers of one table."""
_NODES = 8
"""Nodes of a tile of normal scores with different standard deviations."""
_HEIGHT = 1 / math.sqrt(2 * math.pi)


_EVEN = (np.arange(EVEN_NODES) + 0.5) / EVEN_NODES, np.full(EVEN_NODES, 1 / EVEN_NODES)
"""Nodes in (0, 1) and weights where all scores are normal with one standard deviation."""


def power_of_two(numbers: IntArray) -> IntArray:
    """Return (n,) the smallest power of two that is not below each number."""
    return np.left_shift(1, np.ceil(np.log2(np.maximum(numbers, 1))).astype(np.int64))


@lru_cache(maxsize=64)
def legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes in (0, 1) and weights: exact up to degree 2n - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


@dataclass(frozen=True, eq=False)
class Batch:
    """Some tiles that are integrated together.

    Attributes:
        spreads: of all documents.
        tiles: (n,) their numbers.
        origin: (n,) score that their nodes are counted from.
        nodes: (n, n_nodes) nodes of integration, less the origin.
        weights: (n, n_nodes) of the nodes.
        first: (n,) first document that reaches into each.
        members: (n, n_members) index of each member that reaches into the tile, -1 past the last.
        documents: (n_members, n) its document, -1 past the last.
        others: (n_others, n) the other documents that reach into it, -1 past the last.
        table: chances that documents are above the nodes.
    """

    spreads: Spreads
    tiles: IntArray
    origin: FloatArray
    nodes: FloatArray
    weights: FloatArray
    first: IntArray
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
    """The documents whose ranks matter to a measure.

    Attributes:
        spreads: of all documents.
        documents: (n_members,) rising.
        tiles: the tiles that members reach into.
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

    @property
    def sizes(self) -> IntArray:
        """(n_tiles,) documents that reach into each tile, or are between two that do."""
        return self.tiles.end - self.tiles.first

    @cached_property
    def _neighbours(self) -> IntArray:
        is_other = np.ones(len(self.spreads.scores), dtype=bool)
        is_other[self.documents] = False
        return np.flatnonzero(is_other)

    @cached_property
    def n_members(self) -> IntArray:
        """(n_tiles,) members that reach into each tile, or are between two that do."""
        first, end = np.searchsorted(self.documents, [self.tiles.first, self.tiles.end])
        return np.asarray(end - first)

    def expected_above(self, selection: BoolArray) -> FloatArray:
        """Return (n_selected,) the expected number of non-members above the upper end of tiles."""
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
        """Yield tiles of similar width together, few enough that their tables stay small."""
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
        n_nodes = np.where(self._n_nodes == 0, EVEN_NODES, self._n_nodes)
        steps = np.where(selection, n_nodes * 1.0 * depth * self.sizes, 0.0)
        sums = np.asarray(np.bincount(self.clusters, steps), dtype=np.float64)
        first, end = np.full(len(sums), len(self.spreads.scores)), np.zeros(len(sums), dtype=np.int64)
        np.minimum.at(first, self.clusters, self.tiles.first)
        np.maximum.at(end, self.clusters, self.tiles.end)
        refuse_long(end - first, sums)

    @cached_property
    def _n_nodes(self) -> IntArray:
        """(n_tiles,) number of Gauss-Legendre nodes; 0 for evenly spaced nodes.

        Uniform scores are integrated exactly: the product of their chances is a polynomial of lower degree than
        there are documents.
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
            members=members,
            documents=np.where(members >= 0, self.documents[members], -1).T,
            others=np.where(others >= 0, self._neighbours[others], -1).T if len(self._neighbours) else others.T,
            table=TailTable.of(self.spreads, tiles, part, nodes),
        )


def _ranges(first: IntArray, end: IntArray) -> IntArray:
    """Return (n, longest) the whole numbers from each first to before its end, then -1."""
    place = first[:, None] + np.arange(int((end - first).max(initial=0)))
    return np.where(place < end[:, None], place, -1)


@dataclass(frozen=True, eq=False)
class NoisyOrder:
    """How likely each order of documents is inside groups that noise may reorder.

    A group whose documents have one score and one standard deviation is a tie: all its orders are equally
    likely. The other groups are mixed.

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
        """(n_groups,) whether some orders are likelier than others."""
        return ~self.spreads.are_ties(self.starts, self.sizes)

    @cached_property
    def owner(self) -> IntArray:
        """(n_contributing,) group of each contributing document."""
        return np.repeat(np.arange(len(self.starts)), self.n_contributing)

    def members(self, selection: BoolArray) -> tuple[IntArray, Members]:
        """Return the selected contributing documents in mixed groups: their indices, and as members."""
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


Value = Callable[[FloatArray], FloatArray]
"""(n,) ranks, from 1 → what each is worth."""
Take = Callable[[FloatArray, FloatArray, int], None]
"""(distribution of documents above, chance that one more is above, how many were added) → added in place."""
SHALLOW = 24
"""Largest depth at which counting is as fast as a generating function."""
_NODES_PER_ROOT = 2.2
"""Nodes of t over the square root of the deepest rank."""
_CHUNK = 7
"""Documents whose product is expanded in powers of t before it is evaluated at the nodes."""
_FIRSTS = 1024
"""Number of first ranks that are all fitted, and of further ranks, evenly spaced on a log scale."""
_UNTHREADED = 2**17
"""Largest matrix product that one thread computes."""
_RESIDUAL = 1e-10
"""Largest error of a sum of powers for the worth of a rank, over the largest worth."""


def n_powers(deepest: IntArray) -> IntArray:
    """Return how many Gauss-Legendre nodes of t integrate every power below `deepest` to 1e-9."""
    return np.asarray(np.ceil(_NODES_PER_ROOT * np.sqrt(deepest)).astype(np.int64) + 1)


@lru_cache(maxsize=64)
def powers_of(value: Value, deepest: int) -> tuple[FloatArray, FloatArray] | None:
    """Return t and w such that every rank is worth the sum of w t^(rank - 1); None where no sum is near.

    Then E[value(1 + J)] is the sum of w E[t^J]. The weights are fitted by least squares.
    """
    firsts, further = np.arange(1.0, min(deepest, _FIRSTS) + 1), np.geomspace(1, deepest, _FIRSTS).round()
    places = np.union1d(firsts, further)
    worth = value(places)
    t = legendre(int(n_powers(np.array(deepest))))[0]
    powers = t ** (places[:, None] - 1)
    weights = np.asarray(np.linalg.lstsq(powers, worth, rcond=1e-13)[0], dtype=np.float64)
    largest = np.abs(worth).max(initial=0)
    is_near = np.abs(powers @ weights - worth).max(initial=0) <= _RESIDUAL * largest
    return (t, weights) if is_near and np.abs(weights).max(initial=0) <= largest / _RESIDUAL**0.5 else None


def take_count(counts: FloatArray, tail: FloatArray, n_taken: int) -> None:
    """Add a document to the distribution of how many are above: q_j <- q_j + p (q_(j-1) - q_j)."""
    end = min(n_taken + 2, len(counts))
    step = counts[: end - 1] - counts[1:end]
    step *= tail
    counts[1:end] += step
    counts[0] *= 1 - tail


def power_taker(t: FloatArray) -> Take:
    """Return a function that adds a document to E[t^J]: it multiplies by 1 - p + p t."""
    complement = (1 - t)[:, None, None]

    def take_power(products: FloatArray, tail: FloatArray, _: int) -> None:
        factor = complement * tail
        np.subtract(1, factor, out=factor)
        products *= factor

    return take_power


def none_above(batch: Batch, depth: int) -> FloatArray:
    """Return (depth, n_tiles, n_nodes) the distribution of how many are above, before any is added."""
    counts = np.zeros((depth, *batch.nodes.shape))
    counts[0] = 1
    return counts


def at_powers(powers: FloatArray, counts: FloatArray) -> FloatArray:
    """Return (n_t, n_tiles * n_nodes) sums over j of t^j times counts, by one thread."""
    columns = counts.reshape(len(counts), -1)
    sums = np.empty((len(powers), columns.shape[1]))
    step = max(1, _UNTHREADED // powers.size)
    for start in range(0, columns.shape[1], step):
        np.matmul(powers, columns[:, start : start + step], out=sums[:, start : start + step])
    return sums


def products_over_others(
    members: Members, selection: BoolArray, t: FloatArray
) -> Iterator[tuple[Batch, FloatArray]]:
    """Yield batches of tiles with (n_t, n_tiles, n_nodes) E[t^J], J the non-members above.

    Documents of the list that are certainly above are included.
    """
    for batch in members.batches(selection, np.maximum(len(t), members.n_members)):
        certain = t[:, None] ** members.above[batch.tiles].astype(np.float64)
        yield batch, _product_over_others(batch, t, certain)


def _product_over_others(batch: Batch, t: FloatArray, certain: FloatArray) -> FloatArray:
    """Return (n_t, n_tiles, n_nodes) the product of 1 + p u over the non-members, u = t - 1.

    It is expanded in powers of u for a few documents at a time: the coefficients are the elementary symmetric
    polynomials of their p, e_m <- e_m + p e_(m-1).
    """
    shape = batch.nodes.shape
    powers = (t[:, None] - 1) ** np.arange(_CHUNK + 1.0)
    product = np.repeat(certain, shape[1], axis=1)
    buffer = np.empty((_CHUNK, *shape))
    for start in range(0, len(batch.others), _CHUNK):
        tails = batch.tails(batch.others[start : start + _CHUNK])
        sums = np.zeros((len(tails) + 1, *shape))
        sums[0] = 1
        for n_taken, tail in enumerate(tails):
            np.multiply(sums[: n_taken + 1], tail, out=buffer[: n_taken + 1])
            sums[1 : n_taken + 2] += buffer[: n_taken + 1]
        product *= at_powers(powers[:, : len(sums)], sums)
    return product.reshape(len(t), *shape)


def first_documents(documents: IntArray, units: IntArray) -> IntArray:
    """Return (n_units,) the first document of each unit, of rising documents."""
    firsts = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.int64)
    firsts[units[::-1]] = documents[::-1]
    return firsts


@dataclass(frozen=True, eq=False)
class UnitBatch:
    """The members of a batch of tiles, in units of which only the highest document counts.

    Attributes:
        batch: the tiles.
        numbers: (n_rows, n_tiles) unit of each row, -1 where a tile has fewer.
        grid: (n_rows, most, n_tiles) column of each of its members in the tile, -1 past the last.
        is_alive: (n_rows, n_tiles) whether the highest of the unit may be in the tile: none is certainly above.
    """

    batch: Batch
    numbers: IntArray
    grid: IntArray
    is_alive: BoolArray

    @classmethod
    def of(cls, batch: Batch, members: Members, units: IntArray, tops: IntArray) -> "UnitBatch":
        """Arrange the members of tiles by unit; `tops` is the first document of each unit."""
        if np.array_equal(tops[units], members.documents):
            grid = batch.members.T[:, None]
            numbers = np.where(grid[:, 0] >= 0, units[grid[:, 0]], -1)
        else:
            numbers, grid = _by_unit(batch.members, units)
        is_alive = (numbers >= 0) & (tops[numbers] >= members.tiles.first[batch.tiles])
        return cls(batch, numbers, np.where(grid >= 0, grid - batch.members[:, 0], -1), is_alive)

    def summed(self, above: FloatArray, gains: FloatArray, take: Take, n_taken: int) -> FloatArray:
        """Return (n, n_tiles, n_nodes) the sum over units of gain, density and distribution of documents above.

        With g the distribution over the units added so far, h the sum and f the density of the next unit:
        h <- h (with the unit) + gain f g, then g <- g (with the unit). No unit is ever removed.

        Shapes: `above` (n, n_tiles, n_nodes), `gains` (n_units,).
        """
        if len(self.grid) > 1:
            above = above.copy()
        total, tile = above[:0], np.arange(above.shape[1])
        for row, columns in enumerate(self.grid):
            documents = self.batch.documents[columns, tile]
            tails = self.batch.tails(np.where(columns >= 0, documents, -1))
            density = self._density_of_highest(columns, tails)
            density *= np.where(self.is_alive[row], gains[self.numbers[row]], 0.0)[:, None]
            for place, tail in enumerate(tails if row else tails[:0]):
                take(total, tail, n_taken + place)
            if row:
                total += density * above
            else:
                total = density * above
            for place, tail in enumerate(tails if row + 1 < len(self.grid) else tails[:0]):
                take(above, tail, n_taken + place)
            n_taken += len(tails)
        return total

    def _density_of_highest(self, columns: IntArray, tails: FloatArray) -> FloatArray:
        """Return (n_tiles, n_nodes) density of the highest document: f <- f F_l + F f_l, F <- F F_l."""
        densities, tile = self.batch.densities, np.arange(columns.shape[1])
        density, below = densities[columns[0], tile], 1 - tails[0]
        for column, tail in zip(columns[1:], tails[1:], strict=True):
            is_below = 1 - tail
            density *= is_below
            density += below * densities[column, tile]
            below *= is_below
        return np.asarray(density)


def _by_unit(members: IntArray, units: IntArray) -> tuple[IntArray, IntArray]:
    tile, column = np.nonzero(members >= 0)
    member = members[tile, column]
    order = np.lexsort((units[member], tile))
    tile, member, unit = tile[order], member[order], units[member[order]]
    start = span_starts(tile, unit)
    n_members = np.diff(start, append=len(tile))
    number = np.repeat(np.arange(len(start)), n_members)
    row = (number - number[np.searchsorted(tile, tile)]) if len(tile) else number
    place = joined_ranges(np.zeros_like(start), n_members)
    shape = int(row.max(initial=-1)) + 1, int(place.max(initial=-1)) + 1, len(members)
    grid = np.full(shape, -1)
    grid[row, place, tile] = member
    numbers = np.full((shape[0], shape[2]), -1)
    numbers[row, tile] = unit
    return numbers, grid


_NEGLIGIBLE = 1e-9
"""Tiles with a smaller chance of a rank within the limit are left out."""


def expected_worth(
    members: Members, units: IntArray, gains: FloatArray, value: Value, limit: FloatArray
) -> FloatArray:
    """Return the expected sum, over the units of each cluster, of gain times the worth of its best rank.

    Let x be the true score of the highest document of a unit, with density sum f_i prod F_l, l the others of
    the unit. The number J of documents of other units, or of none, above x is a sum of independent chances
    p = 1 - F_l(x). Its distribution q_0, q_1, ... is built one document at a time, up to the limit:
    q_j <- q_j (1 - p) + q_(j-1) p. With b documents certainly above,

    E = integral of density(x) * sum over j of q_j(x) * value(b + 1 + j) dx.

    Where no limit applies and the worth is a sum of powers w t^(rank - 1), the inner sum is w t^b E[t^J], a
    product of n chances for each t.

    Nodes are at most 0.35 standard deviations apart with equal weights where all standard deviations of a
    cluster are equal. Otherwise eight Gauss-Legendre nodes cover at most 1.5 of the smallest one. Nodes get
    closer by 1/sqrt(n) where n documents are within 1.5 standard deviations. With one standard deviation the
    error is below 1e-6 of a measure's largest value for up to 1,000 documents, and grows by 1e-9 per further
    document. With different ones, values are within 2e-8 of adaptive quadrature in lists of five. Uniform
    scores are integrated exactly for up to 128 documents.

    Shapes: `units` (n_members,), `gains` (n_units,), `limit` (n_clusters,).

    Source of the recurrence: Hong, On computing the distribution function for the Poisson binomial
    distribution, Computational Statistics & Data Analysis 2013, section 2.
    """
    last = np.minimum(limit[members.clusters], members.above + members.sizes).astype(np.int64)
    depth = np.maximum(last - members.above, 0)
    is_whole = (depth == members.sizes) & (depth > SHALLOW)
    tops = first_documents(members.documents, units)
    sums = np.zeros(len(limit))
    deepest = power_of_two(last)
    for places in np.unique(deepest[is_whole]).tolist():
        powers = powers_of(value, places)
        if powers is None:
            is_whole &= deepest != places
            continue
        t, weights_of_t = powers
        for batch, product in products_over_others(members, is_whole & (deepest == places), t):
            totals = UnitBatch.of(batch, members, units, tops).summed(product, gains, power_taker(t), 0)
            terms = (weights_of_t @ totals.reshape(len(t), -1)).reshape(batch.nodes.shape)
            np.add.at(sums, members.clusters[batch.tiles], terms.sum(axis=1))
    worth = value(np.arange(1.0, int(last.max(initial=0)) + 1))
    for batch in members.batches(_is_reached(members, depth) & ~is_whole, depth):
        place = np.arange(int(depth[batch.tiles].max()))[:, None]
        is_worth = place < depth[batch.tiles]
        weights = np.where(is_worth, worth[np.where(is_worth, members.above[batch.tiles] + place, 0)], 0.0)
        counts = none_above(batch, len(place))
        for n_taken, column in enumerate(batch.others):
            take_count(counts, batch.tails(column), n_taken)
        of_units = UnitBatch.of(batch, members, units, tops)
        totals = of_units.summed(counts, gains, take_count, len(batch.others))
        terms = np.einsum("jtn,jt->tn", totals, weights)
        np.add.at(sums, members.clusters[batch.tiles], terms.sum(axis=1))
    return sums


def _is_reached(members: Members, depth: IntArray) -> BoolArray:
    """Return (n_tiles,) whether a document of each tile may rank within its depth.

    With mu > k documents expected above, the chance of fewer than k is at most exp(k - mu) (mu / k)^k, as for a
    Poisson count.

    Source: W. Hoeffding, On the distribution of the number of successes in independent trials, 1956.
    """
    is_reached = depth > 0
    is_open = is_reached & (depth < members.sizes / 2)
    expected, k = members.expected_above(is_open), depth[is_open]
    chance = np.where(expected > k, k - expected + k * np.log(np.maximum(expected, k) / k), 0.0)
    is_reached[is_open] = chance > np.log(_NEGLIGIBLE)
    return is_reached


def expected_precisions(members: Members, relevant_above: IntArray, limit: FloatArray) -> FloatArray:
    """Return the expected sum, over the relevant documents of each cluster, of the precision at their ranks.

    Given the true score x of a relevant document, J_rel relevant and J_other further documents are above it,
    independent sums of independent chances. With b documents certainly above, c of them relevant,

    E[(1 + c + J_rel)/(1 + b + J_rel + J_other)] = integral over t in (0, 1) of
    t^b * sum over j of (1 + c + j) P(J_rel = j) t^j * E[t^J_other],

    because 1/(1 + b + J) is the integral of t^(b + J). The second factor is a product of chances. The nodes of
    t keep the error below 1e-9. Where a limit applies, `_precisions_within` counts instead.

    Shapes: `relevant_above` (n_clusters,), `limit` (n_clusters,) last rank whose precision counts.
    """
    sums = np.zeros(len(relevant_above))
    relevant = relevant_above[members.clusters] + members.members_above
    n_nodes = n_powers(power_of_two(members.above + members.sizes))
    is_deep = members.sizes > SHALLOW
    depth = np.clip(limit[members.clusters] - members.above, 0, members.sizes).astype(np.int64)
    is_whole = depth == members.sizes
    for batch in members.batches(_is_reached(members, depth) & ~is_whole, 2 * depth):
        terms = _precisions_within(batch, members, relevant[batch.tiles], depth[batch.tiles])
        np.add.at(sums, members.clusters[batch.tiles], terms)
    for n_t in np.unique(n_nodes[is_whole]).tolist():
        t, weights = legendre(n_t)
        for selection in (
            is_whole & is_deep,
            is_whole & ~is_deep,
        ):  # of similar depth: their tables are smaller
            for batch, product in products_over_others(members, selection & (n_nodes == n_t), t):
                terms = _terms(batch, members, relevant[batch.tiles], t, weights, product)
                np.add.at(sums, members.clusters[batch.tiles], terms)
    return sums


def _terms(
    batch: Batch,
    members: Members,
    relevant: IntArray,
    t: FloatArray,
    weights: FloatArray,
    product: FloatArray,
) -> FloatArray:
    own_unit = np.arange(len(members.documents))
    of_units = UnitBatch.of(batch, members, own_unit, members.documents)
    counts = of_units.summed(none_above(batch, len(of_units.grid)), np.ones(len(own_unit)), take_count, 0)
    place = np.arange(float(len(counts)))
    counts *= (1 + relevant + place[:, None])[:, :, None]
    products = at_powers(t[:, None] ** place, counts)
    products *= product.reshape(products.shape)
    return np.asarray((weights @ products).reshape(batch.nodes.shape).sum(axis=1))


def _precisions_within(batch: Batch, members: Members, relevant: IntArray, depth: IntArray) -> FloatArray:
    """Return (n_tiles,) the sum of the precisions at the first ranks of each tile.

    With q_j the chance that j documents are above, s_j is the expected number of relevant ones times q_j:
    s_j <- s_j (1 - p) + (s_(j-1) + q_(j-1)) p for a relevant document.
    """
    own_unit, n_places = np.arange(len(members.documents)), int(depth.max())
    place = np.arange(n_places)[:, None]
    counts_of_two = none_above(batch, 2 * n_places)
    for n_taken, column in enumerate(batch.others):
        take_count(counts_of_two[:n_places], batch.tails(column), n_taken)
    of_units = UnitBatch.of(batch, members, own_unit, members.documents)
    totals = of_units.summed(counts_of_two, np.ones(len(own_unit)), _take_relevant, len(batch.others))
    weights = np.where(place < depth, 1 / (1.0 + members.above[batch.tiles] + place), 0.0)
    terms = np.einsum("jtn,jt->tn", totals[:n_places], weights * (1 + relevant))
    return np.asarray((terms + np.einsum("jtn,jt->tn", totals[n_places:], weights)).sum(axis=1))


def _take_relevant(counts_of_two: FloatArray, tail: FloatArray, n_taken: int) -> None:
    """Add a relevant document to q and s of `_precisions_within`."""
    counts, relevant = counts_of_two[: len(counts_of_two) // 2], counts_of_two[len(counts_of_two) // 2 :]
    take_count(relevant, tail, n_taken)
    relevant[1:] += counts[:-1] * tail
    take_count(counts, tail, n_taken)
