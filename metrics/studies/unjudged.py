"""Unjudged documents: their share, three scenarios of their relevance, and a qrels file to fill in."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import AS_READ, EQUAL, Evaluation, ScoringOptions, score_runs
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal
from metrics.support.escaping import csv_text
from metrics.support.wording import percent
from metrics.ties import Ranking

_DEPTH = 10
"""Cut-off for measures without one."""
SCENARIOS = {
    "as_judged": "as judged",
    "left_out": "with unjudged documents left out",
    "all_relevant": "if all of them are relevant",
}
"""Columns of `scenarios`, one for each scenario, in words."""


def depth_of(measure: MeasureAt) -> int:
    """Return the rank down to which unjudged documents are counted: the cut-off of the measure, or 10."""
    return measure.k or _DEPTH


def unjudged_counts(evaluation: Evaluation, k: int) -> pd.DataFrame:
    """Return the documents in the top k of each reranker's lists, and the expected number of unjudged ones.

    The evaluation must hold Judged@k under `expected`.
    """
    n_documents = np.minimum(evaluation.lists["n_docs"], k)
    n_judged = evaluation.scores[f"Judged@{k}", "expected"] * k
    counts = pd.DataFrame({"documents": n_documents, "unjudged": (n_documents - n_judged).round(6)})
    return counts.groupby(level="reranker", sort=False).sum()


def share_finding(counts: pd.DataFrame, k: int) -> Prose:
    """State the share of unjudged documents in the top k, and the reranker with the largest share."""
    total = percent(counts["unjudged"].sum() / counts["documents"].sum())
    shares = counts["unjudged"] / counts["documents"]
    largest = percent(shares.max())
    further = () if largest == total else (f", {largest} for ", Strong(str(shares.idxmax())))
    return (f"{total} of the documents in the top {k:,} are unjudged", *further, ".")


def scenarios(
    runs: Runs, measure: str, options: ScoringOptions = AS_READ, queries: Collection[str] | None = None
) -> pd.DataFrame:
    """Return the tied mean of each reranker under three assumptions about unjudged documents.

    Scenarios are not bounds: other judgments can give values outside them. All three have the same lists.

    Args:
        runs: runs with judgments of their own.
        measure: name of a measure.
        options: how lists are scored; each scenario sets `unjudged` itself.
        queries: the queries that count; None: all.

    Returns:
        index reranker, the best as judged first; judged (mean Judged@k), as_judged (unjudged documents are not
        relevant), left_out (they are removed from their lists), all_relevant (they have the highest grade of
        the judgments).
    """
    name, judged = str(parse(measure)), f"Judged@{depth_of(parse(measure))}"
    options = replace(options, unjudged="nonrelevant")
    scores = score_runs(runs, [name, judged], "expected", options).only(runs.rerankers, queries).scores
    left_out = score_runs(runs, name, "expected", replace(options, unjudged="leave_out")).scores
    all_relevant = score_runs(_all_relevant(runs, options), name, "expected", options).scores
    values = {
        "judged": scores[judged, "expected"],
        "as_judged": scores[name, "expected"],
        "left_out": left_out[name, "expected"].reindex(scores.index),
        "all_relevant": all_relevant[name, "expected"].reindex(scores.index),
    }
    means = pd.DataFrame(values).groupby(level="reranker").mean().reindex(runs.rerankers)
    return means.sort_values("as_judged", ascending=False, kind="stable")


def _all_relevant(runs: Runs, options: ScoringOptions) -> Runs:
    """Return the runs with every unjudged document of a judged query judged at the highest grade."""
    if (qrels := runs.qrels) is None:
        return runs
    ids = pa.schema({"query_id": pa.string(), "doc_id": pa.string()})
    parts = [
        stack.table.select(ids.names).filter(pa.array(np.isnan(stack.grades))).cast(ids)
        for stack in runs.matched_stacks.stacks
        if stack.grades is not None
    ]
    added = pa.concat_tables(parts).group_by(ids.names).aggregate([])
    added = added.filter(pc.is_in(added["query_id"], runs.judged_pairs.queries.cast(pa.string())))
    grade = max(pc.max(qrels["relevance"]).as_py() or 0, options.relevant_from)
    added = added.append_column("relevance", pa.array(np.full(len(added), grade, np.float64)))
    for place, name in enumerate(qrels.column_names):
        if name in ids.names:
            qrels = qrels.set_column(place, name, qrels[name].cast(pa.string()))
    return runs.judged_by(pa.concat_tables([qrels, added], promote_options="default").combine_chunks())


def scenario_finding(table: pd.DataFrame, measure: MeasureAt) -> Prose:
    """State which reranker leads in each scenario; `table` is the result of `scenarios`."""
    values = table.loc[table["as_judged"].notna(), [*SCENARIOS]]
    if values.empty:
        return NOTHING_SCORED
    if len(values) == 1:
        low, high = decimal(values.to_numpy().min()), decimal(values.to_numpy().max())
        span = f"between {low} and {high}" if low != high else f"of {low}"
        return (Strong(str(values.index[0])), f" has {measure.tied} {span} in the three scenarios.")
    is_best = values >= values.max() - EQUAL
    leaders = values.index[is_best.all(axis=1)]
    if len(leaders):
        verb = f"{and_more(len(leaders) - 1)} share the lead" if len(leaders) > 1 else " leads"
        level = [words for name, words in SCENARIOS.items() if is_best[name].all()]
        if not level or len(leaders) == len(values):
            return (Strong(str(leaders[0])), f"{verb} in all three scenarios.")
        apart = [words for words in SCENARIOS.values() if words not in level]
        scores = f"; {' and '.join(level)}, all rerankers score the same."
        return Strong(str(leaders[0])), f"{verb} {' and '.join(apart)}{scores}"
    judged, left_out, relevant = (Strong(str(is_best.index[is_best[name]][0])) for name in SCENARIOS)
    return (
        Strong("The leader depends on unjudged documents"),
        *(": ", judged, " as judged, ", left_out, " with them left out, ", relevant),
        " if all of them are relevant.",
    )


def unjudged_documents(
    runs: Runs, options: ScoringOptions, k: int, queries: Collection[str] | None = None
) -> pd.DataFrame:
    """Return the unjudged documents that a reranker can have in its top k, each once.

    Returns:
        query_id, doc_id, rerankers (how many can have it in their top k), best_rank (its highest rank there
        over all tie orders) and best_reranker (the first with that rank); most rerankers first, then the
        highest rank.
    """
    options, parts = replace(options, unjudged="nonrelevant"), []
    for name in runs.rerankers:
        ranking = Ranking.of(runs, name, options)
        ranks = (ranking.above + 1)[ranking.groups]
        documents = np.flatnonzero(~ranking.judged & (ranks <= k))
        query_rows = ranking.pairs.query[ranking.rows[documents]]
        ids = {
            "query_id": ranking.pairs.queries.take(pa.array(query_rows)).to_pandas().astype(str),
            "doc_id": ranking.ids(documents).to_pandas().astype(str),
        }
        parts.append(pd.DataFrame(ids | {"best_rank": ranks[documents], "best_reranker": name}))
    rows = pd.concat(parts, ignore_index=True).sort_values("best_rank", kind="stable")
    if queries is not None:
        rows = rows[rows["query_id"].isin(set(queries))]
    groups = rows.groupby(["query_id", "doc_id"], sort=False)
    table = groups.agg(
        rerankers=("best_rank", "size"),
        best_rank=("best_rank", "first"),
        best_reranker=("best_reranker", "first"),
    )
    order = ["rerankers", "best_rank"]
    return table.sort_values(order, ascending=[False, True], kind="stable").reset_index()


_FORBIDDEN_STARTS = ("#", "[", "{")
"""Starts of lines that are not judgments."""


def qrels_form(documents: pd.DataFrame) -> tuple[str, str]:
    """Return qrels to fill in, and their file extension.

    They are TREC qrels, `query 0 document ?`, or a CSV file with an empty relevance if an ID is not one word.
    """
    ids = documents[["query_id", "doc_id"]]
    if not all(map(_is_word, ids.to_numpy().ravel())):
        return csv_text(ids.assign(relevance="")), "csv"
    return "".join(f"{query} 0 {document} ?\n" for query, document in ids.itertuples(index=False)), "txt"


def _is_word(text: str) -> bool:
    return (
        text.split() == [text] and not text.startswith(_FORBIDDEN_STARTS) and not {"\0", "\ufeff"} & set(text)
    )
