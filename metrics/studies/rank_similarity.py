"""Measure the agreement of two rankings: of rerankers under two measures, or of lists of documents."""

from collections.abc import Collection, Iterator, Mapping
from math import isnan
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError, needs
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, signed
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.wording import count_of, written_p
from metrics.ties import Ranking

Scores: TypeAlias = Mapping[Any, float] | pd.Series
"""Item → score, the higher the better; items with equal scores are tied."""
PERSISTENCE = 0.9
"""Chance to go on to the next rank; the first ten ranks have 86% of the weight."""
DEPTH = 50
"""Ranks of a list that are compared; lower ranks have 0.5% of the weight."""


def tau_b(first: Scores, second: Scores) -> float:
    """Return Kendall's τ_b of two rankings: 1 for the same order and ties, NaN if a ranking ties all items.

    Args:
        first: item → score, the higher the better.
        second: item → score of the same items.

    Raises:
        UsageError: an empty ranking, a score that is not finite, or different items.

    Source: Kendall, Biometrika 33, 1945.
    """
    with needs("stats"):
        from scipy.stats import kendalltau  # noqa: PLC0415 takes half a second

    ranking, other = _checked(first), _checked(second)
    if set(ranking.index) != set(other.index):
        raise UsageError(
            "tau_b compares rankings of the same items. Remove the other items, or use rank_overlap."
        )
    return float(kendalltau(ranking, other.reindex(ranking.index), variant="b").statistic)


def rank_overlap(first: Scores, second: Scores, *, persistence: float = PERSISTENCE) -> float:
    """Return the extrapolated rank-biased overlap of two rankings: 1 for a ranking and itself.

    RBO = (1 − p) / p · sum over d ≤ n of A(d) p^d + A(n) p^n, with persistence p and agreement A(d) at depth d.
    Beyond the depth n of the shorter ranking the agreement stays the same. A = sum of c_S c_L / sqrt(sum of
    c_S² · sum of c_L²): an item of a tie of t items, j of whose ranks are within d, is in the first d with
    chance c = j / t. So tied items count as equal. An item that one ranking lacks agrees at no depth.

    Args:
        first: item → score, the higher the better.
        second: item → score; it may rank other items, and more or fewer of them.
        persistence: chance to go on to the next rank, above 0 and below 1.

    Raises:
        UsageError: an empty ranking, a score that is not finite, or a persistence out of range.

    Source: Webber, Moffat & Zobel, ACM TOIS 28, 2010; ties: RBO^b of Corsi & Urbano, SIGIR 2024.
    """
    if not 0 < persistence < 1:
        raise UsageError(f"persistence={persistence:g}: choose a number between 0 and 1, such as 0.9.")
    rankings = [_checked(scores) for scores in (first, second)]
    items = rankings[0].index.union(rankings[1].index, sort=False)
    depth = min(map(len, rankings))
    shares = np.zeros((2, depth, len(items)))
    for ranking, share in zip(rankings, shares, strict=True):
        ordered = np.sort(-ranking)
        above = np.searchsorted(ordered, -ranking, "left")
        sizes = np.searchsorted(ordered, -ranking, "right") - above
        share[:, items.get_indexer(ranking.index)] = _shares_within(above, sizes, depth)
    return float(_overlaps(shares, np.full((2, 2), depth), persistence)[0, 1])


def _checked(scores: Scores) -> "pd.Series[float]":
    series = pd.Series(scores, dtype=float)
    if series.empty:
        raise UsageError("A ranking is empty. Give each ranking the scores of its items.")
    if not series.index.is_unique:
        raise UsageError(f"{series.index[series.index.duplicated()][0]!r} is ranked twice. Give it one score.")
    if not np.isfinite(series).all():
        raise UsageError(f"{series.index[~np.isfinite(series)][0]!r} has no finite score. Give it one.")
    return series


def _shares_within(above: IntArray, sizes: IntArray, depth: int) -> FloatArray:
    """Return (depth, n_items) the chance of each item to be within each depth.

    `above` is the number of items above the tie of each item, `sizes` the size of its tie.
    """
    within: FloatArray = np.clip(np.arange(1, depth + 1)[:, None] - above, 0, sizes) / sizes
    return within


def _overlaps(shares: FloatArray, depths: IntArray, persistence: float) -> FloatArray:
    """Return (k, k) the overlap of each two of k rankings, extrapolated beyond the (k, k) depths.

    `shares` is (k, depth, n_items); a ranking without items has an overlap of 0.
    """
    by_depth = shares.transpose(1, 0, 2)
    common = by_depth @ by_depth.transpose(0, 2, 1)
    own = np.diagonal(common, axis1=1, axis2=2)
    sizes = np.sqrt(own[:, :, None] * own[:, None, :])
    agreement = np.divide(common, sizes, out=np.zeros_like(common), where=sizes > 0)
    places = np.arange(len(agreement))[:, None, None]
    weights = np.where(places < depths, (1 - persistence) * persistence**places, 0.0)
    last: FloatArray = np.take_along_axis(agreement, depths[None] - 1, axis=0)[0]
    overlaps: FloatArray = (weights * agreement).sum(axis=0) + last * persistence**depths
    return overlaps


def agreement_sentence(tied: "pd.Series[float]", published: "pd.Series[float]") -> str:
    """Compare a published leaderboard with the tied one; empty with fewer than two common rerankers."""
    means = pd.concat([tied, published], axis=1, keys=["tied", "published"], join="inner").dropna().round(12)
    if len(means) < 2:  # noqa: PLR2004 two rerankers make an order
        return ""
    rankings = means["tied"], means["published"]
    values = {"Kendall's τ_b": tau_b(*rankings), "rank-biased overlap": rank_overlap(*rankings)}
    parts = [f"{name} {signed(value, plus=False)}" for name, value in values.items() if not isnan(value)]
    return f"Agreement of the two orders (1 if equal): {'; '.join(parts)}."


def list_similarity(rankings: Mapping[str, Ranking], queries: Collection[str] | None = None) -> pd.DataFrame:
    """Return the mean `rank_overlap` of the lists of each two rerankers over common queries, to `DEPTH`.

    Returns:
        a row a pair, the highest first: reranker, other (in the order of the rankings), similarity (NaN
        without a common query), n (common queries), identical (queries with the same documents and ties).
    """
    k = len(rankings)
    sums, n, identical = np.zeros((k, k)), np.zeros((k, k), np.int64), np.zeros((k, k), np.int64)
    for rows in _rows_by_query(rankings, queries) if rankings else ():
        lengths = np.bincount(rows["reranker"], minlength=k)
        is_common = (lengths[:, None] > 0) & (lengths > 0)
        n += is_common
        identical += is_common & _is_same(rows, k)
        sums[is_common] += _list_overlaps(rows, lengths)[is_common]
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
    """Yield the documents of each query as codes: reranker, document, and above and size of the tie."""
    parts = []
    for number, ranking in enumerate(rankings.values()):
        columns = {
            "query": ranking.query_ids.take(pa.array(ranking.group_lists[ranking.groups])).to_pandas(),
            "document": ranking.ids(np.arange(len(ranking.rows))).to_pandas(),
            "reranker": number,
            "above": ranking.above[ranking.groups],
            "size": ranking.sizes[ranking.groups],
        }
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    if queries is not None:
        table = table[table["query"].isin(list(queries))]
    table = table.iloc[np.argsort(pd.factorize(table["query"])[0], kind="stable")]
    table = table.assign(document=pd.factorize(table["document"])[0])
    for _, rows in table.groupby("query", sort=False):
        yield {name: rows[name].to_numpy() for name in ("reranker", "above", "size", "document")}


def _is_same(rows: Mapping[str, IntArray], k: int) -> BoolArray:
    """Return (k, k) whether two lists have the same documents and ties, by sums of hashes."""
    keys = pd.util.hash_array(rows["document"] * (1 + int(rows["above"].max())) + rows["above"])
    sums = np.zeros(k, np.uint64)
    np.add.at(sums, rows["reranker"], keys)
    lengths = np.bincount(rows["reranker"], minlength=k)
    return np.asarray((sums[:, None] == sums) & (lengths[:, None] == lengths))


def _list_overlaps(rows: Mapping[str, IntArray], lengths: IntArray) -> FloatArray:
    """Return (k, k) the overlap of each two lists of a query; 0 for a missing list."""
    depth = int(min(DEPTH, lengths.max()))
    is_near = rows["above"] < depth
    reranker, above, size = (rows[name][is_near] for name in ("reranker", "above", "size"))
    documents, place = np.unique(rows["document"][is_near], return_inverse=True)
    shares = np.zeros((len(lengths), depth, len(documents)))
    shares[reranker, :, place] = _shares_within(above, size, depth).T
    depths = np.clip(np.minimum(lengths[:, None], lengths), 1, depth)
    return _overlaps(shares, depths, PERSISTENCE)


def similarity_finding(pairs: pd.DataFrame) -> Prose:
    """State which rerankers have the same lists, or the highest overlap, in `list_similarity`."""
    if not len(pairs):
        return ONE_RERANKER
    common = pairs[pairs["n"] > 0]
    if not len(common):
        return ("No two rerankers have lists for the same query.",)
    copies = common[common["identical"] == common["n"]]
    row = (copies if len(copies) else common).iloc[0]
    names = Strong(str(row["reranker"])), " and ", Strong(str(row["other"]))
    if len(copies):
        more = f" Other pairs with identical lists: {len(copies) - 1:,}." if len(copies) > 1 else ""
        lists = "in their one common query" if row["n"] == 1 else f"in all {row['n']:,} common queries"
        return (*names, f" have the same documents and ties {lists}: one is a copy of the other.{more}")
    equal_in = f"{row['identical']:,} of {count_of(int(row['n']), 'query')}" if row["identical"] else "no query"
    verb = "have the highest mean overlap," if len(common) > 1 else "have a mean overlap of"
    overlap = written_p(row["similarity"]).replace(">", "over ").replace("<", "under ")
    return (*names, f" {verb} {overlap}, and the same list in {equal_in}.")
