"""Expected worth and precision of documents in noisy orders, by generating functions.

E[t^J] of how many documents J are above is a product of chances, whatever the depth.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges, span_starts
from metrics.ties.noise.batches import Batch, Members, legendre, power_of_two

Value = Callable[[FloatArray], FloatArray]
"""(n,) places, from 1 → what a place is worth."""
Take = Callable[[FloatArray, FloatArray, int], None]
"""(what is known of the documents above, chance that one more is, how many were taken) → taken in place."""
SHALLOW = 24
"""Depth up to which counting is as fast as a generating function."""
_MAX_SHARED = 2**22
"""Numbers that are kept for the next measure."""
_NODES = 2.2
"""Nodes of t over the square root of the deepest place."""
_CHUNK = 7
"""Documents whose product is expanded in powers of t before it is evaluated at the nodes."""
_EVERY = 1024
"""Places that are all looked at; of further ones, as many that are even on a log scale."""
_UNTHREADED = 2**17
"""Products of a matrix multiplication that is done by one thread: others would wait for each other."""
_RESIDUAL = 1e-10
"""Error of a sum of powers in place of the worth of a place, over the largest worth."""


def n_powers(deepest: IntArray) -> IntArray:
    """Return how many nodes of t integrate every power below `deepest` to 1e-9: Gauss and Legendre's."""
    return np.asarray(np.ceil(_NODES * np.sqrt(deepest)).astype(np.int64) + 1)


@lru_cache(maxsize=64)
def powers_of(value: Value, deepest: int) -> tuple[FloatArray, FloatArray] | None:
    """Return t and w such that the worth of every place is the sum of w t^(place - 1).

    What falls smoothly with the place, as 1/place does, is such a sum: then E[value(1 + J)] is the sum of
    w E[t^J]. The weights are those of least squares.

    Args:
        value: worth of a place.
        deepest: the last place.

    Returns:
        (n,) nodes and weights; None where no such sum comes near.
    """
    every, further = np.arange(1.0, min(deepest, _EVERY) + 1), np.geomspace(1, deepest, _EVERY).round()
    places = np.union1d(every, further)
    worth = value(places)
    t = legendre(int(n_powers(np.array(deepest))))[0]
    powers = t ** (places[:, None] - 1)
    weights = np.asarray(np.linalg.lstsq(powers, worth, rcond=1e-13)[0], dtype=np.float64)
    largest = np.abs(worth).max(initial=0)
    is_near = np.abs(powers @ weights - worth).max(initial=0) <= _RESIDUAL * largest
    return (t, weights) if is_near and np.abs(weights).max(initial=0) <= largest / _RESIDUAL**0.5 else None


def take_count(counts: FloatArray, tail: FloatArray, n_taken: int) -> None:
    """Add a document to the distribution of how many are above: q_j <- q_j + p (q_(j-1) - q_j).

    Args:
        counts: (depth, n_tiles, n_nodes) chance that so many are above, as far as there are rows.
        tail: (n_tiles, n_nodes) chance that the document is: p.
        n_taken: documents taken before, at least.
    """
    end = min(n_taken + 2, len(counts))
    step = counts[: end - 1] - counts[1:end]
    step *= tail
    counts[1:end] += step
    counts[0] *= 1 - tail


def power_taker(t: FloatArray) -> Take:
    """Return what adds a document to E[t^J]: a product with 1 - p + p t, for (n_t,) powers of t."""
    rest = (1 - t)[:, None, None]

    def take_power(products: FloatArray, tail: FloatArray, _: int) -> None:
        factor = rest * tail
        np.subtract(1, factor, out=factor)
        products *= factor

    return take_power


def none_above(batch: Batch, depth: int) -> FloatArray:
    """Return (depth, n_tiles, n_nodes) the distribution of how many are above, before any document is taken."""
    counts = np.zeros((depth, *batch.nodes.shape))
    counts[0] = 1
    return counts


def at_powers(powers: FloatArray, counts: FloatArray) -> FloatArray:
    """Return (n_t, n_tiles * n_nodes) sums over j of t^j times counts, in pieces too small for threads."""
    columns = counts.reshape(len(counts), -1)
    sums = np.empty((len(powers), columns.shape[1]))
    step = max(1, _UNTHREADED // powers.size)
    for start in range(0, columns.shape[1], step):
        np.matmul(powers, columns[:, start : start + step], out=sums[:, start : start + step])
    return sums


def products_over_others(
    members: Members, selection: BoolArray, t: FloatArray
) -> Iterator[tuple[Batch, FloatArray]]:
    """Yield batches of tiles with (n_t, n_tiles, n_nodes) E[t^J], J the documents above that are no members.

    Documents of the list that are certainly above count among them. The products are kept for the next
    measure, as far as they are few.

    Args:
        members: those whose places matter.
        selection: (n_tiles,) which tiles.
        t: (n_t,) nodes.

    Raises:
        UsageError: a list is too long for that.
    """
    key = len(t), selection.tobytes()
    products = members.products.get(key)
    if products is not None:
        yield from products
        return
    products, n_cells = [], 0
    for batch in members.batches(selection, np.maximum(len(t), members.n_members)):
        certain = t[:, None] ** members.above[batch.tiles].astype(np.float64)
        product = _product_over_others(batch, t, certain)
        n_cells += product.size
        if n_cells <= _MAX_SHARED:
            products.append((batch, product))
        yield batch, product
    if n_cells <= _MAX_SHARED:
        members.products[key] = products


def _product_over_others(batch: Batch, t: FloatArray, certain: FloatArray) -> FloatArray:
    """Return (n_t, n_tiles, n_nodes) the product of 1 + p u, u = t - 1, over the documents that are no members.

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
    """The units of a batch of tiles.

    Attributes:
        batch: the tiles.
        numbers: (n_rows, n_tiles) unit of each row, -1 where a tile has fewer.
        grid: (n_rows, most, n_tiles) its documents, a column of the members of each tile, -1 past the last.
        is_alive: (n_rows, n_tiles) whether the highest of the unit may be in the tile: none is certainly above.
    """

    batch: Batch
    numbers: IntArray
    grid: IntArray
    is_alive: BoolArray

    @classmethod
    def of(cls, batch: Batch, members: Members, units: IntArray, tops: IntArray) -> "UnitBatch":
        """Arrange the members of tiles by unit.

        Args:
            batch: the tiles.
            members: all members.
            units: (n_members,) unit of each.
            tops: (n_units,) first document of each unit.

        Returns:
            The units of the tiles, with the members of each.
        """
        if np.array_equal(tops[units], members.documents):
            grid = batch.members.T[:, None]
            numbers = np.where(grid[:, 0] >= 0, units[grid[:, 0]], -1)
        else:
            numbers, grid = _by_unit(batch.members, units)
        is_alive = (numbers >= 0) & (tops[numbers] >= members.tiles.first[batch.tiles])
        return cls(batch, numbers, np.where(grid >= 0, grid - batch.members[:, 0], -1), is_alive)

    def summed(self, above: FloatArray, gains: FloatArray, take: Take, n_taken: int) -> FloatArray:
        """Return (n, n_tiles, n_nodes) how many documents are above the highest of units, by density and gain.

        With g what is known of the documents above that were taken so far, and h the sum over the units taken:
        h <- h (the unit taken) + gain f g, then g <- g (the unit taken). No unit is ever taken out again.

        Args:
            above: (n, n_tiles, n_nodes) g for the documents of no unit.
            gains: (n_units,) gain of each unit.
            take: takes one more document into g or h.
            n_taken: documents that g knows, at most.
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
        """Return (n_tiles, n_nodes) density of the highest of documents: f <- f F_l + F f_l, F <- F F_l."""
        densities, tile = self.batch.densities, np.arange(columns.shape[1])
        density, below = densities[columns[0], tile], 1 - tails[0]
        for column, tail in zip(columns[1:], tails[1:], strict=True):
            is_below = 1 - tail
            density *= is_below
            density += below * densities[column, tile]
            below *= is_below
        return np.asarray(density)


def _by_unit(members: IntArray, units: IntArray) -> tuple[IntArray, IntArray]:
    """Arrange the members of tiles by their units."""
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
"""Chance of a place within the limit below which a tile is left out."""


def expected_worth(
    members: Members, units: IntArray, gains: FloatArray, value: Value, limit: FloatArray
) -> FloatArray:
    """Return the expected sum over the units of each cluster of gain and worth of its best document's place.

    Let x be the true score of that document: the highest of its unit, with density sum f_i prod F_l, l the
    others of the unit. The number J of documents of no unit, or of other units, above x is a sum of
    independent chances 1 - F_l(x), whose distribution q_0, q_1, ... is made by taking one document after the
    other, q_j <- q_j (1 - p) + q_(j-1) p, and only as far as the limit. With b documents certainly above,

    E = integral of density(x) * sum over j of q_j(x) * value(b + 1 + j) dx.

    Where no limit cuts and the worth is a sum of powers w t^(place - 1), the inner sum is w t^b E[t^J], a
    product of n chances for each t.

    Where all standard deviations of a cluster are alike, nodes are at most 0.35 of them apart with equal
    weights; else they are Gauss and Legendre's, eight on stretches of at most 1.5 of the smallest. Where n
    documents stand within 1.5 standard deviations, the distance shrinks with 1/sqrt(n), so that under
    one standard deviation a measure is off by less than 1e-6 of its largest value among up to 1,000 documents,
    beyond by 1e-9 for each; values where they differ are within 2e-8 of adaptive quadrature in lists of five,
    and held against draws in longer ones. Chances of scores that are even in their cells are polynomials
    between the ends of cells, integrated exactly up to 128 documents.

    Args:
        members: documents of units, of one cluster each.
        units: (n_members,) unit of each, numbered from 0.
        gains: (n_units,) gain of each.
        value: worth of a place.
        limit: (n_clusters,) last place that is worth anything.

    Raises:
        UsageError: a list is too long to be integrated within seconds.

    Source: the recurrence: Hong, On computing the distribution function for the Poisson binomial
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
    """Return (n_tiles,) whether a document of each tile may come within its depth.

    With mu documents expected above, a sum of independent chances is below k with a chance of at most
    exp(k - mu) (mu / k)^k, k < mu: as a Poisson count.

    Source: W. Hoeffding, On the distribution of the number of successes in independent trials, 1956.
    """
    is_reached = depth > 0
    is_open = is_reached & (depth < members.sizes / 2)
    expected, k = members.expected_above(is_open), depth[is_open]
    chance = np.where(expected > k, k - expected + k * np.log(np.maximum(expected, k) / k), 0.0)
    is_reached[is_open] = chance > np.log(_NEGLIGIBLE)
    return is_reached


def expected_precisions(members: Members, relevant_above: IntArray, limit: FloatArray) -> FloatArray:
    """Return the expected sum, over the relevant documents of each cluster, of the precision at their places.

    Given the true score x of a relevant document, J_rel relevant others and J_other further ones are above it:
    independent sums of independent chances. With b documents certainly above, c of them relevant,

    E[(1 + c + J_rel)/(1 + b + J_rel + J_other)] = integral over t in (0, 1) of
    t^b * sum over j of (1 + c + j) P(J_rel = j) t^j * E[t^J_other],

    as 1/(1 + b + J) is the integral of t^(b + J). The second factor is a product of chances, so that a node of
    x and t costs a step for each document. Its nodes are exact up to their degree, and beyond it as many as
    keep the error below 1e-9. Where a limit cuts, `_precisions_within` counts instead.

    Args:
        members: the relevant documents.
        relevant_above: (n_clusters,) relevant documents above each cluster.
        limit: (n_clusters,) last place whose precision counts.

    Raises:
        UsageError: a list is too long to be integrated within seconds.
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
        for selection in (is_whole & is_deep, is_whole & ~is_deep):  # deep ones, first hits have asked for
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
    """Return (n_tiles,) the integral over each tile."""
    own_unit = np.arange(len(members.documents))
    of_units = UnitBatch.of(batch, members, own_unit, members.documents)
    counts = of_units.summed(none_above(batch, len(of_units.grid)), np.ones(len(own_unit)), take_count, 0)
    place = np.arange(float(len(counts)))
    counts *= (1 + relevant + place[:, None])[:, :, None]
    products = at_powers(t[:, None] ** place, counts)
    products *= product.reshape(products.shape)
    return np.asarray((weights @ products).reshape(batch.nodes.shape).sum(axis=1))


def _precisions_within(batch: Batch, members: Members, relevant: IntArray, depth: IntArray) -> FloatArray:
    """Return (n_tiles,) the sum of the precisions at the first places of each tile.

    Beside the chance q_j that j documents are above goes s_j, the expected relevant ones where j are:
    s_j <- s_j (1 - p) + (s_(j-1) + q_(j-1)) p for one that is relevant.
    """
    own_unit, n_places = np.arange(len(members.documents)), int(depth.max())
    place = np.arange(n_places)[:, None]
    known = none_above(batch, 2 * n_places)
    for n_taken, column in enumerate(batch.others):
        take_count(known[:n_places], batch.tails(column), n_taken)
    of_units = UnitBatch.of(batch, members, own_unit, members.documents)
    totals = of_units.summed(known, np.ones(len(own_unit)), _take_relevant, len(batch.others))
    weights = np.where(place < depth, 1 / (1.0 + members.above[batch.tiles] + place), 0.0)
    terms = np.einsum("jtn,jt->tn", totals[:n_places], weights * (1 + relevant))
    return np.asarray((terms + np.einsum("jtn,jt->tn", totals[n_places:], weights)).sum(axis=1))


def _take_relevant(known: FloatArray, tail: FloatArray, n_taken: int) -> None:
    """Add a relevant document to the distribution of how many are above, and how many of them relevant."""
    counts, relevant = known[: len(known) // 2], known[len(known) // 2 :]
    take_count(relevant, tail, n_taken)
    relevant[1:] += counts[:-1] * tail
    take_count(counts, tail, n_taken)
