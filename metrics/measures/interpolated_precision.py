"""Interpolated precision at a recall: the best precision from the rank on where that recall is reached."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from metrics.errors import UsageError
from metrics.measures.model import Family
from metrics.measures.weights import Parameter
from metrics.support.arrays import FloatArray, IntArray, joined_ranges
from metrics.ties.groups import TieGroups
from metrics.ties.permutations import MAX_STEPS

_Distribution = tuple[int, FloatArray, FloatArray]
"""A list, its values from the worst order to the best, rising, and the chance of each or more."""

_STEPS_A_CELL = 64
"""Steps that a value of a tie takes, at least: so no table is larger than memory."""
_CELLS = 2**16
"""Values of relevant documents that are looked at together."""
_NEGLIGIBLE = 1e-20
"""Chance that no sum in float64 can tell from 0."""


def _mean(groups: TieGroups, recall: Parameter) -> FloatArray:
    """Return expected interpolated precision.

    The value of an order is the largest j/L_j, L_j the rank of the j-th relevant document, over all j of at
    least the recall times R, rounded as in trec_eval: j >= floor(recall * R + 0.9). With values v_0 (the worst
    order) to v_T (the best), E = v_0 + sum of (v_t - v_(t-1)) P(value >= v_t).

    Source: m_iprec_at_recall.c of trec_eval 9.
    """
    means = _in_order(groups, recall, groups.above + groups.size - groups.relevant)
    for row, values, chances in _distributions(groups, recall):
        means[row] += np.diff(values) @ chances[1:]
    return means


def _variance(groups: TieGroups, recall: Parameter) -> FloatArray:
    variances = np.zeros(groups.n_lists)
    for row, values, chances in _distributions(groups, recall):
        of_values = chances - np.append(chances[1:], 0.0)
        variances[row] = of_values @ (values - values @ of_values) ** 2
    return variances


def _need(n_relevant: IntArray, recall: Parameter) -> IntArray:
    """Return the (n,) relevant documents that reach the recall, at least one."""
    return np.asarray(np.maximum(np.floor((recall or 0.0) * n_relevant + 0.9), 1)).astype(np.int64)


def _in_order(groups: TieGroups, recall: Parameter, tops: IntArray) -> FloatArray:
    """Return (n_lists,) values if the relevant documents of each group follow directly on `tops` documents."""
    hits = joined_ranges(groups.relevant_above + 1, groups.relevant)
    places = joined_ranges(tops + 1, groups.relevant)
    lists = np.repeat(groups.lists, groups.relevant)
    values = np.zeros(groups.n_lists)
    np.maximum.at(values, lists, np.where(hits >= _need(groups.n_relevant, recall)[lists], hits / places, 0.0))
    return values


def _distributions(groups: TieGroups, recall: Parameter) -> list[_Distribution]:
    """Return the distributions of lists whose value depends on the order of ties."""
    return groups.memoize((_distributions, recall), lambda: list(_found_distributions(groups, recall)))


def _found_distributions(groups: TieGroups, recall: Parameter) -> Iterator[_Distribution]:
    """Yield the distributions: ties are independent, and a value is below v if every tie's is."""
    need, ends = _need(groups.n_relevant, recall), groups.above + groups.size - groups.relevant
    worst, best = _in_order(groups, recall, ends), _in_order(groups, recall, groups.above)
    starts = np.searchsorted(groups.lists, np.arange(groups.n_lists + 1))
    for row in np.flatnonzero(worst < best).tolist():
        ties = [
            tie
            for group in range(*starts[row : row + 2])
            if (tie := _tie(groups, group, int(need[row]), worst[row], best[row])) and len(tie.limits)
        ]
        values = np.unique(np.concatenate([tie.limits for tie in ties]))
        below, n_steps = np.ones(len(values)), 0
        for tie in ties:
            chances = np.ones(len(tie.limits) + 1)
            n_parts = tie.relevant * len(tie.limits) // _CELLS + 1
            for part in np.array_split(np.arange(len(tie.limits)), n_parts):
                chances[part], steps = _chances_below(tie, tie.limits[part])
                n_steps += steps
                _refuse_large(int(groups.n_docs[row]), n_steps)
            below *= chances[np.searchsorted(tie.limits, values)]
        yield row, np.append(worst[row], values), np.append(1.0, 1 - below)


class _Tie(NamedTuple):
    """A tie of one list.

    Attributes:
        above: documents above it: b.
        size: its documents: n.
        relevant: its relevant documents: r.
        relevant_above: relevant documents above it: c.
        first: number of its first relevant document that reaches the recall, from 1.
        limits: (n_limits,) values that its documents may have, rising.
        shares: (n + 1, r + 1) chance that so many of some independent documents are relevant, each with r/n.
    """

    above: int
    size: int
    relevant: int
    relevant_above: int
    first: int
    limits: FloatArray
    shares: FloatArray


def _tie(groups: TieGroups, group: int, need: int, worst: float, best: float) -> _Tie | None:
    columns = groups.above, groups.size, groups.relevant, groups.relevant_above
    b, n, r, c = (int(column[group]) for column in columns)
    first = max(need - c, 1)
    if not first <= r < n:
        return None
    _refuse_large(int(groups.n_docs[groups.lists[group]]), n * r * _STEPS_A_CELL)
    table = np.arange(c + first, c + r + 1)[:, None] / np.arange(b + 1, b + n + 1)
    limits = np.unique(table[(table > worst) & (table <= best)])
    shares = np.zeros((n + 1, r + 1))
    shares[0, 0] = 1
    for number in range(n if len(limits) else 0):
        shares[number + 1] = (1 - r / n) * shares[number]
        shares[number + 1, 1:] += r / n * shares[number, :-1]
    return _Tie(b, n, r, c, first, limits, shares)


def _refuse_large(n_docs: int, steps: float) -> None:
    if steps > MAX_STEPS:
        raise UsageError(
            f"IPrec: the mean over the orders of a list of {n_docs:,} documents with large ties would take "
            f"{steps:.1g} steps; the limit is {MAX_STEPS:.1g}. Use AP or P@k."
        )


def _chances_below(tie: _Tie, limits: FloatArray) -> tuple[FloatArray, int]:
    """Return (n_limits,) the chance that no relevant document of a tie reaches a limit, and the steps.

    The j-th relevant document reaches the limit v at rank m_j of the tie or above, m_j = floor((c + j)/v) - b.
    So v is reached if N(m_j) = j for some j, N(m) the relevant documents among the first m. The largest such j
    is unique. With Q_j the chance that no larger i has N(m_i) = i, given N(m_j) = j,

    P(v is reached) = sum of P(N(m_j) = j) Q_j, Q_j = 1 - sum over i > j of P(N(m_i) = i | N(m_j) = j) Q_i.

    These chances are products of binomial ones (`shares`) over that of all r of n.
    """
    n, r, limit = tie.size, tie.relevant, limits[:, None]
    j = np.arange(tie.first, r + 1)
    hits = tie.relevant_above + j
    reach = np.floor(hits / limit)
    reach += hits / (reach + 1) >= limit
    reach -= hits / reach < limit  # the quotients decide, as they do in the value itself
    m = np.clip(reach - tie.above, 0, n).astype(np.int64)
    to_end = tie.shares[n - m, r - j]
    is_likely = (tie.shares[m, j] * to_end > _NEGLIGIBLE * tie.shares[n, r]).any(axis=0)
    m, j, to_end = m[:, is_likely], j[is_likely], to_end[:, is_likely]
    for column in reversed(range(len(j) - 1)):
        later = slice(column + 1, None)
        between = tie.shares[m[:, later] - m[:, [column]], j[later] - j[column]]
        to_end[:, column] -= np.einsum("vj,vj->v", between, to_end[:, later])
    reached = np.einsum("vj,vj->v", tie.shares[m, j], to_end) / tie.shares[n, r]
    return 1 - reached, m.size * len(j)


interpolated_precision = Family("interpolated_precision", _mean, _variance, noisy=False)
