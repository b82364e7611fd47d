"""Segments of queries, and the gap of each reranker in each of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import Evaluation
from metrics.runs import Runs
from metrics.studies.tradeoffs.tradeoffs import difference
from metrics.support.arrays import combine_chunks

UNNAMED = "none"
"""Segment of a query that has none."""


def query_segments(runs: Runs) -> "pd.Series[str]":
    """Query → its segment: the first that a row of it names, rerankers in their order.

    A segment belongs to a query, whoever ranked it. Queries of which no row names one are left out.
    """
    found = [pd.Series(index=pd.Index([], dtype="str"), dtype="str")]
    for name, table in runs.tables.items():
        if "segment" not in table.column_names:
            continue
        coded, pairs = combine_chunks(table["segment"]), runs.pairs(name)
        words = pc.utf8_trim_whitespace(coded.dictionary)
        named = np.asarray(pc.fill_null(pc.not_equal(words, ""), fill_value=False))
        codes = np.asarray(pc.fill_null(coded.indices, -1))
        given = np.flatnonzero(np.append(named, False)[codes])
        at = np.sort(given[np.unique(pairs.query[given], return_index=True)[1]])
        queries = pairs.queries.take(pa.array(pairs.query[at])).to_pylist()
        found.append(pd.Series(words.take(pa.array(codes[at])).to_pylist(), index=queries, dtype="str"))
    every = pd.concat(found)
    return every[~every.index.duplicated()].rename("segment")


def segment_table(
    evaluation: Evaluation, segments: "pd.Series[str]", measure: str, traditional: str
) -> pd.DataFrame:
    """One row a reranker and segment, rerankers in order, segments by falling number of lists.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        segments: as `query_segments` returns it; queries not in it count as `UNNAMED`.
        measure: name of a measure.
        traditional: the treatment taken as the traditional one.

    Returns:
        reranker, segment, traditional, tied (means), gap (traditional − tied), n (lists).
    """
    index = evaluation.scores.index
    named = segments.reindex(index.get_level_values("query_id")).fillna(UNNAMED)
    size = named.value_counts()
    order = sorted(size.index, key=lambda name: (name == UNNAMED, -size[name]))
    table = pd.DataFrame(
        {
            "reranker": pd.Categorical(index.get_level_values("reranker"), evaluation.policies.index),
            "segment": pd.Categorical(named, order),
            "traditional": evaluation.scores[measure, traditional].to_numpy(),
            "tied": evaluation.scores[measure, "expected"].to_numpy(),
        }
    )
    by = table.groupby(["reranker", "segment"], observed=True)
    found = by[["traditional", "tied"]].mean().assign(n=by.size()).reset_index()
    found.insert(4, "gap", difference(found["traditional"], found["tied"]))
    return found.astype({"reranker": "str", "segment": "str"})
