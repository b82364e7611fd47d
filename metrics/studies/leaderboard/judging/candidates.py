"""Documents that nobody judged and rerankers have near the top: candidates to be judged next."""

from collections.abc import Collection

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import RankedDocuments
from metrics.runs import Runs


def open_documents(
    runs: Runs,
    options: ScoringOptions,
    documents: RankedDocuments,
    depth: int,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the unjudged documents that some reranker has within a depth, those likely to weigh most first.

    Args:
        runs: what was ranked.
        options: how lists are scored.
        documents: those of all rerankers.
        depth: places that count, as the scores allow them at best.
        queries: those that count; None for all.

    Returns:
        hash, query_id, doc_id, rerankers (how many have it within the depth), best_place, best_reranker (the
        first that gives it); by falling sum of 1/log2(place + 1) over those rerankers.
    """
    parts = []
    for name in runs.rerankers:
        ranking = options.ranking(runs, name)
        place = (ranking.above + 1)[ranking.groups]
        rows = np.flatnonzero(~ranking.judged & (place <= depth))
        parts.append(
            pd.DataFrame({"hash": ranking.pairs.hashes[ranking.rows[rows]], "best_place": place[rows]}).assign(
                best_reranker=name
            )
        )
    ranked = pd.concat(parts, ignore_index=True).sort_values("best_place", kind="stable")
    ranked["weight"] = 1 / np.log2(ranked["best_place"] + 1)
    table = ranked.groupby("hash", sort=False).agg(
        rerankers=("best_place", "size"),
        best_place=("best_place", "first"),
        best_reranker=("best_reranker", "first"),
        weight=("weight", "sum"),
    )
    rows = pa.array(np.searchsorted(documents.hashes, table.index.to_numpy()))
    ids = {name: getattr(documents, f"{name}s").take(rows).to_pandas() for name in ("query_id", "doc_id")}
    table = table.reset_index().assign(**ids)
    if queries is not None:
        table = table[table["query_id"].isin(set(queries))]
    return table.sort_values("weight", ascending=False, kind="stable", ignore_index=True)
