"""Every order of the grades of one list down to some place, with its chance."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from metrics.support.arrays import FloatArray, IntArray

Orders = tuple[FloatArray, FloatArray]
"""(n, depth) grades from the top, and the (n,) chance of each."""


def orders_of_list(ties: Sequence[FloatArray], depth: int, max_orders: int) -> Orders | None:
    """Return every order of grades at the first places of a list; None where there are more than wanted.

    Args:
        ties: the grades of each tie group, top group first, from the first place on.
        depth: how many places are looked at.
        max_orders: how many orders at most.
    """
    ends = np.minimum(np.cumsum([0, *map(len, ties)]), depth)
    parts: list[Orders] = []
    for tie, within in zip(ties, np.diff(ends).tolist(), strict=True):
        max_orders //= len(parts[-1][0]) if parts else 1
        levels, counts = np.unique(tie, return_counts=True)
        if _fewest_orders(counts, within) > max_orders:
            return None
        part = _orders_of_tie(levels, counts, within, max_orders)
        if part is None:
            return None
        parts.append(part)
    n_orders = math.prod(len(chances) for _, chances in parts)
    columns, chances, n_alike = [np.zeros((n_orders, 0))], np.ones(n_orders), n_orders
    for of_tie, shares in parts:
        n_alike //= len(shares)
        rows = np.arange(n_orders) // n_alike % len(shares)
        columns.append(of_tie[rows])
        chances *= shares[rows]
    return np.hstack(columns), chances


def _fewest_orders(counts: IntArray, within: int) -> int:
    """Return how many orders there are at least: those of the commonest grade of a tie and any other."""
    n_others = int(counts.sum() - counts.max())
    fewest = max(0, within - int(counts.max()))
    return sum(math.comb(within, n_inside) for n_inside in range(fewest, min(n_others, within) + 1))


def _orders_of_tie(levels: FloatArray, counts: IntArray, within: int, max_orders: int) -> Orders | None:
    """Return every order of grades at the first places of one tie.

    The commonest grade fills what the others leave. With n documents, c of each grade, x of them among the m
    places, an order has the chance prod c! / (c - x)! / (n! / (n - m)!).

    Args:
        levels: (n_levels,) distinct grades, rising.
        counts: (n_levels,) documents of each.
        within: the first places, m.
        max_orders: how many orders at most; None where there are more.
    """
    filler = int(counts.argmax())
    rarer = np.repeat(np.delete(levels, filler), np.delete(counts, filler))
    places = _choose_places(rarer, within, int(counts.sum()) - within, max_orders)
    if places is None:
        return None
    orders = np.full((len(places), within + 1), levels[filler])
    orders[np.arange(len(places))[:, None], places] = rarer
    orders = orders[:, :within]
    inside = np.stack([(orders == level).sum(axis=1) for level in levels], axis=1)
    logs = (gammaln(counts + 1.0) - gammaln(counts - inside + 1.0)).sum(axis=1)
    chances = np.exp(logs - logs.max())
    return orders, chances / chances.sum()


def _choose_places(grades: FloatArray, within: int, room: int, max_orders: int) -> IntArray | None:
    """Return (n, n_grades) places of rising grades, those of equal ones rising; `within` is any further down.

    Args:
        grades: what is placed, rising.
        within: how many places there are.
        room: how many grades can stand further down.
        max_orders: how many ways at most; None where there are more.
    """
    places = np.zeros((1, 0), dtype=np.int64)
    for column, grade in enumerate(grades):
        is_free = np.ones((len(places), within + 1), dtype=bool)
        rows, columns = np.nonzero(places < within)
        is_free[rows, places[rows, columns]] = False
        is_free[:, within] = (places == within).sum(axis=1) < room
        if column and grade == grades[column - 1]:
            is_free &= np.arange(within + 1) >= places[:, -1:]
        rows, place = np.nonzero(is_free)
        if len(rows) > max_orders:
            return None
        places = np.column_stack([places[rows], place])
    return places
