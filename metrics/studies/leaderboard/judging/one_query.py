"""Which document of one query to judge first, as the plan of all queries has it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.leaderboard.judging.copies import (
    JudgedCopies,
    bound_widths,
    judged_below,
    list_weights,
    narrowings,
)
from metrics.studies.leaderboard.judging.plan import open_documents, plan_depth


def relevance_chances(runs: Runs, options: ScoringOptions, depth: int) -> "pd.Series[float]":
    """Return the chance of each unjudged document within a depth to be relevant, as judged ones tell.

    Args:
        runs: what was ranked.
        options: how lists are scored.
        depth: the last place that counts: `plan_depth` of the measure.

    Returns:
        index: hash of query and document.

    Raises:
        UsageError: nobody judged a document that is ranked.
    """
    documents = RankedDocuments.of(runs, options)
    is_open, rates = ~documents.is_judged, documents.unjudged_rates(None, depth)
    is_near = documents.places[is_open] <= depth
    return pd.Series(rates[is_near], documents.hashes[is_open][is_near])


def first_to_judge(
    runs: Runs, measure: str, options: ScoringOptions, query: str, chances: "pd.Series[float]"
) -> str | None:
    """Return the document of a query whose judgment narrows the bounds of all rerankers most, None without any.

    Args:
        runs: what was ranked, with judgments apart.
        measure: name of the measure.
        options: how lists are scored.
        query: id of the query.
        chances: as `relevance_chances` returns them.
    """
    weights = list_weights(runs, options)
    tables = {
        name: table.filter(pc.equal(table["query_id"].cast(pa.string()), query))
        for name, table in runs.tables.items()
    }
    runs, depth = Runs(tables, runs.qrels), plan_depth(parse(measure))
    documents = RankedDocuments.of(runs, options)
    table = open_documents(runs, options, documents, depth, {query})
    if table.empty:
        return None
    runs, queries = judged_below(runs, documents, depth), pd.Index([query])
    narrowing = narrowings(
        JudgedCopies(runs, measure, options, queries, depth, weights),
        np.zeros(len(table), np.int64),
        pa.array(table["doc_id"], pa.string()),
        chances.reindex(table["hash"]).to_numpy(),
        bound_widths(runs, measure, options, weights).reindex(queries).to_numpy(),
    )
    return str(table["doc_id"].iloc[int(np.argmax(narrowing))])
