"""Average precision, of the whole list or down to a cut-off."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth
from metrics.ties.groups import TieGroups

Divisor = Callable[[FloatArray, Parameter], FloatArray]
"""(n_lists,) relevant documents, cut-off → (n_lists,) divisor."""


def precision_average(divisor: Divisor) -> Family:
    """Return a measure that adds up the precisions at relevant documents within the cut-off, over a divisor D.

    E = 1/D * sum over groups of (r/n) * [(c + 1) * d + (r - 1)/(n - 1) * (m - (b + 1) * d)],
    d = H(b + m) - H(b) with harmonic numbers H, m the ranks within the cut-off. A list whose query has no
    relevant document scores 0.

    With X_i whether rank i of a group is relevant and w_i = 1/(b + i), 0 past the cut-off, the group adds (c +
    1) * sum w_i X_i + sum over j < i of w_i X_i X_j; c is the same in every order, so groups are independent.
    Split into uncorrelated parts of single ranks and of pairs,

    Var = 1/D^2 * sum over groups of
    p * sum ((c + 1) * u_i + (r - 1) * e_i)^2 + p * (r - 1)(n - r - 1) / ((n - 2)(n - 3)) * G,

    p = r(n - r) / (n(n - 1)); u, e and G as in `_place_sums`. No term is negative.

    Source: McSherry & Najork, ECIR 2008, section 3.3. The split is Hoeffding's, for draws without replacement:
    Bloznelis & Götze, Orthogonal decomposition of finite population statistics, Annals of Statistics 2001.
    """

    def mean(groups: TieGroups, k: Parameter) -> FloatArray:
        b, n, r, c = groups.above, groups.size, groups.relevant, groups.relevant_above
        within = groups.within(k)
        drop = _harmonic_span(b, b + within)
        from_others = np.where(n > 1, (r - 1) / np.maximum(n - 1, 1), 0.0) * (within - (b + 1) * drop)
        terms = r / n * ((c + 1) * drop + from_others)
        return groups.per_list(terms) / _divisors(groups, k)

    def variance(groups: TieGroups, k: Parameter) -> FloatArray:
        within = groups.within(k)
        mixed = np.flatnonzero((groups.relevant > 0) & (groups.relevant < groups.size) & (within > 0))
        n, r = groups.size[mixed], groups.relevant[mixed]
        u_squares, products, e_squares, residual = _place_sums(groups.above[mixed], n, within[mixed])
        u_factor, e_factor = groups.relevant_above[mixed] + 1, r - 1
        of_places = u_factor**2 * u_squares + 2 * u_factor * e_factor * products + e_factor**2 * e_squares
        of_pairs = e_factor / np.maximum(n - 2, 1) * ((n - r - 1) / np.maximum(n - 3, 1)) * residual
        variances = np.zeros(len(groups.size))
        variances[mixed] = r / n * ((n - r) / (n - 1)) * (of_places + of_pairs)
        return groups.per_list(variances) / np.square(_divisors(groups, k))

    def _divisors(groups: TieGroups, k: Parameter) -> FloatArray:
        return divisor(np.maximum(groups.n_relevant, 1.0), k)

    return Family("average_precision", mean, variance)


def _place_sums(above: IntArray, size: IntArray, within: IntArray) -> FloatArray:
    """Return (4, n_groups) sums over the ranks of groups: sum u^2, sum u * e, sum e^2 and G.

    A constant added to all weights does not change the variance. So where the last rank has weight, v_i = 1/(b
    + i) - 1/(b + n) = (n - i) / ((b + i)(b + n)) replaces w_i, and similar numbers are never subtracted.

    - u_i = v_i - mean v
    - e_i = (s_i - mean s) / (n - 2), s_i = (i - 1) * v_i + sum of v_l over l > i: the pairs with i
    - G = sum over j < i of (v_i - mean over pairs)^2 - (n - 2) * sum e^2: the part of pairs beyond their ranks
    """
    sums = np.zeros((4, len(size)))
    for part, deepest in batch_by_depth(size):
        b, n, m, place = above[part, None], size[part, None], within[part, None], np.arange(1, deepest + 1)
        is_place = place <= n
        drop = np.where(m < n, b + n, n - place) / (b + n)
        v = np.where(place <= m, drop, 0.0) / (b + place)
        of_pairs = v * (place - 2) + np.cumsum(v[:, ::-1], axis=1)[:, ::-1]
        u, e = (
            np.where(is_place, values - values.sum(axis=1, keepdims=True) / n, 0.0) for values in (v, of_pairs)
        )
        e /= np.maximum(n - 2, 1)
        mean_pair = of_pairs.sum(axis=1, keepdims=True) / (n * np.maximum(n - 1, 1))
        apart = np.where(is_place, place - 1, 0) * (v - mean_pair) ** 2
        square = (e * e).sum(axis=1)
        residual = apart.sum(axis=1) - (n[:, 0] - 2) * square
        sums[:, part] = (u * u).sum(axis=1), (u * e).sum(axis=1), square, np.maximum(residual, 0)
    return sums


average_precision = precision_average(lambda relevant, _: relevant)
capped_average_precision = precision_average(lambda relevant, k: np.minimum(relevant, k or np.inf))


def _harmonic_span(tops: IntArray, ends: IntArray) -> FloatArray:
    """Return 1/(top + 1) + ... + 1/end: a difference of harmonic numbers."""
    upto = _harmonics(1 << int(ends.max(initial=0)).bit_length())
    return np.where(ends - tops == 1, 1 / np.maximum(ends, 1), upto.take(ends) - upto.take(tops))


@lru_cache(maxsize=1)
def _harmonics(depth: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, depth + 1))])
