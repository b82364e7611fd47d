"""Places of documents in noisy orders: sums of independent chances, counted as far as a cut-off reaches."""

from collections.abc import Callable, Iterator

import numpy as np

from metrics.noise.batches import Batch, Members
from metrics.support.arrays import FloatArray, IntArray

Value = Callable[[FloatArray], FloatArray]
"""(n,) places, from 1 → what a place is worth."""


def expected_values(members: Members, units: IntArray, value: Value, limit: FloatArray) -> FloatArray:
    """Return the expected worth of the place of the best document of each unit.

    Let x be the true score of that document: the highest of its unit, with density sum f_i prod F_l, l the
    others of the unit. The number J of documents of no unit, or of other units, above x is a sum of
    independent chances 1 - F_l(x), whose distribution q_0, q_1, ... is made by taking one document after the
    other, q_j <- q_j (1 - p) + q_(j-1) p, and only as far as the limit. With b documents certainly above,

    E = integral of density(x) * sum over j of q_j(x) * value(b + 1 + j) dx.

    Nodes are Gauss and Legendre's on stretches of at most 1.5 of the smallest standard deviation: an expected
    value is off by less than 1e-8 of the largest worth. Scores that are even in their cells are polynomials
    between the ends of cells, and exact.

    Args:
        members: documents of units, of one cluster each.
        units: (n_members,) unit of each, numbered from 0.
        value: worth of a place.
        limit: (n_clusters,) last place that is worth anything.

    Source: the recurrence: Hong, On computing the distribution function for the Poisson binomial
    distribution, Computational Statistics & Data Analysis 2013, section 2.
    """
    tiles, above = members.tiles, members.above
    expected = np.zeros(int(units.max(initial=-1)) + 1)
    top = np.full(len(expected), len(members.spreads.scores))
    np.minimum.at(top, units, members.documents)
    depth = np.clip(limit[members.clusters] - above, 0, tiles.end - tiles.first).astype(np.int64)
    worth = value(np.arange(1.0, int((above + depth).max(initial=0)) + 1))
    for batch in members.batches(depth > 0, depth):
        place = np.arange(int(depth[batch.tiles].max()))[:, None]
        is_worth = place < depth[batch.tiles]
        weights = np.where(is_worth, worth[np.where(is_worth, above[batch.tiles] + place, 0)], 0.0)
        for numbers, part in _of_batch(batch, members.documents, units, top, tiles.first, weights):
            np.add.at(expected, numbers, part)
    return expected


def _of_batch(
    batch: Batch, documents: IntArray, units: IntArray, top: IntArray, first: IntArray, weights: FloatArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield numbers of units, and what tiles add to each."""
    numbers, grid = _by_unit(batch.members, units)
    grid = np.where(grid >= 0, documents[grid], -1)
    is_alive = (numbers >= 0) & (top[numbers] >= first[batch.tiles])
    counts = np.zeros((len(weights), *batch.nodes.shape))
    counts[0] = 1
    n_taken = 0
    for others in batch.others:
        n_taken = _take(counts, batch.tail(others), n_taken)
    tails = [[batch.tail(column) for column in unit] for unit in grid]

    def without(
        first_unit: int, end: int, counts: FloatArray, n_taken: int
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield each unit, with the counts of all others: half of them are taken at a time."""
        if end - first_unit == 1:
            yield first_unit, counts
            return
        middle = (first_unit + end) // 2
        for half, rest in (((first_unit, middle), (middle, end)), ((middle, end), (first_unit, middle))):
            taken, n = counts.copy(), n_taken
            for tail in (tail for unit in tails[slice(*rest)] for tail in unit):
                n = _take(taken, tail, n)
            yield from without(*half, taken, n)

    for unit, others_above in without(0, len(grid), counts, n_taken):
        alive = is_alive[unit]
        worth = np.einsum("jt,jtx->tx", weights, others_above)
        density = _density_of_highest(batch, grid[unit], tails[unit])
        yield numbers[unit][alive], np.einsum("tx,tx->t", worth, density)[alive]


def _take(counts: FloatArray, tail: FloatArray, n_taken: int) -> int:
    """Add one document to the distribution of how many are above; return how many were taken.

    Args:
        counts: (depth, n_tiles, n_nodes) chance that so many are above.
        tail: (n_tiles, n_nodes) chance that the document is.
        n_taken: documents taken before.
    """
    end = min(n_taken + 2, len(counts))
    counts[1:end] += tail * (counts[: end - 1] - counts[1:end])
    counts[0] *= 1 - tail
    return n_taken + 1


def _density_of_highest(batch: Batch, documents: IntArray, tails: list[FloatArray]) -> FloatArray:
    """(n_tiles, n_nodes) density of the highest of some documents: f <- f F_l + F f_l, F <- F F_l."""
    density, below = batch.density(documents[0]), 1 - tails[0]
    for column, tail in zip(documents[1:], tails[1:], strict=True):
        density = density * (1 - tail) + below * batch.density(column)
        below = below * (1 - tail)
    return density


def _by_unit(members: IntArray, units: IntArray) -> tuple[IntArray, IntArray]:
    """Arrange the members of tiles by their units.

    Args:
        members: (n_tiles, n_members) places, -1 past the last.
        units: of all members.

    Returns:
        (n_rows, n_tiles) unit of each row, -1 where a tile has fewer, and (n_rows, most, n_tiles) its members.
    """
    tile, column = np.nonzero(members >= 0)
    member = members[tile, column]
    order = np.lexsort((units[member], tile))
    tile, member, unit = tile[order], member[order], units[member[order]]
    is_new = np.ones(len(tile), dtype=bool)
    is_new[1:] = (tile[1:] != tile[:-1]) | (unit[1:] != unit[:-1])
    start = np.flatnonzero(is_new)
    number = np.cumsum(is_new) - 1
    row = (number - number[np.searchsorted(tile, tile)]) if len(tile) else number
    place = np.arange(len(tile)) - start[number]
    shape = int(row.max(initial=-1)) + 1, int(place.max(initial=-1)) + 1, len(members)
    grid = np.full(shape, -1)
    grid[row, place, tile] = member
    numbers = np.full((shape[0], shape[2]), -1)
    numbers[row, tile] = unit
    return numbers, grid
