"""Which unjudged documents to judge next: those whose judgments narrow the joint bounds of the means most."""

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions
from metrics.evaluation.holes import RankedDocuments, joint_bounds
from metrics.evaluation.holes.bounds import BOUNDS
from metrics.evaluation.holes.rates import Rate
from metrics.runs import Runs

COLUMNS = ("query_id", "doc_id", "rerankers", "best_place", "best_reranker", "narrowing", "closed")
_MOST = 100
_TYPES = {"query_id": pa.string(), "doc_id": pa.string(), "relevance": pa.float64()}


def judge_next(
    runs: Runs,
    measure: str,
    options: ScoringOptions = AS_READ,
    *,
    depth: int = 10,
    rate: Rate = None,
    most: int = _MOST,
) -> pd.DataFrame:
    """Return unjudged documents, first the one whose judgment is expected to narrow the bounds most.

    A document is judged relevant, with the highest grade of any judgment, at a rate, else with grade 0; either
    way the joint bounds of the lists of its query are computed anew. Candidates are the documents that most
    rerankers have within a depth, then those that stand highest.

    Args:
        runs: what was ranked.
        measure: name of a measure.
        options: how lists are scored.
        depth: places within which documents are candidates.
        rate: as of `expectations_at_rate`.
        most: number of candidates.

    Returns:
        a row for each candidate: query_id, doc_id, rerankers (how many have it within the depth), best_place
        (the highest that scores allow) and best_reranker (the first that gives it), narrowing (of the bounds of
        all means, summed over rerankers, were it judged alone) and closed (the share of their width that the
        narrowings down to this row add up to).

    Raises:
        UsageError: fewer than one candidate or place asked for, or unjudged documents left out; else as of
            `joint_bounds`.
    """
    if depth < 1 or most < 1:
        raise UsageError("depth and most: give 1 or more.")
    if options.unjudged == "leave_out":
        raise UsageError("Documents that nobody judged are left out: none is to be judged next.")
    candidates = _candidates(runs, options, depth, rate).head(most)
    if runs.qrels is None or candidates.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    widths = _widths(joint_bounds(runs, measure, options))
    highest = max(float(np.max(runs.qrels["relevance"].to_numpy())), float(options.relevant_from))
    unknown = widths.reindex(candidates["query_id"], fill_value=0.0).to_numpy()
    irrelevant, relevant = (
        _widths(joint_bounds(_judged_copies(runs, runs.qrels, candidates, grade), measure, options))
        .reindex(_copy_ids(candidates))
        .to_numpy()
        for grade in (0.0, highest)
    )
    rates, n_queries = candidates["rate"].to_numpy(), len(runs.judged_pairs.queries)
    narrowing = (unknown - (1 - rates) * irrelevant - rates * relevant) / n_queries
    table = candidates.assign(narrowing=narrowing).sort_values("narrowing", ascending=False, kind="stable")
    total = float(widths.sum()) / n_queries
    table["closed"] = table["narrowing"].cumsum() / total if total else 0.0
    return table[list(COLUMNS)].reset_index(drop=True)


def _widths(bounds: pd.DataFrame) -> pd.Series:
    """Return the width of the bounds of each query, summed over rerankers."""
    lowest, highest = (bounds.xs(bound, axis=1, level="bound").iloc[:, 0] for bound in BOUNDS)
    return (highest - lowest).groupby(level="query_id").sum()


def _copy_ids(candidates: pd.DataFrame) -> list[str]:
    """Return a name for the query of each candidate, in which it alone is judged."""
    return [f"{number}\x1f{query}" for number, query in enumerate(candidates["query_id"])]


def _judged_copies(runs: Runs, qrels: pa.Table, candidates: pd.DataFrame, grade: float) -> Runs:
    """Return the lists and judgments of each candidate's query, once for each, in which it has a grade.

    Args:
        runs: the lists.
        qrels: their judgments.
        candidates: query_id and doc_id of each.
        grade: what each has where it is judged.
    """
    copies = pd.DataFrame({"query_id": candidates["query_id"], "copy": _copy_ids(candidates)})
    tables = {name: _copied(table, copies) for name, table in runs.tables.items()}
    names = ["query_id", "doc_id", "relevance"]
    judgments = pa.table({name: qrels[name].cast(_TYPES[name]) for name in names})
    judged = pa.table(
        {
            "query_id": pa.array(copies["copy"], pa.string()),
            "doc_id": pa.array(candidates["doc_id"], pa.string()),
            "relevance": pa.array(np.full(len(candidates), grade)),
        }
    )
    return Runs(tables, pa.concat_tables([judgments, _copied(judgments, copies), judged]).combine_chunks())


def _copied(table: pa.Table, copies: pd.DataFrame) -> pa.Table:
    """Return the rows of each copied query under the name of its copy."""
    queries = pd.DataFrame({"query_id": table["query_id"].cast(pa.string()).to_pandas()})
    rows = queries.reset_index().merge(copies, on="query_id").sort_values("copy", kind="stable")
    copied_rows = table.take(pa.array(rows["index"].to_numpy()))
    names = pa.array(rows["copy"], pa.string())
    return copied_rows.set_column(table.column_names.index("query_id"), "query_id", names).combine_chunks()


def _candidates(runs: Runs, options: ScoringOptions, depth: int, rate: Rate) -> pd.DataFrame:
    """Return the unjudged documents within a depth, those of most rerankers first, then the highest."""
    documents = RankedDocuments.of(runs, options)
    open_places = np.flatnonzero(~documents.is_judged)
    rates = pd.Series(documents.unjudged_rates(rate, None), documents.hashes[open_places])
    parts = []
    for name in runs.rerankers:
        ranking = options.ranking(runs, name)
        place = (ranking.above + 1)[ranking.groups]
        rows = np.flatnonzero(~ranking.judged & (place <= depth))
        lists = pa.array(ranking.group_lists[ranking.groups[rows]])
        columns = {
            "query_id": ranking.query_ids.take(lists).to_pandas().astype(str),
            "doc_id": ranking.ids(rows).to_pandas().astype(str),
            "hash": ranking.pairs.hashes[ranking.rows[rows]],
            "place": place[rows],
        }
        parts.append(pd.DataFrame(columns).assign(reranker=name))
    ranked = pd.concat(parts, ignore_index=True).sort_values("place", kind="stable")
    table = ranked.groupby("hash", sort=False).agg(
        query_id=("query_id", "first"),
        doc_id=("doc_id", "first"),
        rerankers=("reranker", "size"),
        best_place=("place", "first"),
        best_reranker=("reranker", "first"),
    )
    table["rate"] = rates.reindex(table.index)
    table = table.sort_values(["rerankers", "best_place"], ascending=[False, True], kind="stable")
    return table.reset_index(drop=True)
