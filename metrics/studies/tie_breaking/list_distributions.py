"""What each list of a ranking can score, and with which chance, where that is known or soon counted."""

import numpy as np
import pyarrow as pa

from metrics.measures import MeasureAt, RefinedGroups
from metrics.studies.one_list.orderings import WRITTEN, pattern_values
from metrics.studies.tie_breaking.convolution import ListDistributions, merge_equal
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties import Judgments, Ranking, TieGroups, first_relevant_rank, log10_factorials
from metrics.ties.batch_by_depth import batch_by_depth
from metrics.ties.permutations import chance_of_none

_CELLS = 2**21
"""Values of all kinds of lists together, up to which they are computed."""
_PATTERNS = 2**14
"""Relevance patterns of all kinds of lists together, up to which they are enumerated."""


def list_distributions(
    ranking: Ranking, asked: MeasureAt, place: IntArray, worst: FloatArray, best: FloatArray, most: int
) -> ListDistributions | None:
    """Exact distributions of the lists that ties can move; None where there is no short way to them.

    - Measures by first rank (RR, Hits): the rank of the first relevant document, as in `first_relevant_rank`.
    - Measures that count (P, R, F1, Rprec, Judged; DR and Div where every document is its own target): how
      many documents stand before the cut-off is hypergeometric in the one tie that reaches across it.
    - Other measures told by grades: every relevance pattern, where the unlike lists have few together.

    Args:
        ranking: the lists of one reranker.
        asked: the measure.
        place: (n,) the lists that have more than one value.
        worst: (n,) the smallest value of each.
        best: (n,) the largest.
        most: unlike lists up to which patterns are enumerated.
    """
    groups, ends = RefinedGroups(ranking).of(asked), np.zeros((2, ranking.n_lists))
    ends[:, place] = worst, best
    moving = np.zeros(ranking.n_lists, dtype=bool)
    moving[place] = True
    if asked.measure.family.by_first_rank:
        return _first_hits(groups, asked, moving)
    if asked.count_depth(groups) is not None:
        return _counted(groups, asked, moving, ends[1] - ends[0])
    if not asked.measure.family.by_grades:
        return None
    return _patterns(ranking, groups, asked, moving, ends[1], most)


def _first_hits(groups: TieGroups, asked: MeasureAt, moving: BoolArray) -> ListDistributions | None:
    leading = groups.leading[moving[groups.lists[groups.leading]]]
    rows = np.stack([groups.above[leading], groups.size[leading], groups.relevant[leading]])
    (above, size, relevant), times = np.unique(rows, axis=1, return_counts=True)
    depth = size - relevant + 1
    within = depth if asked.k is None else np.minimum(depth, asked.k - above)
    if within.sum() > _CELLS:
        return None
    past = np.flatnonzero(within < depth)
    owners, ranks = [past], [(above + within)[past] + 1]
    shares = [chance_of_none(size[past], relevant[past], within[past])]
    for part, deepest in batch_by_depth(within):
        row, place = np.nonzero(np.arange(deepest) < within[part, None])
        owners.append(part[row])
        ranks.append(above[part][row] + place + 1)
        shares.append(first_relevant_rank(size[part], relevant[part], deepest)[row, place])
    value = _value_by_rank(asked, int((above + within).max()) + 1)
    return ListDistributions.of(
        times, np.concatenate(owners), value[np.concatenate(ranks) - 1], np.concatenate(shares)
    )


def _value_by_rank(asked: MeasureAt, deepest: int) -> FloatArray:
    """(deepest,) value of a list whose first relevant document has rank 1, 2, ..."""
    each, none = np.arange(deepest), np.empty(0, dtype=np.int64)
    nothing = Judgments(pa.nulls(deepest, pa.string()), 1, none, none.astype(np.float64))
    one = np.ones(deepest, dtype=np.int64)
    return asked.values(TieGroups(nothing, each + 1, each, each, one, each, np.ones(deepest)))


def _counted(
    groups: TieGroups, asked: MeasureAt, moving: BoolArray, width: FloatArray
) -> ListDistributions | None:
    cut = np.asarray(asked.count_depth(groups))
    across = (groups.above < cut) & (groups.above + groups.size > cut) & moving[groups.lists]
    at = np.flatnonzero(across)
    counted = np.diff(np.append(groups.first, len(groups.grades)))
    held = counted if asked.measure.family.counts == "judged" else groups.relevant
    size, marked, within = groups.size[at], held[at], (cut - groups.above)[at].astype(np.int64)
    fewest, most = np.maximum(0, within - (size - marked)), np.minimum(marked, within)
    at, size, marked, within = (column[most > fewest] for column in (at, size, marked, within))
    unit = width[groups.lists[at]] / (most - fewest)[most > fewest]
    rows = np.stack([size, marked, within, np.round(unit, 12)])
    _, first, times = np.unique(rows, axis=1, return_index=True, return_counts=True)
    size, marked, within, unit = (column[first] for column in (size, marked, within, unit))
    fewest = np.maximum(0, within - (size - marked))
    depth = np.minimum(marked, within) - fewest + 1
    if depth.sum() > _CELLS:
        return None
    owners, rises, shares = [], [], []
    for part, deepest in batch_by_depth(depth):
        row, more = np.nonzero(np.arange(deepest) < depth[part, None])
        chance = _hypergeometric(size[part], marked[part], within[part], fewest[part], deepest)
        owners.append(part[row])
        rises.append(more * unit[part][row])
        shares.append(chance[row, more])
    return ListDistributions.of(times, np.concatenate(owners), np.concatenate(rises), np.concatenate(shares))


def _hypergeometric(
    size: IntArray, marked: IntArray, within: IntArray, fewest: IntArray, deepest: int
) -> FloatArray:
    """(n, deepest) chance of x = fewest, fewest + 1, ... marked documents among the first `within` of a tie.

    P(x) / P(x − 1) = (t − x + 1)(m − x + 1) / (x (n − t − m + x)): sums of logs, then shares of their total.
    """
    x = fewest[:, None] + np.arange(deepest)
    over = np.maximum((marked[:, None] - x + 1.0) * (within[:, None] - x + 1.0), 0)
    step = over / np.maximum(x * (size - marked - within)[:, None] + x**2, 1)
    possible = (np.arange(deepest) == 0) | (step > 0)
    logs = np.cumsum(np.log(np.where(possible & (np.arange(deepest) > 0), step, 1.0)), axis=1)
    shares = np.where(possible, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _patterns(
    ranking: Ranking, groups: TieGroups, asked: MeasureAt, moving: BoolArray, best: FloatArray, most: int
) -> ListDistributions | None:
    seen = moving[groups.lists] & (True if asked.k is None else groups.above < asked.k)
    count = 10 ** np.minimum(_log10_patterns(groups, seen), WRITTEN)
    if count.max(initial=0) > _PATTERNS:
        return None
    alike = _alike(groups, seen, best)
    if len(alike) > most or sum(count[lists[0]] for lists in alike) > _PATTERNS:
        return None
    parts = []
    for lists in alike:
        query = ranking.query_ids[lists[0]].as_py()
        if (values := pattern_values(ranking, query, str(asked))) is None:
            return None
        parts.append(merge_equal(values, np.full(len(values), 1 / len(values))))
    return ListDistributions.of(
        np.array([len(lists) for lists in alike]),
        np.repeat(np.arange(len(parts)), [len(values) for values, _ in parts]),
        np.concatenate([values for values, _ in parts]),
        np.concatenate([chances for _, chances in parts]),
    )


def _log10_patterns(groups: TieGroups, seen: BoolArray) -> FloatArray:
    """(n_lists,) log10 of the relevance patterns of the groups that are seen: n! over those of each grade."""
    order = np.lexsort((groups.grades, groups.owner))
    owner, grades = groups.owner[order], groups.grades[order]
    start = np.flatnonzero(np.r_[True, (np.diff(owner) > 0) | (np.diff(grades) > 0)])
    logs = log10_factorials(int(groups.size.max(initial=1)))
    alike = np.diff(np.append(start, len(owner)))
    same = np.bincount(owner[start], logs[alike], minlength=len(seen))
    counted = np.diff(np.append(groups.first, len(owner)))
    found = logs[groups.size] - same - logs[groups.size - counted]
    return groups.per_list(np.where(seen, found, 0.0))


def _alike(groups: TieGroups, seen: BoolArray, best: FloatArray) -> list[list[int]]:
    """Lists whose ties hold the same grades at the same places, and whose best value is the same."""
    counted = np.diff(np.append(groups.first, len(groups.grades)))
    found: dict[tuple[object, ...], list[int]] = {}
    at = np.flatnonzero(seen)
    for one in np.split(at, np.flatnonzero(np.diff(groups.lists[at])) + 1):
        grades = [
            tuple(sorted(groups.grades[first : first + held].tolist()))
            for first, held in zip(groups.first[one].tolist(), counted[one].tolist(), strict=True)
        ]
        place = int(groups.lists[one[0]])
        key = (*groups.above[one].tolist(), *groups.size[one].tolist(), *grades, round(float(best[place]), 12))
        found.setdefault(key, []).append(place)
    return list(found.values())
