"""What judging settles: how wide bounds are after so many documents, in an order and at random."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.studies.leaderboard.judging.copies import JudgedCopies
from metrics.support.arrays import FloatArray, IntArray, joined_ranges

_MOST_DRAWS, _FEWEST_DRAWS = 5, 2
"""Ways to judge that are drawn."""
_MOST_POINTS, _FEWEST_POINTS = 100, 12
"""Numbers of documents judged at which bounds are computed."""
_MOST_ROWS = 2**23
"""Rows of lists that are copied, about."""


def settling_curve(
    copies: JudgedCopies,
    query: IntArray,
    doc_ids: pa.Array,
    draw_grades: Callable[[int], FloatArray],
    draws: int | None = None,
) -> pd.DataFrame:
    """Return how wide the bounds of the copied queries are after so many documents are judged.

    Nobody knows the answers, so they are drawn as `draw_grades` does; the random order is another one for each
    draw, of the same answers.

    Args:
        copies: the lists.
        query: (n,) number of the query of each document, in the order in which they are judged.
        doc_ids: (n,) the documents.
        draw_grades: seed → (n,) grades of the documents.
        draws: ways to judge; None: as many as the data bears.

    Returns:
        judged (from 0 to n), in_order, at_random: width summed over rerankers and queries, mean over draws.
    """
    n, n_queries = len(query), len(copies.rows_of_query)
    n_copies = n + n_queries  # at the most, however many points there are
    most_copies = _MOST_ROWS / (2 * max(float(copies.rows_of_query.mean()), 1))
    n_draws = draws or int(np.clip(most_copies / n_copies, _FEWEST_DRAWS, _MOST_DRAWS))
    n_points = _MOST_POINTS
    if n_draws * n_copies > most_copies:
        n_points = int(np.clip(most_copies / (n_draws * n_queries), _FEWEST_POINTS, _MOST_POINTS))
    shares = np.linspace(0, 1, n_points + 1) ** 2  # the first documents settle most
    points = np.unique((n * shares).round().astype(np.int64))
    in_order, at_random = [], []
    for seed in range(n_draws):
        grades = draw_grades(seed * 2**8)
        shuffled = np.random.default_rng(seed).permutation(n)
        in_order.append(_widths_along(copies, points, query, doc_ids, grades))
        at_random.append(
            _widths_along(copies, points, query[shuffled], doc_ids.take(pa.array(shuffled)), grades[shuffled])
        )
    means = {"in_order": np.mean(in_order, axis=0), "at_random": np.mean(at_random, axis=0)}
    return pd.DataFrame({"judged": points, **means})


def _widths_along(
    copies: JudgedCopies, points: IntArray, query: IntArray, doc_ids: pa.Array, grades: FloatArray
) -> FloatArray:
    """Return (n_points,) width of all bounds after so many documents are judged.

    A query's bounds depend on how many of its own documents are judged by then: one copy for each such number.
    """
    n_queries = len(copies.rows_of_query)
    point = np.searchsorted(points, np.arange(1, len(query) + 1))
    counts = np.bincount(point * n_queries + query, minlength=len(points) * n_queries)
    numbers = np.arange(n_queries) * (len(query) + 1) + np.cumsum(
        counts.reshape(len(points), n_queries), axis=0
    )
    distinct, place = np.unique(numbers, return_inverse=True)
    copied, n_judged = np.divmod(distinct, len(query) + 1)
    by_query = np.argsort(query, kind="stable")
    first = np.searchsorted(query[by_query], copied)
    owner = np.repeat(np.arange(len(copied)), n_judged)
    judged = by_query[joined_ranges(first, n_judged)]
    widths = copies.widths(copied, owner, doc_ids.take(pa.array(judged)), grades[judged])
    return np.asarray(widths[place.reshape(numbers.shape)].sum(axis=1))
