"""Expected worth of the places of documents in noisy orders."""

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties.noise.batches import Members, power_of_two
from metrics.ties.noise.generating import (
    SHALLOW,
    Value,
    none_above,
    power_taker,
    powers_of,
    products_over_others,
    take_count,
)
from metrics.ties.noise.units import UnitBatch, first_documents

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
