"""Precision at relevant documents in noisy orders."""

import numpy as np

from metrics.support.arrays import FloatArray, IntArray
from metrics.ties.noise.batches import Batch, Members, legendre, power_of_two
from metrics.ties.noise.generating import (
    SHALLOW,
    at_powers,
    n_powers,
    none_above,
    products_over_others,
    take_count,
)
from metrics.ties.noise.units import UnitBatch


def expected_precisions(members: Members, relevant_above: IntArray) -> FloatArray:
    """Return the expected sum, over the relevant documents of each cluster, of the precision at their places.

    Given the true score x of a relevant document, J_rel relevant others and J_other further ones are above it:
    independent sums of independent chances. With b documents certainly above, c of them relevant,

    E[(1 + c + J_rel)/(1 + b + J_rel + J_other)] = integral over t in (0, 1) of
    t^b * sum over j of (1 + c + j) P(J_rel = j) t^j * E[t^J_other],

    as 1/(1 + b + J) is the integral of t^(b + J). The second factor is a product of chances, so that a node of
    x and t costs a step for each document. Its nodes are exact up to their degree, and beyond it as many as
    keep the error below 1e-9.

    Args:
        members: the relevant documents.
        relevant_above: (n_clusters,) relevant documents above each cluster.

    Raises:
        UsageError: a list is too long to be integrated within seconds.
    """
    sums = np.zeros(len(relevant_above))
    relevant = relevant_above[members.clusters] + members.members_above
    n_nodes = n_powers(power_of_two(members.above + members.sizes))
    is_deep = members.sizes > SHALLOW
    for n_t in np.unique(n_nodes).tolist():
        t, weights = legendre(n_t)
        for selection in (is_deep, ~is_deep):  # what is deep, measures of the first hit have asked for
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
    """Return (n_tiles,) the integral over each tile.

    Args:
        batch: tiles.
        members: the relevant documents.
        relevant: (n_tiles,) those certainly above each: c.
        t: (n_t,) nodes in (0, 1).
        weights: (n_t,) of the nodes.
        product: (n_t, n_tiles, n_nodes) t^b E[t^J_other].
    """
    own_unit = np.arange(len(members.documents))
    of_units = UnitBatch.of(batch, members, own_unit, members.documents)
    counts = of_units.summed(none_above(batch, len(of_units.grid)), np.ones(len(own_unit)), take_count, 0)
    place = np.arange(float(len(counts)))
    counts *= (1 + relevant + place[:, None])[:, :, None]
    products = at_powers(t[:, None] ** place, counts)
    products *= product.reshape(products.shape)
    return np.asarray((weights @ products).reshape(batch.nodes.shape).sum(axis=1))
