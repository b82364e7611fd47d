"""Enumerate and draw the orderings of one list, and score them."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from metrics.measures import RefinedGroups, parse
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties import Judgments, Ranking, TieGroups, log10_factorials, treatment

Orders = tuple[FloatArray, FloatArray]
"""(n, depth) grades from the top, and the (n,) chance of each order."""


def orders_of_list(grades: FloatArray, starts: IntArray, depth: int, max_orders: int) -> Orders | None:
    """Return every order of grades in the first `depth` ranks of a list; None for more than `max_orders`.

    `grades` are those of the documents, top tie group first, and `starts` the first document of each tie group.
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
    """Return a lower bound: orders of the commonest grade of a tie and any other."""
    n_others = int(counts.sum() - counts.max())
    fewest = max(0, within - int(counts.max()))
    return sum(math.comb(within, n_inside) for n_inside in range(fewest, min(n_others, within) + 1))


def _orders_of_tie(levels: FloatArray, counts: IntArray, within: int, max_orders: int) -> Orders | None:
    """Return every order of grades in the first ranks of one tie.

    The commonest grade fills the remaining ranks. With n documents, c of each grade, x of them within the m
    ranks, an order has the chance prod c! / (c − x)! / (n! / (n − m)!).
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
    log10 = log10_factorials(int(counts.max()))
    logs = (log10[counts] - log10[counts - inside]).sum(axis=1)
    chances = 10.0 ** (logs - logs.max())
    return orders, chances / chances.sum()


def _choose_places(grades: FloatArray, within: int, room: int, max_orders: int) -> IntArray | None:
    """Return (n, n_grades) ranks of rising grades, equal ones rising; `within` stands for any lower rank."""
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


CELLS = 2**21
"""Documents enumerated or scored at once."""


def first_relevant_ranks(groups: TieGroups) -> "pd.api.extensions.ExtensionArray":
    """Return the (n_lists,) rank of the first relevant document of strict orders, NA without one."""
    ranks = pd.array([pd.NA] * groups.judgments.n_lists, dtype="Int64")
    ranks[groups.lists[groups.leading]] = groups.above[groups.leading] + 1
    return ranks


def list_values(ranking: Ranking, query_id: str, measures: Sequence[str], ties: Sequence[str]) -> pd.DataFrame:
    """Score one list by several measures and treatments.

    Returns:
        index measure, a column for each treatment, and `std`, the standard deviation over all orderings, 0 for
        measures with their own tie rule.
    """
    place = pc.index(ranking.query_ids, query_id).as_py()
    groups, names = RefinedGroups(ranking), list(dict.fromkeys([*ties, "std"]))
    treatments = list(map(treatment, names))
    values = {
        name: [float(column[place]) for column in groups.values(parse(name), treatments)] for name in measures
    }
    return pd.DataFrame.from_dict(values, orient="index", columns=names).rename_axis("measure")


def orders_of_grades(ranking: Ranking, query_id: str, grades: FloatArray) -> TieGroups:
    """Return orders of grades, (n, depth) from the top, as separate lists."""
    lists, places = np.nonzero(grades > 0)
    return strict_orders(ranking, query_id, len(grades), lists, places, grades[lists, places])


def strict_orders(
    ranking: Ranking,
    query_id: str,
    n: int,
    lists: IntArray,
    places: IntArray,
    grades: FloatArray,
    targets: IntArray | None = None,
    *,
    judged: bool = True,
) -> TieGroups:
    """Return n strict orders of one query's list as separate lists.

    `lists` is the rising number of the order of each contributing document, `places` its rank from 0, `grades`
    its grade and `targets` its target, None if each document is its own. `judged` includes the query's
    judgments, which a first rank does not need.
    """
    place, judgments = pc.index(ranking.query_ids, query_id).as_py(), ranking.judgments
    rows = np.flatnonzero((judgments.lists == place) & judged)
    of = None if judgments.targets is None else judgments.targets[rows]
    own = Judgments(
        judgments.query_ids, judgments.relevant_from, judgments.lists[rows], judgments.grades[rows], of
    )
    return TieGroups(
        judgments=own.with_lists(np.full(n, place)),
        n_docs=np.full(n, ranking.n_docs[place]),
        lists=lists,
        above=places,
        size=np.ones_like(lists),
        first=np.arange(len(lists)),
        grades=grades,
        targets=targets,
    )


_POINTS = 200
"""Points of a running mean."""
_FEWEST = 10
"""Draws before the first point of a running mean."""
_SPARSE = 8
"""Tie size for each placed document from which ranks are drawn instead of shuffled."""


def sample_values(ranking: Ranking, query_id: str, measure: str, draws: int, seed: int) -> FloatArray:
    """Return (draws,) values of a measure in random orderings; equal seeds give equal orderings.

    Only contributing documents are placed, so a tie of 100,000 costs no more than its relevant documents.
    """
    documents = ranking.documents_of(query_id)
    contributing = documents[counted_documents(ranking, measure)[documents]]
    generator, values = np.random.default_rng(seed), np.empty(draws)
    step = max(1, CELLS // max(1, len(contributing), int((ranking.judgments.grades > 0).sum())))
    for start in range(0, draws, step):
        n = min(step, draws - start)
        places = sample_places(ranking, contributing, n, generator)
        groups = orders_of_places(ranking, query_id, contributing, places)
        values[start : start + n] = parse(measure).values(groups)
    return values


def counted_documents(ranking: Ranking, measure: str) -> BoolArray:
    """Return whether a measure counts each document: its grade is above 0, or it is judged."""
    return ranking.judged if parse(measure).measure.family.counts == "judged" else ranking.grades > 0


def orders_of_places(ranking: Ranking, query_id: str, documents: IntArray, places: IntArray) -> TieGroups:
    """Return orders, (n, n_documents) ranks from 0 of contributing documents, as separate lists."""
    order = np.argsort(places, axis=1)
    lists = np.repeat(np.arange(len(places)), len(documents))
    placed = documents[order.ravel()]
    return strict_orders(
        ranking,
        query_id,
        len(places),
        lists,
        np.take_along_axis(places, order, axis=1).ravel(),
        ranking.grades[placed],
        None if ranking.targets is None else ranking.targets[placed],
    )


def sample_places(
    ranking: Ranking, contributing: IntArray, draws: int, generator: np.random.Generator
) -> IntArray:
    """Return the (draws, n_contributing) ranks, from 0, of contributing documents."""
    place = np.empty((draws, len(contributing)), dtype=np.int64)
    ties, column, n_contributing = np.unique(
        ranking.groups[contributing], return_index=True, return_counts=True
    )
    kinds, kind = np.unique(np.stack([ranking.sizes[ties], n_contributing]), axis=1, return_inverse=True)
    for kind_id, (size, n_inside) in enumerate(kinds.T.tolist()):
        alike = np.flatnonzero(kind == kind_id)
        columns = column[alike, None] + np.arange(n_inside)
        offsets = sample_distinct_places(size, n_inside, draws * len(alike), generator).reshape(
            draws, len(alike), n_inside
        )
        place[:, columns] = ranking.above[ties[alike]][:, None] + offsets
    return place


def sample_distinct_places(
    size: int, n_contributing: int, draws: int, generator: np.random.Generator
) -> IntArray:
    """Return (draws, n_contributing) distinct ranks of a tie, from 0, all choices equally likely.

    Sparse ranks are chosen draw by draw, which places no other document of the tie.
    """
    if _SPARSE * n_contributing > size:
        return generator.permuted(np.tile(np.arange(size), (draws, 1)), axis=1)[:, :n_contributing]
    places = [generator.choice(size, n_contributing, replace=False) for _ in range(draws)]
    return np.array(places, dtype=np.int64).reshape(draws, n_contributing)


def running_mean(values: FloatArray, std: float) -> pd.DataFrame:
    """Return the mean of the first draws and its standard error, as draws grow.

    `values` are in drawing order, `std` is their standard deviation over all orderings.

    Returns:
        draws (evenly spaced in their logarithm), mean, standard_error: std / sqrt(draws).
    """
    n = np.unique(np.geomspace(min(_FEWEST, len(values)), len(values), _POINTS).round().astype(np.int64))
    centre = values.mean()
    total = np.cumsum(values - centre)[n - 1]
    return pd.DataFrame({"draws": n, "mean": centre + total / n, "standard_error": std / np.sqrt(n)})
