"""Results of parts put together: tables end to end, counts sum_counts up, means kept as running sums."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.support.arrays import IntArray, combine_chunks

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables, one table after the other."""
    return tables[0] if len(tables) == 1 else pd.concat(tables)


def list_index(rerankers: Sequence[str], owner: IntArray, queries: pa.ChunkedArray) -> pd.MultiIndex:
    """Return (reranker, query_id) of lists.

    Args:
        rerankers: names of some.
        owner: (n_lists,) reranker of each list, a place among them.
        queries: (n_lists,) query of each.
    """
    codes: npt.NDArray[np.integer] = np.arange(len(queries))
    if len(rerankers) > 1:
        distinct = combine_chunks(queries.dictionary_encode())
        codes, queries = distinct.indices.to_numpy(), distinct.dictionary
    return pd.MultiIndex(
        levels=[rerankers, pd.Index(queries.to_pandas())],
        codes=[owner, codes],
        names=["reranker", "query_id"],
        verify_integrity=False,
    )


def no_lists() -> pd.MultiIndex:
    """Return (reranker, query_id) of no list."""
    return list_index([], np.empty(0, np.int64), pa.chunked_array([], pa.string()))


def merge_indexes(lists: Sequence[pd.MultiIndex]) -> pd.MultiIndex:
    """Return the (reranker, query_id) of one evaluation after the other."""
    return lists[0].append(list(lists[1:]))


def concat_by_reranker(tables: Sequence[pd.DataFrame], rerankers: pd.Index) -> pd.DataFrame:
    """Return the rows of all tables, indexed (reranker, query_id); rerankers as given, else as they come."""
    table = concat(tables)
    owner = rerankers.get_indexer(table.index.get_level_values("reranker"))
    return table if (owner[1:] >= owner[:-1]).all() else table.iloc[np.argsort(owner, kind="stable")]


def sum_counts(policies: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Sum counts by reranker; rerankers in order of first appearance."""
    return pd.concat(policies).groupby(level="reranker", sort=False).sum()


def refuse_repeated(lists: Sequence[pd.MultiIndex]) -> None:
    """Raise a UsageError where a reranker has a query in two parts, lists left out included."""
    index = merge_indexes(lists)
    repeated = index[index.duplicated()]
    if len(repeated):
        reranker, query = repeated[0]
        raise UsageError(
            f"Query {query!r} of {reranker!r} is in two parts. Split by query, the judgments as well."
        )


def summarise(groups: "DataFrameGroupBy[Any]", rerankers: pd.Index) -> pd.DataFrame:
    """Return the mean, std and n of each column (measure, ties) by reranker; see `Evaluation.summary`."""
    statistics = {
        "mean": groups.mean().reindex(rerankers),
        "std": groups.std().reindex(rerankers),
        "n": groups.count().reindex(rerankers, fill_value=0).astype(np.int64),
    }
    table = pd.concat(statistics, axis=1).reorder_levels([1, 2, 0], axis=1)
    return table.iloc[:, np.arange(table.shape[1]).reshape(len(statistics), -1).T.ravel()]


def flat_means(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each reranker and measure: reranker, measure, n, and the mean under each treatment."""
    means = summary.xs("mean", axis=1, level=2)
    measures, ties = (list(dict.fromkeys(means.columns.get_level_values(level))) for level in (0, 1))
    counts = summary.xs("n", axis=1, level=2)[measures[0], ties[0]]
    rows = [(reranker, measure) for reranker in summary.index for measure in measures]
    table = pd.DataFrame(rows, columns=["reranker", "measure"])
    table["n"] = np.repeat(counts.to_numpy(), len(measures))
    for name in sorted(ties, key=lambda name: name != "expected"):
        table[name] = means.xs(name, axis=1, level=1)[measures].to_numpy().ravel()
    return table


class Means:
    """Means over lists that are not kept; the sums are exact, so the same however lists are cut into parts."""

    def __init__(self) -> None:
        self._sums: dict[str, list[list[float]]] = {}
        self._counts: Counter[str] = Counter()
        self._columns = pd.Index([])

    def add(self, scores: pd.DataFrame, rerankers: Sequence[str]) -> None:
        """Take in the lists of a part, and the names of all its rerankers, with or without lists."""
        self._columns = scores.columns
        owner, values = scores.index.get_level_values("reranker"), scores.to_numpy()
        place = pd.Index(rerankers).get_indexer(owner)
        order = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[order], np.arange(len(rerankers) + 1))
        for name, rows in zip(rerankers, pairwise(ends), strict=True):
            own = values[order[slice(*rows)]]
            sums = self._sums.get(name, [[]] * own.shape[1])
            columns = own.T.tolist()
            self._sums[name] = [_exact([*kept, *more]) for kept, more in zip(sums, columns, strict=True)]
            self._counts[name] += len(own)

    @property
    def counts(self) -> dict[str, int]:
        """Reranker → its lists, in order of first appearance."""
        return {name: self._counts[name] for name in self._sums}

    def table(self) -> pd.DataFrame:
        """Index reranker in order of first appearance, columns as the scores; NaN where there is no list."""
        names = pd.Index(list(self._sums), name="reranker")
        means = [
            [math.fsum(kept) / n if (n := self._counts[name]) else math.nan for kept in sums]
            for name, sums in self._sums.items()
        ]
        return pd.DataFrame(means, index=names, columns=self._columns)


def _exact(values: list[float]) -> list[float]:
    """Return two or three numbers whose sum is exactly that of values: it rounded, then what that lacks."""
    terms: list[float] = []
    while remainder := math.fsum(chain(values, (-one for one in terms))):
        terms.append(remainder)
        if not math.isfinite(remainder):
            break
    return terms
