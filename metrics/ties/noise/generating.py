"""Generating functions of how many documents are above: E[t^J] is a product of chances, whatever the depth."""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties.noise.batches import Batch, Members, legendre

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

    Args:
        batch: tiles.
        t: (n_t,) nodes.
        certain: (n_t, n_tiles) factor of what is certainly above.
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
