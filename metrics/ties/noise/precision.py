"""Precision at relevant documents in noisy orders."""

from dataclasses import replace

import numpy as np

from metrics.support.arrays import FloatArray, IntArray
from metrics.ties.noise.batches import Batch, Members, legendre, power_of_two
from metrics.ties.noise.generating import at_powers, n_powers, none_above, product_over_others, take_count
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
    n_members = np.diff(np.searchsorted(members.documents, [members.tiles.first, members.tiles.end]), axis=0)[0]
    for n_t in np.unique(n_nodes).tolist():
        t, weights = legendre(n_t)
        for batch in members.batches(n_nodes == n_t, np.maximum(n_nodes, n_members)):
            sums_of_tiles = _of_batch(batch, members, relevant[batch.tiles], t)
            powers = weights[:, None] * t[:, None] ** members.above[batch.tiles].astype(np.float64)
            np.add.at(sums, members.clusters[batch.tiles], (powers * sums_of_tiles).sum(axis=0))
    return sums


def _of_batch(batch: Batch, members: Members, relevant: IntArray, t: FloatArray) -> FloatArray:
    """(n_t, n_tiles) the integrand, without t^b, over the nodes of each tile.

    Args:
        batch: tiles.
        members: the relevant documents.
        relevant: (n_tiles,) those certainly above each: c.
        t: (n_t,) nodes in (0, 1).
    """
    own_unit = np.arange(len(members.documents))
    of_units = UnitBatch.of(replace(batch, others=batch.others[:0]), members, own_unit, members.documents)
    counts = of_units.summed(none_above(batch, len(of_units.grid)), np.ones(len(own_unit)), take_count)
    place = np.arange(float(len(counts)))
    counts *= (1 + relevant + place[:, None])[:, :, None]
    products = at_powers(t[:, None] ** place, counts)
    products *= product_over_others(batch, t).reshape(products.shape)
    return np.asarray(products.reshape(len(t), *batch.nodes.shape).sum(axis=2))
