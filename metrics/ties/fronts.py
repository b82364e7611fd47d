"""Several criteria: the documents of a list in fronts, none of which is better than another of its own."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from metrics.errors import UsageError
from metrics.support.arrays import BoolArray, FloatArray, IntArray

_CELLS = 2**20
"""Documents, padding included, that are put into fronts at once."""
MAX_LIST = 20_000
"""Documents of a list that are put into fronts: each is compared with all before it."""


def criterion(text: str) -> tuple[str, bool]:
    """Return the column a criterion names, and whether high values are best: `freshness`, `freshness:asc`."""
    name, colon, direction = text.rpartition(":")
    return (name, direction == "desc") if colon and direction in ("asc", "desc") else (text, True)


def criterion_text(column: str, *, highest_best: bool) -> str:
    """Return the shortest text that `criterion` reads as this column and direction."""
    text = column if highest_best else f"{column}:asc"
    return text if criterion(text) == (column, highest_best) else f"{column}:desc"


def criterion_choices(columns: Iterable[str]) -> list[str]:
    """Return the criteria that can be chosen: the score, and each further score column in either direction."""
    return ["score", *(criterion_text(name, highest_best=best) for name in columns for best in (True, False))]


def criterion_words(text: str) -> str:
    """Return a criterion in words: `score`, `cost, lowest first`."""
    column, highest_best = criterion(text)
    return text if text == "score" else f"{column}, {'highest' if highest_best else 'lowest'} first"


def short_words(text: str) -> str:
    """Return a criterion in a sentence: `score`, `fresh`, `cost (lowest first)`."""
    column, highest_best = criterion(text)
    return column if highest_best else f"{column} (lowest first)"


def criteria_words(texts: Sequence[str]) -> str:
    """Return criteria in a sentence: `score, cost (lowest first) and fresh`."""
    *leading_words, last_words = map(short_words, texts)
    return f"{', '.join(leading_words)} and {last_words}" if leading_words else last_words


def highest_first(values: FloatArray, *, highest_best: bool) -> FloatArray:
    """Return the (n_docs,) values of a criterion, the highest best; -inf is a missing score, always last."""
    return values if highest_best else np.where(np.isneginf(values), values, -values)


def front_numbers(criteria: Sequence[FloatArray], starts: IntArray) -> IntArray:
    """Return the (n_docs,) front of each document, from 0 for those that no other of their list dominates.

    A document dominates another that is higher in no criterion, where it is itself higher in one at least.
    Its front is one below the lowest front of those that dominate it: what is left without the fronts above
    has it among its non-dominated documents. Documents alike in every criterion share a front.

    Source: Goldberg, Genetic Algorithms in Search, Optimization and Machine Learning, 1989, non-dominated
    sorting; taken from the top down, as in Zhang et al., IEEE Transactions on Evolutionary Computation 2015.

    Shapes: `criteria` (n_docs,) each, `starts` (n_lists + 1,).

    Raises:
        UsageError: a list is longer than `MAX_LIST`.
    """
    lengths = np.diff(starts)
    if lengths.max(initial=0) > MAX_LIST:
        raise UsageError(
            f"A list of {lengths.max():,} documents cannot be put into fronts: at most {MAX_LIST:,}. "
            "Cut the run, or rank by one score."
        )
    lists = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((*(-values for values in reversed(criteria)), lists))
    values = np.stack([column[order] for column in criteria])
    of_sorted = _fronts_of_two if len(criteria) == 2 else _fronts_of_several  # noqa: PLR2004 a pair
    fronts = np.zeros(len(order), dtype=np.int64)
    for documents, is_document in _tables(starts):
        table = np.where(is_document, values[:, documents], -np.inf)
        fronts[order[documents[is_document]]] = of_sorted(table, _equals_last(table))[is_document]
    return fronts


def _equals_last(table: FloatArray) -> BoolArray:
    """Return (n_lists, n_places) whether a place is level with the one before it in every criterion."""
    equals = np.zeros(table.shape[1:], dtype=bool)
    equals[:, 1:] = (table[:, :, 1:] == table[:, :, :-1]).all(axis=0)
    return equals


def _fronts_of_two(table: FloatArray, equals_last: BoolArray) -> IntArray:
    """Return the (n_lists, n_places) front of each place under two criteria.

    The highest second criterion of each front falls from front to front, so a place lies below as many fronts
    as have one at least its own.
    """
    second = table[1]
    fronts = np.zeros(second.shape, dtype=np.int64)
    highest = np.full((len(second), 1), np.nan)
    every_list = np.arange(len(second))
    highest[:, 0] = second[:, 0]
    for place in range(1, second.shape[1]):
        below = (highest >= second[:, place, None]).sum(axis=1)
        front = np.where(equals_last[:, place], fronts[:, place - 1], below)
        if front.max() == highest.shape[1]:
            highest = np.pad(highest, ((0, 0), (0, highest.shape[1])), constant_values=np.nan)
        highest[every_list, front] = second[:, place]
        fronts[:, place] = front
    return fronts


def _fronts_of_several(table: FloatArray, equals_last: BoolArray) -> IntArray:
    """Return the (n_lists, n_places) front of each place: one below the lowest that dominates it."""
    later = table[1:]
    fronts = np.zeros(table.shape[1:], dtype=np.int64)
    for place in range(1, table.shape[2]):
        dominates = (later[:, :, :place] >= later[:, :, place, None]).all(axis=0)
        below = ((fronts[:, :place] + 1) * dominates).max(axis=1)
        fronts[:, place] = np.where(equals_last[:, place], fronts[:, place - 1], below)
    return fronts


def _tables(starts: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield lists of like lengths together: (n_lists, n_places) their documents, and where there is one."""
    lengths = np.diff(starts)
    by_length = np.argsort(lengths, kind="stable")
    first = int(np.searchsorted(lengths[by_length], 1))
    while first < len(by_length):
        shortest = int(lengths[by_length[first]])
        end = int(np.searchsorted(lengths[by_length], shortest * 5 / 4, side="right"))
        widest = int(lengths[by_length[end - 1]])
        part = by_length[first : min(end, first + max(1, _CELLS // widest))]
        is_document = np.arange(widest) < lengths[part, None]
        yield np.where(is_document, starts[part, None] + np.arange(widest), 0), is_document
        first += len(part)
