"""Interpolated precision at a recall: the best precision from where that recall is reached."""

from collections.abc import Iterator

import numpy as np

from metrics.errors import UsageError
from metrics.measures.holes import Bounds, Holes
from metrics.measures.model import Family
from metrics.measures.weights import Parameter
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.ties.groups import TieGroups
from metrics.ties.permutations import MAX_STEPS

_Distribution = tuple[int, FloatArray, FloatArray]
"""A list, its values from the worst order to the best, rising, and the chance of each or more."""

_STEPS_A_CELL = 64
"""Steps that a value of a tie takes, at least: so no table is larger than memory."""


def _mean(groups: TieGroups, recall: Parameter) -> FloatArray:
    """Return expected interpolated precision.

    The value of an order is the largest j/L_j, L_j the place of the j-th relevant document, over the j that are
    at least the recall times R, rounded as trec_eval does: j >= floor(recall * R + 0.9). With values v_0 (the
    worst order) to v_T (the best) that an order may have, E = v_0 + sum of (v_t - v_(t-1)) P(value >= v_t).

    Source: m_iprec_at_recall.c of trec_eval 9.
    """
    means = _in_order(groups, recall, groups.above + groups.size - groups.relevant)
    for row, values, chances in _distributions(groups, recall):
        means[row] += np.diff(values) @ chances[1:]
    return means


def _variance(groups: TieGroups, recall: Parameter) -> FloatArray:
    """Return the variance of interpolated precision, of the chances of `_mean`."""
    variances = np.zeros(groups.n_lists)
    for row, values, chances in _distributions(groups, recall):
        of_values = chances - np.append(chances[1:], 0.0)
        variances[row] = of_values @ (values - values @ of_values) ** 2
    return variances


def _need(n_relevant: IntArray, recall: Parameter) -> IntArray:
    """Return the (n,) relevant documents with which the recall is reached, at least one."""
    return np.asarray(np.maximum(np.floor((recall or 0.0) * n_relevant + 0.9), 1)).astype(np.int64)


def _in_order(groups: TieGroups, recall: Parameter, tops: IntArray) -> FloatArray:
    """Return the (n_lists,) value where the relevant documents of each group follow on so many documents."""
    hits = joined_ranges(groups.relevant_above + 1, groups.relevant)
    places = joined_ranges(tops + 1, groups.relevant)
    lists = np.repeat(groups.lists, groups.relevant)
    values = np.zeros(groups.n_lists)
    np.maximum.at(values, lists, np.where(hits >= _need(groups.n_relevant, recall)[lists], hits / places, 0.0))
    return values


def _distributions(groups: TieGroups, recall: Parameter) -> list[_Distribution]:
    """Return the distributions of lists whose value the order of ties moves."""
    return groups.memoize((_distributions, recall), lambda: list(_found_distributions(groups, recall)))


def _found_distributions(groups: TieGroups, recall: Parameter) -> Iterator[_Distribution]:
    """Yield them: no value is v or more where none of any tie is, and ties are independent.

    Raises:
        UsageError: ties are too large.
    """
    need, ends = _need(groups.n_relevant, recall), groups.above + groups.size - groups.relevant
    worst, best = _in_order(groups, recall, ends), _in_order(groups, recall, groups.above)
    starts = np.searchsorted(groups.lists, np.arange(groups.n_lists + 1))
    for row in np.flatnonzero(worst < best).tolist():
        tables = []
        for group in range(*starts[row : row + 2]):
            n, r = int(groups.size[group]), int(groups.relevant[group])
            if 0 < r < n:
                _refuse_large(int(groups.n_docs[row]), float(n * r) * _STEPS_A_CELL)
                hits = int(groups.relevant_above[group]) + np.arange(1, r + 1)[:, None]
                values = hits / (int(groups.above[group]) + np.arange(1, n + 1))
                values[: max(int(need[row]) - int(hits[0, 0]), 0)] = 0
                if values.max() > worst[row]:
                    tables.append(values)
        candidates = np.unique(np.concatenate([table.ravel() for table in tables]))
        values = candidates[(candidates > worst[row]) & (candidates <= best[row])]
        _refuse_large(int(groups.n_docs[row]), len(values) * sum(float(table.size) for table in tables))
        below = np.prod([_chance_below(table, values) for table in tables], axis=0)
        yield row, np.append(worst[row], values), np.append(1.0, 1 - below)


def _refuse_large(n_docs: int, steps: float) -> None:
    """Raise a UsageError where a list has ties of too many values."""
    if steps > MAX_STEPS:
        raise UsageError(
            f"IPrec: the orders of a list of {n_docs:,} documents with large ties would take {steps:.1g} "
            f"steps; {MAX_STEPS:.1g} can be. Take AP or P@k."
        )


def _chance_below(table: FloatArray, limits: FloatArray) -> FloatArray:
    """Return the (n_limits,) chance that no relevant document of a tie has a value of a limit or more.

    Place after place, with the chance of each number of relevant documents so far.

    Args:
        table: (r, n) value of the j-th relevant document at each place.
        limits: (n_limits,) values.
    """
    r, n = table.shape
    chances = np.zeros((r + 1, len(limits)))
    chances[0] = 1
    remaining = r - np.arange(r + 1.0)[:, None]
    for place in range(n):
        is_relevant = np.clip(remaining / (n - place), 0, 1) * chances
        chances -= is_relevant
        chances[1:] += is_relevant[:-1] * (table[:, place, None] < limits)
    return np.asarray(chances[r])


def _bounds(holes: Holes, recall: Parameter) -> Bounds:
    """Return the bounds of interpolated precision, exactly.

    A relevant document adds more the higher it stands, and each one more raises what the recall asks for. So
    of x more the largest value has the highest, first in their tie; the smallest has those that the list lacks,
    then the lowest, last in their tie. Every x is looked at.
    """
    r, u = holes.relevant, holes.unjudged
    bounds = np.zeros((2, holes.n_lists))
    for best, tops in ((0, holes.end - r - u), (1, holes.above)):
        places, is_open = joined_ranges(tops + 1, r + u), _is_open(r, u, judged_first=bool(best))
        spans = np.append(0, np.cumsum(holes.per_list(r + u))).astype(np.int64)
        for row in range(holes.n_lists):
            span = slice(*spans[row : row + 2])
            number = np.cumsum(is_open[span])
            x = np.arange(int(holes.n_unjudged[row]) + 1)[:, None]
            is_relevant = number <= x if best else number > x[::-1]
            hits = np.cumsum(is_relevant | ~is_open[span], axis=1)
            n_relevant = holes.n_relevant[row] + x[:, 0] + (0 if best else holes.unlisted[row])
            counts = (is_relevant | ~is_open[span]) & (hits >= _need(n_relevant, recall)[:, None])
            values = np.where(counts, hits / places[span], 0.0).max(axis=1, initial=0.0)
            bounds[best, row] = values.max() if best else values.min()
    return bounds[0], bounds[1]


def _is_open(judged: IntArray, unjudged: IntArray, *, judged_first: bool) -> BoolArray:
    """Return whether each document is unjudged, of groups of judged relevant and unjudged ones."""
    counts = np.stack([judged, unjudged] if judged_first else [unjudged, judged], axis=1).ravel()
    return np.repeat(np.tile([not judged_first, judged_first], len(judged)), counts)


interpolated_precision = Family(
    "interpolated_precision", _mean, _variance, noisy=False, joint=_bounds, estimable=False
)
