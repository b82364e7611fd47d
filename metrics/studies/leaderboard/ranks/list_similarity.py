"""How alike the lists of two rerankers are, query by query: who copies whom."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.studies.leaderboard.ranks.similarity import Variant, agreement_parts, extrapolated, prefix_shares
from metrics.studies.prose import ONE_RERANKER, Prose, Strong
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.wording import count_of, written_p
from metrics.ties import Ranking

DEPTH = 50
"""Places of a list that are looked at; at a persistence of .9 those below have half a percent of the weight."""
QUESTIONS: Mapping[Variant, str] = {
    "b": "Tied documents are alike, and to tie the same ones is to agree: 1 for a list and its copy.",
    "a": "Nobody knows the order of tied documents: the mean over all of them, below 1 for tied copies.",
    "w": "Tied documents share the first place of their tie: how much of the tops is the same.",
}
"""Variant of rank-biased overlap → what a tie means in it; the first says who copies whom."""


def list_similarity(
    rankings: Mapping[str, Ranking],
    variant: Variant = "b",
    *,
    persistence: float = 0.9,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return how alike the lists of each two rerankers are, on average over the queries both have lists for.

    It is the rank-biased overlap of `metrics.rank_similarity` by what each list ties, to a depth of `DEPTH`.

    Args:
        rankings: reranker → its lists.
        variant: what a tie means, a key of `QUESTIONS`.
        persistence: chance to go on to the next place, above 0 and below 1.
        queries: those that count, None for all.

    Returns:
        a row a pair, the most alike first: reranker, other (in the order of the rankings), similarity (NaN
        where no query is common), n (queries both have lists for), identical (those of which both rank the same
        documents with the same ties).

    Raises:
        UsageError: no such variant, or a persistence out of range.
    """
    if variant not in QUESTIONS or not 0 < persistence < 1:
        raise UsageError(f"Choose a variant among {', '.join(QUESTIONS)}, and a persistence between 0 and 1.")
    k = len(rankings)
    sums, n, identical = np.zeros((k, k)), np.zeros((k, k), np.int64), np.zeros((k, k), np.int64)
    for rows in _rows_by_query(rankings, queries):
        lengths = np.bincount(rows["reranker"], minlength=k)
        is_common = (lengths[:, None] > 0) & (lengths > 0)
        n += is_common
        identical += is_common & _is_same(rows, k)
        sums[is_common] += _overlaps(rows, lengths, variant, persistence)[is_common]
    first, second = np.triu_indices(k, 1)
    names = np.array(list(rankings), dtype=object)
    table = pd.DataFrame(
        {
            "reranker": pd.array(names[first], dtype="str"),
            "other": pd.array(names[second], dtype="str"),
            "similarity": sums[first, second] / np.where(n > 0, n, np.nan)[first, second],
            "n": n[first, second],
            "identical": identical[first, second],
        }
    )
    return table.sort_values("similarity", ascending=False, kind="stable", ignore_index=True)


def _rows_by_query(
    rankings: Mapping[str, Ranking], queries: Collection[str] | None
) -> Iterator[dict[str, IntArray]]:
    """Yield the documents of each query: reranker, document, and above and size of its tie, as numbers."""
    parts = []
    for number, ranking in enumerate(rankings.values()):
        lists = ranking.group_lists[ranking.groups]
        parts.append(
            pd.DataFrame(
                {
                    "query": ranking.query_ids.take(pa.array(lists)).to_pandas(),
                    "document": ranking.ids(np.arange(len(ranking.rows))).to_pandas(),
                    "reranker": number,
                    "above": ranking.above[ranking.groups],
                    "size": ranking.sizes[ranking.groups],
                }
            )
        )
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"query": []})
    if queries is not None:
        table = table[table["query"].isin(list(queries))]
    order, _ = pd.factorize(table["query"])
    rows = np.argsort(order, kind="stable")
    ends = np.flatnonzero(np.diff(order[rows])) + 1
    columns = {name: table[name].to_numpy()[rows] for name in table if name not in ("query", "document")}
    if len(table):
        columns["document"] = pd.factorize(table["document"])[0][rows]
        yield from (
            dict(zip(columns, part, strict=True))
            for part in zip(*(np.split(column, ends) for column in columns.values()), strict=True)
        )


def _is_same(rows: Mapping[str, IntArray], k: int) -> BoolArray:
    """Return (k, k) whether two rank the same documents with the same ties, told by sums of hashes."""
    keys = pd.util.hash_array(rows["document"] * (1 + int(rows["above"].max())) + rows["above"])
    sums = np.zeros(k, np.uint64)
    np.add.at(sums, rows["reranker"], keys)
    lengths = np.bincount(rows["reranker"], minlength=k)
    return np.asarray((sums[:, None] == sums) & (lengths[:, None] == lengths))


def _overlaps(
    rows: Mapping[str, IntArray], lengths: IntArray, variant: Variant, persistence: float
) -> FloatArray:
    """Return (k, k) the overlap of each two lists of a query; 0 where one has none."""
    depth = int(min(DEPTH, lengths.max()))
    is_near = rows["above"] < depth
    reranker, above, size = (rows[name][is_near] for name in ("reranker", "above", "size"))
    documents, place = np.unique(rows["document"][is_near], return_inverse=True)
    shares = np.zeros((len(lengths), depth, len(documents)))
    shares[reranker, :, place] = prefix_shares(above, size, depth, variant).T
    common, sizes = agreement_parts(shares, variant)
    agreement = np.divide(common, sizes, out=np.zeros_like(common), where=sizes > 0)
    depths = np.clip(np.minimum(lengths[:, None], lengths), 1, depth)
    return extrapolated(agreement, depths, persistence)


def similarity_finding(pairs: pd.DataFrame) -> Prose:
    """Say which rerankers have the same lists, or which two are most alike, of `list_similarity`."""
    if not len(pairs):
        return ONE_RERANKER
    common = pairs[pairs["n"] > 0]
    if not len(common):
        return ("No two rerankers have lists for the same query.",)
    copies = common[common["identical"] == common["n"]]
    row = (copies if len(copies) else common).iloc[0]
    names = Strong(str(row["reranker"])), " and ", Strong(str(row["other"]))
    if len(copies):
        copies_too = f" So do {count_of(len(copies) - 1, 'other pair')}." if len(copies) > 1 else ""
        lists = "in the one query both rank" if row["n"] == 1 else f"in all {row['n']:,} queries both rank"
        return (*names, f" have the same lists, ties and all, {lists}: one copies the other.{copies_too}")
    alike_in = f"{row['identical']:,} of {count_of(int(row['n']), 'query')}" if row["identical"] else "no query"
    are_alike = "are most alike, with an overlap of" if len(common) > 1 else "have an overlap of"
    overlap = written_p(row["similarity"]).replace(">", "over ").replace("<", "under ")
    return (*names, f" {are_alike} {overlap}, and the same list in {alike_in}.")
