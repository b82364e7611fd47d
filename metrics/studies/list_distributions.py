"""Compute exact distributions of the values of lists, if they can be counted."""

import math
from collections import Counter
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from metrics.measures import MeasureAt
from metrics.studies.convolution import Distribution, ListDistributions, merge_equal
from metrics.studies.orderings import orders_of_list
from metrics.support.arrays import BoolArray, FloatArray, IntArray, batch_by_depth
from metrics.ties import Judgments, TieGroups, first_relevant_rank
from metrics.ties.permutations import chance_of_none

_CELLS = 2**21
"""Values of all kinds of lists together, up to which they are computed."""
_SUMS_OVER_TIES = "additive", "average_precision"
"""Kinds of families whose value is a sum over ties, independent of the order of other ties."""


def list_distributions(
    groups: TieGroups,
    measure: MeasureAt,
    list_ids: IntArray,
    widths: FloatArray,
    max_orders: int,
    known: dict[Hashable, Distribution],
) -> tuple[ListDistributions | None, IntArray]:
    """Return the exact distributions of lists that ties can move, and the lists without one.

    - Measures by first rank (RR, Hits): the rank of the first relevant document, as in `first_relevant_rank`.
    - Measures that count (P, R, F1, Rprec, Judged; DR and Div with one document a target): the number of
      documents before the cut-off is hypergeometric in the one tie across it.
    - Sums over ties (nDCG, RBP, AP): every order of the grades of each tie down to the cut-off, if there are
      few. Ties are broken independently, so they count as separate lists.

    `list_ids` are the lists with more than one value and `widths` their largest less their smallest value.
    `max_orders` limits the orders of one tie. `known` has distributions of ties of other rerankers by what
    determines them; new ones are added.

    Returns:
        the distributions, None without any; the ids of the other lists.
    """
    width, moving = np.zeros(groups.n_lists), np.zeros(groups.n_lists, dtype=bool)
    width[list_ids] = widths
    moving[list_ids] = True
    distributions, family = None, measure.measure.family
    if family.by_first_rank:
        distributions = _first_rank_distributions(groups, measure, moving)
    elif measure.count_depth(groups) is not None:
        distributions = _count_distributions(groups, measure, moving, width)
    elif family.by_grades and family.kind in _SUMS_OVER_TIES:
        return _tie_distributions(groups, measure, moving, max_orders, known)
    return distributions, list_ids if distributions is None else list_ids[:0]


def _first_rank_distributions(
    groups: TieGroups, measure: MeasureAt, moving: BoolArray
) -> ListDistributions | None:
    leading = groups.leading[moving[groups.lists[groups.leading]]]
    rows = np.stack([groups.above[leading], groups.size[leading], groups.relevant[leading]])
    (above, size, relevant), n_lists = np.unique(rows, axis=1, return_counts=True)
    depth = size - relevant + 1
    within = depth if measure.k is None else np.minimum(depth, measure.k - above)
    if within.sum() > _CELLS:
        return None
    owner, place, share = _ragged_chances(
        within, lambda part, deepest: first_relevant_rank(size[part], relevant[part], deepest)
    )
    beyond = np.flatnonzero(within < depth)
    owner, place = np.append(owner, beyond), np.append(place, within[beyond])
    share = np.append(share, chance_of_none(size[beyond], relevant[beyond], within[beyond]))
    value = _value_by_rank(measure, int((above + within).max()) + 1)
    return ListDistributions.of(n_lists, owner, value[above[owner] + place], share)


def _ragged_chances(
    depth: IntArray, chances: Callable[[IntArray, int], FloatArray]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return kind, place and chance of the first `depth` places of each kind, computed in batches."""
    parts = []
    for part, deepest in batch_by_depth(depth):
        row, place = np.nonzero(np.arange(deepest) < depth[part, None])
        parts.append((part[row], place, chances(part, deepest)[row, place]))
    owner, place, share = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return owner, place, share


def _value_by_rank(measure: MeasureAt, deepest: int) -> FloatArray:
    """Return (deepest,) values of a list whose first relevant document has rank 1, 2, ..."""
    positions, no_ids = np.arange(deepest), np.empty(0, dtype=np.int64)
    no_judgments = Judgments(pa.nulls(deepest, pa.string()), 1, no_ids, no_ids.astype(np.float64))
    sizes = np.ones(deepest, dtype=np.int64)
    return measure.values(
        TieGroups(no_judgments, positions + 1, positions, positions, sizes, positions, np.ones(deepest))
    )


def _count_distributions(
    groups: TieGroups, measure: MeasureAt, moving: BoolArray, width: FloatArray
) -> ListDistributions | None:
    cut = np.asarray(measure.count_depth(groups))
    is_across = (groups.above < cut) & (groups.above + groups.size > cut) & moving[groups.lists]
    ties = np.flatnonzero(is_across)
    n_contributing = np.diff(np.append(groups.first, len(groups.grades)))
    n_marked = n_contributing if measure.measure.family.counts == "judged" else groups.relevant
    size, marked, within = groups.size[ties], n_marked[ties], (cut - groups.above)[ties]
    fewest, largest = np.maximum(0, within - (size - marked)), np.minimum(marked, within)
    rise = width[groups.lists[ties]] / np.maximum(1, largest - fewest)
    rows = np.stack([size, marked, within, fewest, largest - fewest + 1, np.round(rise, 12)])
    rows, rise = rows[:, largest > fewest], rise[largest > fewest]
    rows, first, n_lists = np.unique(rows, axis=1, return_index=True, return_counts=True)
    size, marked, within, fewest, depth = rows[:5].astype(np.int64)
    if depth.sum() > _CELLS:
        return None
    owner, n_more, share = _ragged_chances(
        depth,
        lambda part, deepest: hypergeometric_chances(
            size[part], marked[part], within[part], fewest[part], deepest
        ),
    )
    return ListDistributions.of(n_lists, owner, n_more * rise[first[owner]], share)


def hypergeometric_chances(
    size: IntArray, marked: IntArray, within: IntArray, fewest: IntArray, deepest: int
) -> FloatArray:
    """Return (n, deepest) chances of x = fewest, fewest + 1, ... marked documents in the first ranks of ties.

    P(x) / P(x − 1) = (t − x + 1)(m − x + 1) / (x (n − t − m + x)), with n documents (`size`), m marked and t
    first ranks (`within`): sums of logs, then shares of their total. Chances of impossible x are 0.
    """
    x = fewest[:, None] + np.arange(deepest)
    over = np.maximum((marked[:, None] - x + 1.0) * (within[:, None] - x + 1.0), 0)
    step = over / np.maximum(x * (size - marked - within)[:, None] + x**2, 1)
    possible = (np.arange(deepest) == 0) | (step > 0)
    logs = np.cumsum(np.log(np.where(possible & (np.arange(deepest) > 0), step, 1.0)), axis=1)
    shares = np.where(possible, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _tie_distributions(
    groups: TieGroups,
    measure: MeasureAt,
    moving: BoolArray,
    max_orders: int,
    known: dict[Hashable, Distribution],
) -> tuple[ListDistributions | None, IntArray]:
    """Return the distributions of what each tie adds to its list, and the lists with too many orders.

    Ties of the same grades at the same ranks, in lists with the same divisor, are one kind. Every order of a
    kind is scored below as many relevant documents as rank above the tie.
    """
    hit, lists = max(groups.judgments.relevant_from, 1.0), np.arange(groups.n_lists)
    scale = measure.values(_strict_orders(groups, lists, lists, 0 * lists, np.full(len(lists), hit)))
    limit = math.inf if measure.k is None else measure.k
    ends = np.append(groups.first, len(groups.grades))
    ties = np.flatnonzero(moving[groups.lists] & (groups.above < limit) & (groups.size > 1))
    columns = (groups.lists, groups.above, groups.size, groups.relevant_above, ends[:-1], ends[1:])
    scored: list[tuple[Hashable, _Kind]] = []
    too_many, n_cells = set(), 0
    for list_id, above, size, n_above, begin, end in zip(*(c[ties].tolist() for c in columns), strict=True):
        grades = tuple(sorted(groups.grades[begin:end].tolist()))
        if (end - begin == size and grades[0] == grades[-1]) or list_id in too_many:
            continue
        orders = _orders(grades, size, int(min(size, limit - above)), max_orders)
        if orders is None or n_cells + len(orders.chances) > _CELLS:
            too_many.add(list_id)
            continue
        key = above, size, n_above, grades, round(float(scale[list_id]), 12), int(groups.n_relevant[list_id])
        n_cells += len(orders.chances)
        scored.append((key, _Kind(list_id, above, n_above, orders)))
    scored = [(key, kind) for key, kind in scored if kind.list_id not in too_many]
    kinds, times = dict(scored), Counter(key for key, _ in scored)
    others = np.array(sorted(too_many), dtype=np.int64)
    if not kinds:
        return None, others
    if sum(len(values) for values, _ in known.values()) > _CELLS:
        known.clear()
    if unknown := {key: kind for key, kind in kinds.items() if key not in known}:
        known.update(zip(unknown, _score_orders(groups, measure, list(unknown.values()), hit), strict=True))
    kinds = {key: kind for key, kind in kinds.items() if len(known[key][0]) > 1} or kinds
    parts = [known[key] for key in kinds]
    owner = np.repeat(np.arange(len(parts)), [len(values) for values, _ in parts])
    values, chances = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return ListDistributions.of(np.array([times[key] for key in kinds]), owner, values, chances), others


class _Orders(NamedTuple):
    """Orders of the grades of one tie: order, rank in the tie and grade of each contributing document."""

    order: IntArray
    place: IntArray
    grade: FloatArray
    chances: FloatArray


class _Kind(NamedTuple):
    """A tie in a list, with the documents and relevant documents above it."""

    list_id: int
    above: int
    n_relevant_above: int
    orders: _Orders


@lru_cache(maxsize=1024)
def _orders(grades: tuple[float, ...], size: int, within: int, max_orders: int) -> _Orders | None:
    """Return every order of a tie in its first ranks; its other documents have grade 0."""
    all_grades = np.concatenate([grades, np.zeros(size - len(grades))])
    orders = orders_of_list(all_grades, np.zeros(1, dtype=np.int64), within, max_orders)
    if orders is None:
        return None
    order, place = np.nonzero(orders[0] > 0)
    return _Orders(order, place, orders[0][order, place], orders[1])


def _score_orders(groups: TieGroups, measure: MeasureAt, kinds: list[_Kind], hit: float) -> list[Distribution]:
    """Return the distribution of the list value over the orders of one tie, for each kind."""
    lists, places, grades, starts = [], [], [], np.cumsum([0, *(len(kind.orders.chances) for kind in kinds)])
    for start, (_, above, n_above, orders) in zip(starts.tolist(), kinds, strict=False):
        n = len(orders.chances)
        lists += [start + np.repeat(np.arange(n), n_above), start + orders.order]
        places += [np.tile(np.arange(above - n_above, above), n), above + orders.place]
        grades += [np.full(n * n_above, hit), orders.grade]
    of_list = np.repeat([kind.list_id for kind in kinds], np.diff(starts))
    columns = (np.concatenate(parts) for parts in (lists, places, grades))
    values = np.split(measure.values(_strict_orders(groups, of_list, *columns)), starts[1:-1])
    return [merge_equal(each, kind.orders.chances) for each, kind in zip(values, kinds, strict=True)]


def _strict_orders(
    groups: TieGroups, of_list: IntArray, lists: IntArray, places: IntArray, grades: FloatArray
) -> TieGroups:
    """Return orders of some lists as separate lists, from the rank and grade of contributing documents."""
    order = np.lexsort((places, lists))
    lists, places, grades = lists[order], places[order], grades[order]
    judgments = groups.judgments.with_lists(
        of_list if groups.judgments.query_of_list is None else groups.judgments.query_of_list[of_list]
    )
    each = np.arange(len(lists))
    return TieGroups(judgments, groups.n_docs[of_list], lists, places, np.ones_like(lists), each, grades)
