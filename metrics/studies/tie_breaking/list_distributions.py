"""Exact distributions of the values of the lists of a ranking, where they can be counted."""

import numpy as np
import pyarrow as pa

from metrics.measures import MeasureAt, RefinedGroups
from metrics.studies.one_list.orderings import value_chances
from metrics.studies.tie_breaking.convolution import ListDistributions, merge_equal
from metrics.support.arrays import BoolArray, FloatArray, IntArray, batch_by_depth
from metrics.ties import Judgments, Ranking, TieGroups, first_relevant_rank
from metrics.ties.permutations import chance_of_none

_CELLS = 2**21
"""Values of all kinds of lists together, up to which they are computed."""


def list_distributions(
    ranking: Ranking,
    measure: MeasureAt,
    list_ids: IntArray,
    ends: tuple[FloatArray, FloatArray],
    max_orders: int,
) -> tuple[ListDistributions | None, IntArray]:
    """Return the exact distributions of lists that ties can move, and the lists without a short way to one.

    - Measures by first rank (RR, Hits): the rank of the first relevant document, as in `first_relevant_rank`.
    - Measures that count (P, R, F1, Rprec, Judged; DR and Div where every document is its own target): how
      many documents stand before the cut-off is hypergeometric in the one tie that reaches across it.
    - Other measures that grades decide: every order of grades down to the cut-off, where there are few.

    Args:
        ranking: the lists of one reranker.
        measure: the measure.
        list_ids: (n,) the lists that have more than one value.
        ends: (n,) the smallest value of each, and the largest.
        max_orders: orders of one list up to which they are enumerated.

    Returns:
        the distributions, None where no list has one; the ids of the other lists.
    """
    groups, by_list = RefinedGroups(ranking).of(measure), np.zeros((2, ranking.n_lists))
    by_list[:, list_ids] = ends
    moving = np.zeros(ranking.n_lists, dtype=bool)
    moving[list_ids] = True
    distributions = None
    if measure.measure.family.by_first_rank:
        distributions = _first_rank_distributions(groups, measure, moving)
    elif measure.count_depth(groups) is not None:
        distributions = _count_distributions(groups, measure, moving, by_list[1] - by_list[0])
    elif measure.measure.family.by_grades:
        return _order_distributions(ranking, groups, measure, list_ids, by_list[1], max_orders)
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
    beyond = np.flatnonzero(within < depth)
    owners, ranks = [beyond], [(above + within)[beyond] + 1]
    shares = [chance_of_none(size[beyond], relevant[beyond], within[beyond])]
    for part, deepest in batch_by_depth(within):
        kind_row, place = np.nonzero(np.arange(deepest) < within[part, None])
        owners.append(part[kind_row])
        ranks.append(above[part][kind_row] + place + 1)
        shares.append(first_relevant_rank(size[part], relevant[part], deepest)[kind_row, place])
    value = _value_by_rank(measure, int((above + within).max()) + 1)
    return ListDistributions.of(
        n_lists, np.concatenate(owners), value[np.concatenate(ranks) - 1], np.concatenate(shares)
    )


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
    size, marked, within = groups.size[ties], n_marked[ties], (cut - groups.above)[ties].astype(np.int64)
    fewest, largest = np.maximum(0, within - (size - marked)), np.minimum(marked, within)
    ties, size, marked, within = (column[largest > fewest] for column in (ties, size, marked, within))
    unit = width[groups.lists[ties]] / (largest - fewest)[largest > fewest]
    rows = np.stack([size, marked, within, np.round(unit, 12)])
    _, first, n_lists = np.unique(rows, axis=1, return_index=True, return_counts=True)
    size, marked, within, unit = (column[first] for column in (size, marked, within, unit))
    fewest = np.maximum(0, within - (size - marked))
    depth = np.minimum(marked, within) - fewest + 1
    if depth.sum() > _CELLS:
        return None
    owners, rises, shares = [], [], []
    for part, deepest in batch_by_depth(depth):
        row, n_more = np.nonzero(np.arange(deepest) < depth[part, None])
        chance = hypergeometric_chances(size[part], marked[part], within[part], fewest[part], deepest)
        owners.append(part[row])
        rises.append(n_more * unit[part][row])
        shares.append(chance[row, n_more])
    return ListDistributions.of(n_lists, np.concatenate(owners), np.concatenate(rises), np.concatenate(shares))


def hypergeometric_chances(
    size: IntArray, marked: IntArray, within: IntArray, fewest: IntArray, deepest: int
) -> FloatArray:
    """Return the chances of x = fewest, fewest + 1, ... marked documents among the first places of a tie.

    P(x) / P(x − 1) = (t − x + 1)(m − x + 1) / (x (n − t − m + x)): sums of logs, then shares of their total.

    Args:
        size: (n,) documents n of each tie.
        marked: (n,) marked documents m of each.
        within: (n,) first places t of each that count.
        fewest: (n,) the smallest x that can be.
        deepest: how many x.

    Returns:
        (n, deepest) chances, 0 where there are not as many x.
    """
    x = fewest[:, None] + np.arange(deepest)
    over = np.maximum((marked[:, None] - x + 1.0) * (within[:, None] - x + 1.0), 0)
    step = over / np.maximum(x * (size - marked - within)[:, None] + x**2, 1)
    possible = (np.arange(deepest) == 0) | (step > 0)
    logs = np.cumsum(np.log(np.where(possible & (np.arange(deepest) > 0), step, 1.0)), axis=1)
    shares = np.where(possible, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _order_distributions(
    ranking: Ranking,
    groups: TieGroups,
    measure: MeasureAt,
    list_ids: IntArray,
    best: FloatArray,
    max_orders: int,
) -> tuple[ListDistributions | None, IntArray]:
    is_seen = np.isin(groups.lists, list_ids) & (True if measure.k is None else groups.above < measure.k)
    parts, n_lists, other_ids, room = [], [], [], _CELLS
    for lists in _lists_by_kind(groups, is_seen, best):
        query = ranking.query_ids[lists[0]].as_py()
        if (values := value_chances(ranking, query, measure, min(max_orders, room))) is None:
            other_ids += lists
            continue
        parts.append(merge_equal(*values))
        n_lists.append(len(lists))
        room -= len(parts[-1][0])
    if not parts:
        return None, list_ids
    distributions = ListDistributions.of(
        np.array(n_lists),
        np.repeat(np.arange(len(parts)), [len(values) for values, _ in parts]),
        np.concatenate([values for values, _ in parts]),
        np.concatenate([chances for _, chances in parts]),
    )
    return distributions, np.array(sorted(other_ids), dtype=np.int64)


def _lists_by_kind(groups: TieGroups, is_seen: BoolArray, best: FloatArray) -> list[list[int]]:
    """Group lists whose ties hold the same grades at the same places, and whose best value is the same."""
    n_contributing = np.diff(np.append(groups.first, len(groups.grades)))
    by_key: dict[tuple[object, ...], list[int]] = {}
    seen_groups = np.flatnonzero(is_seen)
    for ties in np.split(seen_groups, np.flatnonzero(np.diff(groups.lists[seen_groups])) + 1):
        grades = [
            tuple(sorted(groups.grades[first : first + held].tolist()))
            for first, held in zip(groups.first[ties].tolist(), n_contributing[ties].tolist(), strict=True)
        ]
        list_id = int(groups.lists[ties[0]])
        key = (
            *groups.above[ties].tolist(),
            *groups.size[ties].tolist(),
            *grades,
            round(float(best[list_id]), 12),
        )
        by_key.setdefault(key, []).append(list_id)
    return list(by_key.values())
