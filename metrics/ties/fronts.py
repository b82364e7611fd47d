"""Ranking by several criteria: non-dominated fronts of documents."""

from collections.abc import Iterable, Sequence

import numpy as np

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth

MAX_LIST = 20_000
"""Longest list that is sorted into fronts: each document is compared with all before it."""


def criterion(text: str) -> tuple[str, bool]:
    """Return the column of a criterion, and whether high values are best: `freshness`, `freshness:asc`."""
    name, colon, direction = text.rpartition(":")
    return (name, direction == "desc") if colon and direction in ("asc", "desc") else (text, True)


def criterion_text(column: str, *, highest_best: bool) -> str:
    """Return the shortest text that `criterion` reads as this column and direction."""
    text = column if highest_best else f"{column}:asc"
    return text if criterion(text) == (column, highest_best) else f"{column}:desc"


def criterion_choices(columns: Iterable[str]) -> list[str]:
    """Return all criteria: the score, and each further score column in either direction."""
    return ["score", *(criterion_text(name, highest_best=best) for name in columns for best in (True, False))]


def criterion_words(text: str) -> str:
    """Return a criterion in words: `score`, `cost, lowest first`."""
    column, highest_best = criterion(text)
    return text if text == "score" else f"{column}, {'highest' if highest_best else 'lowest'} first"


def criteria_words(texts: Sequence[str]) -> str:
    """Return criteria in a sentence: `score, cost (lowest first) and fresh`."""
    *leading, last = (
        column if highest_best else f"{column} (lowest first)" for column, highest_best in map(criterion, texts)
    )
    return f"{', '.join(leading)} and {last}" if leading else last


def highest_first(values: FloatArray, *, highest_best: bool) -> FloatArray:
    """Return (n_docs,) values of which the highest is best; a missing score, -inf, stays last."""
    return values if highest_best else np.where(np.isneginf(values), values, -values)


def front_numbers(criteria: Sequence[FloatArray], starts: IntArray) -> IntArray:
    """Return the (n_docs,) front of each document, from 0 for non-dominated ones.

    A document dominates another if it is lower in no criterion and higher in at least one. The front of a
    document is one below the lowest front of its dominators. Documents alike in every criterion share a
    front.

    Source: Goldberg, Genetic Algorithms in Search, Optimization and Machine Learning, 1989, non-dominated
    sorting; taken from the top down, as in Zhang et al., IEEE Transactions on Evolutionary Computation 2015.

    Shapes: `criteria` (n_docs,) each, `starts` (n_lists + 1,).
    """
    lengths = np.diff(starts)
    if lengths.max(initial=0) > MAX_LIST:
        raise UsageError(
            f"A list of {lengths.max():,} documents is too long to rank by several criteria: the limit is "
            f"{MAX_LIST:,}. Shorten the lists, or rank by one score."
        )
    lists = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((*(-values for values in reversed(criteria)), lists))
    values = np.stack([column[order] for column in criteria])
    fronts = np.zeros(len(order), dtype=np.int64)
    for part, longest in batch_by_depth(lengths):
        is_document = np.arange(longest) < lengths[part, None]
        documents = np.where(is_document, starts[part, None] + np.arange(longest), 0)
        table = np.where(is_document, values[:, documents], -np.inf)
        fronts[order[documents[is_document]]] = _fronts_of_sorted(table)[is_document]
    return fronts


def _fronts_of_sorted(table: FloatArray) -> IntArray:
    """Return the (n_lists, n_places) front of each place of lists sorted by all criteria: (n_criteria, ...)."""
    is_level, later = (table[:, :, 1:] == table[:, :, :-1]).all(axis=0), table[1:]
    fronts = np.zeros(table.shape[1:], dtype=np.int64)
    for place in range(1, table.shape[2]):
        dominates = (later[:, :, :place] >= later[:, :, place, None]).all(axis=0)
        below = ((fronts[:, :place] + 1) * dominates).max(axis=1)
        fronts[:, place] = np.where(is_level[:, place - 1], fronts[:, place - 1], below)
    return fronts
