"""Precision at relevant documents in noisy orders."""

import numpy as np

from metrics.noise.batches import Batch, Members, legendre
from metrics.support.arrays import FloatArray, IntArray

_NODES = 2.2
"""Nodes of t over the square root of the deepest place."""


def expected_precisions(members: Members, relevant_above: IntArray) -> FloatArray:
    """Return the expected sum, over the relevant documents of each cluster, of the precision at their places.

    Given the true score x of a relevant document i, J others are above it, J_rel of them relevant: sums of
    independent chances p_l. With b documents certainly above, c of them relevant, 1/(1 + b + J) is the integral
    of t^(b + J), and with a_l = 1 - p_l + p_l t

    E[(1 + c + J_rel)/(1 + b + J)] = integral over t in (0, 1) of
    t^b * prod over l of a_l * (1 + c + sum over relevant l of p_l t / a_l), l other than i:

    a node of x and t costs as many steps as there are documents. The nodes of t are exact up to their degree,
    and beyond it as many as keep the error below 1e-9.

    Args:
        members: the relevant documents.
        relevant_above: (n_clusters,) relevant documents above each cluster.
    """
    tiles, sums = members.tiles, np.zeros(len(relevant_above))
    relevant = relevant_above[members.clusters] + members.members_above
    n_nodes = np.ceil(_NODES * np.sqrt(members.above + tiles.end - tiles.first) + 1).astype(np.int64)
    for batch in members.batches(np.ones(len(n_nodes), dtype=bool), n_nodes):
        part = batch.tiles
        t, weights = legendre(int(n_nodes[part].max()))
        values = _of_batch(batch, members.documents, t, relevant[part])
        powers = weights[:, None] * t[:, None] ** members.above[part].astype(np.float64)
        np.add.at(sums, members.clusters[part], np.einsum("nt,ntx->t", powers, values))
    return sums


def _of_batch(batch: Batch, documents: IntArray, t: FloatArray, relevant: IntArray) -> FloatArray:
    """(n_t, n_tiles, n_nodes) the integrand, without the factors t^b.

    Args:
        batch: tiles.
        documents: of the members.
        t: (n_t,) nodes in (0, 1).
        relevant: (n_tiles,) relevant documents certainly above: c.
    """
    rest = (1 - t)[:, None, None]
    product = np.ones((len(t), *batch.nodes.shape))
    for others in batch.others:
        product = product * (1 - batch.tail(others) * rest)
    n_relevant: FloatArray = np.zeros_like(product) + (1 + relevant[:, None])
    density, own = np.zeros_like(product), np.zeros_like(product)
    for column in np.where(batch.members >= 0, documents[batch.members], -1).T:
        tail = batch.tail(column)
        factor = 1 - tail * rest
        share = tail * t[:, None, None] / factor
        each = batch.density(column) / factor
        product *= factor
        n_relevant += share
        density += each
        own += each * share
    return np.asarray(product * (n_relevant * density - own))
