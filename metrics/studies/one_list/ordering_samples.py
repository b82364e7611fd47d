"""Orderings of one list drawn at random: what sampling would report for the exact tied value."""

import numpy as np
import pandas as pd

from metrics.measures import parse
from metrics.studies.one_list.orderings import CELLS, counts_judged, strict_orders
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import Ranking

_POINTS = 200
"""Numbers of draws at which a running mean is given."""
_FEWEST = 10
"""Draws from which on a running mean is given."""
_SPARSE = 8
"""Places of a tie for each document to be placed, from which on it is not shuffled as a whole."""


def sample_values(ranking: Ranking, query_id: str, measure: str, draws: int, seed: int) -> FloatArray:
    """Return (draws,) values of a measure in orderings drawn evenly; the same seed draws the same orderings.

    Only the documents that contribute are placed, so a tie of 100,000 costs no more than its relevant ones.

    Args:
        ranking: the lists of one reranker.
        query_id: which list.
        measure: name of a measure.
        draws: how many orderings.
        seed: of the generator.
    """
    documents = ranking.documents_of(query_id)
    contributing = documents[(ranking.judged if counts_judged(measure) else ranking.grades > 0)[documents]]
    targets = None if ranking.targets is None else ranking.targets[contributing]
    generator, values = np.random.default_rng(seed), np.empty(draws)
    step = max(1, CELLS // max(1, len(contributing), int((ranking.judgments.grades > 0).sum())))
    for start in range(0, draws, step):
        n = min(step, draws - start)
        place = _sample_places(ranking, contributing, n, generator)
        order = np.argsort(place, axis=1)
        place, column = np.take_along_axis(place, order, axis=1).ravel(), order.ravel()
        lists, grades = np.repeat(np.arange(n), len(contributing)), ranking.grades[contributing][column]
        order_targets = None if targets is None else targets[column]
        groups = strict_orders(ranking, query_id, n, lists, place, grades, order_targets)
        values[start : start + n] = parse(measure).values(groups)
    return values


def _sample_places(
    ranking: Ranking, contributing: IntArray, draws: int, generator: np.random.Generator
) -> IntArray:
    """Return the (draws, n_contributing) place, from 0, of the contributing documents of one list.

    Ties of one size with as many contributing documents are drawn at once.
    """
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
    """Return (draws, n_contributing) distinct places of a tie, from 0, all choices and orders equally likely.

    Few of many are drawn freely, and drawn again where they fall on one another: no place is favoured.

    Args:
        size: documents of the tie.
        n_contributing: how many of them are placed.
        draws: how often.
        generator: what draws.
    """
    if _SPARSE * n_contributing > size:
        return generator.permuted(np.tile(np.arange(size), (draws, 1)), axis=1)[:, :n_contributing]
    places = generator.integers(size, size=(draws, n_contributing))
    unsettled = np.arange(draws)
    while len(unsettled):
        rows = places[unsettled]
        order = np.argsort(rows, axis=1, kind="stable")
        is_redrawn = np.zeros_like(rows, dtype=bool)
        is_repeat = np.diff(np.take_along_axis(rows, order, axis=1), prepend=-1, axis=1) == 0
        np.put_along_axis(is_redrawn, order, is_repeat, axis=1)
        rows[is_redrawn] = generator.integers(size, size=int(is_redrawn.sum()))
        places[unsettled] = rows
        unsettled = unsettled[is_redrawn.any(axis=1)]
    return places


def running_mean(values: FloatArray, std: float) -> pd.DataFrame:
    """Return the mean of the first draws and its standard error, as draws grow.

    Args:
        values: (n,) values in the order drawn, one or more.
        std: their standard deviation over all orderings.

    Returns:
        draws (evenly spaced in their logarithm), mean, standard_error: std / sqrt(draws).
    """
    n = np.unique(np.geomspace(min(_FEWEST, len(values)), len(values), _POINTS).round().astype(np.int64))
    centre = values.mean()
    total = np.cumsum(values - centre)[n - 1]
    return pd.DataFrame({"draws": n, "mean": centre + total / n, "standard_error": std / np.sqrt(n)})
