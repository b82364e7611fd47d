"""Segments of queries, and the gap of each reranker in each of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import Evaluation
from metrics.runs import Runs
from metrics.studies.gaps.gap import difference
from metrics.support.arrays import combine_chunks

UNNAMED = "none"
"""Segment of a query that has none."""


def query_segments(runs: Runs) -> "pd.Series[str]":
    """Return query → its segment: the first that a row of it names, rerankers in their order.

    A segment belongs to a query, whoever ranked it. Queries of which no row names one are left out.
    """
    parts = [pd.Series(index=pd.Index([], dtype="str"), dtype="str")]
    for name, table in runs.tables.items():
        if "segment" not in table.column_names:
            continue
        coded, pairs = combine_chunks(table["segment"]), runs.pairs(name)
        words = pc.utf8_trim_whitespace(coded.dictionary)
        is_named = np.asarray(pc.fill_null(pc.not_equal(words, ""), fill_value=False))
        codes = np.asarray(pc.fill_null(coded.indices, -1))
        rows = np.flatnonzero(np.append(is_named, False)[codes])
        first_rows = np.sort(rows[np.unique(pairs.query[rows], return_index=True)[1]])
        queries = pairs.queries.take(pa.array(pairs.query[first_rows])).to_pylist()
        parts.append(pd.Series(words.take(pa.array(codes[first_rows])).to_pylist(), index=queries, dtype="str"))
    segments = pd.concat(parts)
    return segments[~segments.index.duplicated()].rename("segment")


def segment_table(
    evaluation: Evaluation, segments: "pd.Series[str]", measure: str, traditional: str
) -> pd.DataFrame:
    """Return one row a reranker and segment, rerankers in order, segments by falling number of lists.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        segments: as `query_segments` returns it; queries not in it count as `UNNAMED`.
        measure: name of a measure.
        traditional: the treatment taken as the traditional one.

    Returns:
        reranker, segment, traditional, tied (means), gap (traditional − tied), n (lists).
    """
    index = evaluation.scores.index
    list_segments = segments.reindex(index.get_level_values("query_id")).fillna(UNNAMED)
    size = list_segments.value_counts()
    order = sorted(size.index, key=lambda name: (name == UNNAMED, -size[name]))
    table = pd.DataFrame(
        {
            "reranker": pd.Categorical(index.get_level_values("reranker"), evaluation.policies.index),
            "segment": pd.Categorical(list_segments, order),
            "traditional": evaluation.scores[measure, traditional].to_numpy(),
            "tied": evaluation.scores[measure, "expected"].to_numpy(),
        }
    )
    groups = table.groupby(["reranker", "segment"], observed=True)
    rows = groups[["traditional", "tied"]].mean().assign(n=groups.size()).reset_index()
    rows.insert(4, "gap", difference(rows["traditional"], rows["tied"]))
    return rows.astype({"reranker": "str", "segment": "str"})
