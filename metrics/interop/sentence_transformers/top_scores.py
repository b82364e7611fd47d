"""The head of each query's list, from scores that come in chunks of the corpus, with its last tie whole."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.support.arrays import IntArray, span_starts

_MAX_ROWS = 1_000_000
"""Rows that are evaluated at once."""


class TopScores:
    """The highest scores of each query, and how many documents have the lowest of them.

    What is kept does not grow with a tie: a model that gives all documents one score has one number kept
    for it, and every value down to the cut-off is that of the whole corpus.

    Args:
        depth: places of a list that count.
        relevant: (n_relevant, 2) number of the query of each relevant document, and its position in the corpus;
            -1 where it is not there.
        n_queries: how many queries there are.
    """

    def __init__(self, depth: int, relevant: IntArray, n_queries: int) -> None:
        self.depth = depth
        self.queries, self.positions = relevant.T
        self.relevant_scores = np.full(len(relevant), -np.inf)
        self.highest = np.empty((n_queries, 0), np.float16)
        self.lowest = np.full(n_queries, np.nan)
        self.n_lowest = np.zeros(n_queries, np.int64)

    def add(self, scores: npt.NDArray[np.floating], first: int) -> None:
        """Take in the (n_queries, n_docs) scores of a chunk, its first document at a position of the corpus."""
        values = _highest(np.concatenate([self.highest, _highest(scores, self.depth)], axis=1), self.depth)
        lowest = values.min(axis=1)
        n_before = (self.highest == lowest[:, np.newaxis]).sum(axis=1)
        n_before = np.where(lowest == self.lowest, self.n_lowest, n_before)
        self.n_lowest = n_before + (scores == lowest[:, np.newaxis]).sum(axis=1)
        self.highest, self.lowest = values, lowest.astype(np.float64)
        inside = (self.positions >= first) & (self.positions < first + scores.shape[1])
        self.relevant_scores[inside] = scores[self.queries[inside], self.positions[inside] - first]

    def lists(self) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """Yield the lists of some queries and their judgments: query_id, doc_id, and score or relevance.

        Documents are numbers: relevant ones from 0, the others below 0.
        """
        groups = self._groups()
        n_rows = np.bincount(groups["query_id"], groups["n"], len(self.highest)).astype(np.int64)
        batches = np.cumsum(n_rows) // _MAX_ROWS
        for batch in np.unique(batches):
            rows = _rows(groups[batches[groups["query_id"]] == batch])
            queries = np.sort(self.queries[batches[self.queries] == batch])
            yield rows, pd.DataFrame({"query_id": queries, "doc_id": _places(queries), "relevance": 1})

    def _groups(self) -> pd.DataFrame:
        """Return the tie groups of all lists: query_id, score, n (documents) and n_relevant of them."""
        query, place = np.nonzero(self.highest > self.lowest[:, np.newaxis])
        is_listed = self.relevant_scores >= self.lowest[self.queries]
        every_query = np.arange(len(self.lowest))
        parts = [
            (query, self.highest[query, place], 1, 0),
            (every_query, self.lowest, self.n_lowest, 0),
            (self.queries[is_listed], self.relevant_scores[is_listed], 0, 1),
        ]
        columns = ["query_id", "score", "n", "n_relevant"]
        tables = [pd.DataFrame(dict(zip(columns, part, strict=True))) for part in parts]
        return pd.concat(tables).groupby(["query_id", "score"], as_index=False).sum()


def _highest(scores: npt.NDArray[np.floating], depth: int) -> npt.NDArray[np.floating]:
    """Return the (n_queries, depth) highest scores of each query, or all where there are fewer."""
    n_docs = scores.shape[1]
    return scores if n_docs <= depth else np.partition(scores, n_docs - depth, axis=1)[:, n_docs - depth :]


def _rows(groups: pd.DataFrame) -> pd.DataFrame:
    """Return a row a document of each tie group: query_id, doc_id, score; relevant ones are numbered from 0."""
    rows = groups.loc[groups.index.repeat(groups["n"]), ["query_id", "score", "n_relevant"]]
    is_relevant = _places(rows.index.to_numpy()) < rows["n_relevant"]
    numbers = is_relevant.groupby(rows["query_id"].to_numpy()).cumsum() - 1
    rows["doc_id"] = np.where(is_relevant, numbers, -1 - np.arange(len(rows)))
    return rows[["query_id", "doc_id", "score"]]


def _places(owners: IntArray) -> IntArray:
    """Return the place of each row among those of its owner, from 0; rows of one owner stand together."""
    starts = span_starts(owners)
    return np.arange(len(owners)) - np.repeat(starts, np.diff(np.r_[starts, len(owners)]))
