"""Every order of the grades of one list down to some place, with its chance."""

import math

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

Orders = tuple[FloatArray, FloatArray]
"""(n, depth) grades from the top, and the (n,) chance of each."""


def orders_of_list(grades: FloatArray, starts: IntArray, depth: int, max_orders: int) -> Orders | None:
    """Return every order of grades at the first places of a list; None where there are more than wanted.

    Args:
        grades: (n_documents,) the grade of each document, top tie group first.
        starts: (n_groups,) where each tie group begins, from 0, rising.
        depth: how many places are looked at, at most as many as there are documents.
        max_orders: how many orders at most.
    """
    if max_orders < 1:
        return None
    is_open = np.minimum.reduceat(grades, starts) < np.maximum.reduceat(grades, starts)
    ends = np.append(starts[1:], len(grades))
    parts: list[tuple[int, Orders]] = []
    n_orders = 1
    for start, end in zip(starts[is_open].tolist(), ends[is_open].tolist(), strict=True):
        levels, counts = np.unique(grades[start:end], return_counts=True)
        within, limit = min(end, depth) - start, max_orders // n_orders
        part = None if _fewest_orders(counts, within) > limit else _orders_of_tie(levels, counts, within, limit)
        if part is None:
            return None
        parts.append((start, part))
        n_orders *= len(part[1])
    orders, chances, n_alike = np.tile(grades[:depth], (n_orders, 1)), np.ones(n_orders), n_orders
    for start, (of_tie, shares) in parts:
        n_alike //= len(shares)
        rows = np.arange(n_orders) // n_alike % len(shares)
        orders[:, start : start + of_tie.shape[1]] = of_tie[rows]
        chances *= shares[rows]
    return orders, chances


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
    log_factorials = np.array([math.lgamma(n + 1) for n in range(int(counts.max()) + 1)])
    logs = (log_factorials[counts] - log_factorials[counts - inside]).sum(axis=1)
    chances = np.exp(logs - logs.max())
    return orders, chances / chances.sum()


def _choose_places(grades: FloatArray, within: int, room: int, max_orders: int) -> IntArray | None:
    """Return (n, n_grades) places of rising grades, equal ones rising; `within` is any further down."""
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
