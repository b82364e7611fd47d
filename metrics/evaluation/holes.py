"""Unjudged documents: bounds over all orders of ties and all possible grades, and expectations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.evaluation import (
    AS_READ,
    Evaluation,
    ScoringOptions,
    concat,
    list_index,
    list_owners,
    rankings_of,
    refuse_unbounded,
)
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.scoring import score_runs
from metrics.measures import MeasureAt, parse
from metrics.measures.holes import Holes
from metrics.runs import Runs
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import JOINT_BOUNDS

BOUNDS = tuple(ties.name for ties in JOINT_BOUNDS)
"""Columns of bounds: lowest and highest."""


def joint_bounds(
    runs: Runs,
    measures: Sequence[str] | str,
    options: ScoringOptions = AS_READ,
    *,
    n_unlisted: int = 0,
    is_cut: bool = False,
) -> pd.DataFrame:
    """Return the smallest and largest value of each list over all orders of ties and all missing judgments.

    Each unjudged document that some reranker lists for a query may have grade 0 or any grade of the judgments.
    The number of relevant documents and the ideal order change with it. Lists that `missing` leaves out
    elsewhere are included.

    Args:
        runs: the runs.
        measures: names of measures.
        options: how lists are scored; unjudged documents must stay in their lists.
        n_unlisted: number of documents per query that no reranker lists and that may be relevant.
        is_cut: whether lists continue past their end with documents that may be relevant. The highest RBP then
            grows by p^n, n documents listed; other measures do not change.

    Returns:
        index (reranker, query_id), columns (measure, bound), with bounds `lowest` and `highest`. Some order and
            some
        judgments reach them, except for measures for which `is_exact` is false.

    Raises:
        UsageError: a measure does not exist or has no known bounds, `options` leave out unjudged documents or
            queries without relevant documents, no measure is given, or n_unlisted is negative.
    """
    refuse_unbounded(runs, options)
    if n_unlisted < 0:
        raise UsageError(f"n_unlisted={n_unlisted} is below 0: give a number of documents.")
    parsed = tuple(dict.fromkeys(map(parse, [measures] if isinstance(measures, str) else measures)))
    columns = pd.MultiIndex.from_product([map(str, parsed), BOUNDS], names=["measure", "bound"])
    if not parsed:
        raise UsageError("Name at least one measure.")
    tables, rerankers, owner = [], list(runs.matched_stacks.places), list_owners(runs)
    for ranking, lists in rankings_of(runs, options):
        holes = Holes.of(ranking, runs.open_documents, lists, n_unlisted, is_cut=is_cut)
        bounds: list[FloatArray] = [bound for measure in parsed for bound in measure.joint_bounds(holes)]
        index = list_index(rerankers, owner[lists], pa.chunked_array([ranking.query_ids]))
        tables.append(pd.DataFrame(np.stack(bounds, axis=1), index=index, columns=columns))
    return concat(tables)


def is_exact(runs: Runs, measure: MeasureAt) -> bool:
    """Return whether some order and some judgments reach the joint bounds of a measure.

    They do for all measures except bpref, infAP, and DR@k and Div@k where documents share targets.
    """
    exact = measure.measure.family.joint_exact
    if exact != "own targets":
        return exact == "always"
    tables = [runs.qrels] if runs.qrels is not None else runs.tables.values()
    has_targets = any("target_id" in table.column_names for table in tables)
    return not has_targets


def holes_by_reranker(
    runs: Runs, rerankers: Iterable[str], options: ScoringOptions
) -> dict[str, tuple[Holes, pd.Index]]:
    """Return all lists of some rerankers with their unjudged documents, and their queries."""
    rankings = {name: options.ranking(runs, name) for name in rerankers}
    return {
        name: (
            Holes.of(ranking, runs.open_documents, np.arange(ranking.n_lists)),
            pd.Index(ranking.query_ids.to_pandas()),
        )
        for name, ranking in rankings.items()
    }


def difference_bounds(
    runs: Runs, measure: str, pairs: pd.DataFrame, bounds: pd.DataFrame, options: ScoringOptions = AS_READ
) -> pd.DataFrame:
    """Return bounds of the mean difference of pairs of rerankers, over the queries that both have.

    An unjudged document has the same grade in both lists. For measures that add up gains by rank, this bounds
    each difference, together with the bounds of the two lists; for others only those bounds count. The result
    is proven, but not always reached.

    Args:
        runs: the runs.
        measure: name of the measure.
        pairs: reranker and baseline, one row per comparison.
        bounds: index (reranker, query_id), lowest and highest, as in `joint_bounds`, of the lists that count.
        options: how lists are scored; unjudged documents must stay in their lists.

    Returns:
        Index of the pairs; lowest and highest, NaN without a common query.

    Raises:
        UsageError: a reranker has no bounds, or as in `joint_bounds`.
    """
    refuse_unbounded(runs, options)
    parsed = parse(measure)
    lowest, highest = (bounds[end].unstack("reranker") for end in BOUNDS)  # noqa: PD010 nothing is averaged
    names = pd.unique(pairs[["reranker", "baseline"]].to_numpy().ravel())
    for name in names:
        if name not in lowest:
            raise UsageError(f"There is no reranker {name!r}. Rerankers: {', '.join(map(str, lowest))}.")
    shares_of = parsed.measure.family.shares
    holes = holes_by_reranker(runs, names, options) if shares_of is not None and runs.qrels is not None else {}
    shares = {name: shares_of(lists, parsed.argument) for name, (lists, _) in holes.items() if shares_of}
    ends = []
    for first, second in pairs[["reranker", "baseline"]].itertuples(index=False):
        low, high = lowest[first] - highest[second], highest[first] - lowest[second]
        if shares:
            queries = holes[first][1]
            lower_bounds, upper_bounds = (
                -shares[second].most_above(shares[first]),
                shares[first].most_above(shares[second]),
            )
            low = np.maximum(low, pd.Series(lower_bounds, queries).reindex(low.index))
            high = np.minimum(high, pd.Series(upper_bounds, queries).reindex(high.index))
        ends.append((low.mean(), high.mean()))
    return pd.DataFrame(ends, pairs.index, list(BOUNDS), dtype=float)


DRAWS = 50
"""Ways to judge that are drawn."""
DEPTH = 10
"""Rank down to which all documents were meant to be judged, unless said otherwise."""


def estimated_means(runs: Runs, measure: str, options: ScoringOptions = AS_READ) -> "pd.Series[float]":
    """Return the tied mean of each reranker that its judgments would have without the missing ones.

    `GradeModel` draws grades of unjudged documents, the same for all rerankers, also for documents that no
    reranker lists. This estimates the mean with the judgments that are missing at random. On TREC DL 2019 (five
    rerankers, relevant from grade 2, 10, 30 and 50 % of the judgments hidden at random, eight times each) the
    means are wrong by at most 0.014, 0.022 and 0.036 for nDCG@10 (strong rerankers too low), 0.025, 0.020 and
    0.043 for P@10, 0.027, 0.024 and 0.044 for RR, and 0.012, 0.037 and 0.059 for AP (too low). For nDCG@10, 95,
    92 and 91 % of the lists are within 1.96 standard deviations, for AP 89, 83 and 79 %. Documents that only
    one reranker lists are less often relevant than judged ones, so a reranker outside the pool comes out too
    high: by at most 0.02 for four of the five, and by 0.08 (P@10) and 0.05 (nDCG@10) for bm25, the weakest.

    Returns:
        index reranker. NaN without a scored list, and where the mean may have errors of the last kind: for AP,
        for measures of shared targets, if a reranker has less than 0.7 times the pool's share of judged
        documents within `DEPTH`, if that share is below 0.45, or if no document is judged irrelevant.

    Raises:
        UsageError: the measure does not exist, no ranked document is judged, or `empty="skip"` with queries
            that a judgment may add.
    """
    options = replace(options, unjudged="nonrelevant")
    refuse_unbounded(runs, options)
    documents, parsed = RankedDocuments.of(runs, options), parse(measure)
    draws = [
        values.groupby(level="reranker").mean()[str(parsed)].reindex(runs.rerankers)
        for values in drawn_values(runs, documents, str(parsed), options)
    ]
    means = pd.Series(np.mean(draws, axis=0), runs.rerankers)
    is_estimable = parsed.measure.family.estimable and is_exact(runs, parsed)
    return means.where(documents.pooled_rerankers(DEPTH) & is_estimable)


def drawn_values(
    runs: Runs, documents: RankedDocuments, measures: Sequence[str] | str, options: ScoringOptions = AS_READ
) -> Iterator[pd.DataFrame]:
    """Yield the tied value of each list for each draw of judgments."""
    for judged in _drawn_judgments(runs, documents):
        yield score_runs(judged, measures, "expected", options).scores.xs("expected", axis=1, level="ties")


def _drawn_judgments(runs: Runs, documents: RankedDocuments) -> Iterator[Runs]:
    if runs.qrels is None or documents.is_judged.all():
        yield runs
        return
    model = documents.grade_model(DEPTH)
    for seed in range(0, DRAWS * 2**8, 2**8):
        grades = documents.draw(model.levels, model.chances(seed), seed)
        yield _judged(runs, documents, grades, *model.draw_unlisted(seed))


def _judged(
    runs: Runs,
    documents: RankedDocuments,
    grades: FloatArray,
    unlisted_queries: IntArray | None = None,
    unlisted_grades: FloatArray | None = None,
) -> Runs:
    """Return the runs with grades for their unjudged documents, and for documents that no reranker lists."""
    if runs.qrels is None:
        return runs
    rows = pa.array(np.flatnonzero(~documents.is_judged))
    added = {
        "query_id": documents.query_ids.take(rows),
        "doc_id": documents.doc_ids.take(rows),
        "relevance": pa.array(grades),
    }
    judgments = pa.table({name: runs.qrels[name].cast(column.type) for name, column in added.items()})
    if "target_id" in runs.qrels.column_names:
        judgments = judgments.append_column("target_id", runs.qrels["target_id"])
    tables = [judgments, pa.table(added)]
    if unlisted_queries is not None and len(unlisted_queries):
        queries = runs.judged_pairs.queries.cast(pa.string()).take(pa.array(unlisted_queries))
        names = pa.array([f"\x1f{number}" for number in range(len(unlisted_queries))])  # no id has this letter
        columns = {"query_id": queries, "doc_id": names, "relevance": pa.array(unlisted_grades)}
        tables.append(pa.table(columns))
    return runs.judged_by(pa.concat_tables(tables, promote_options="default").combine_chunks())


_ALL = 10**9 - 1
"""A cut-off below every list."""


def judged_name(measure: MeasureAt) -> str:
    """Return the name of the measure that counts judged documents within a measure's cut-off."""
    return f"Judged@{measure.k or _ALL}"


def unjudged_counts(evaluation: Evaluation, measure: MeasureAt) -> pd.DataFrame:
    """Return the expected number of unjudged documents within the cut-off of a measure.

    The evaluation must hold `judged_name` of the measure under `expected`.

    Returns:
        index (reranker, query_id); documents within the cut-off, and how many of them are unjudged.
    """
    k = measure.k or _ALL
    n_docs = np.minimum(evaluation.lists["n_docs"], k)
    n_judged = (evaluation.scores[judged_name(measure), "expected"] * k).round(6)
    return pd.DataFrame({"documents": n_docs, "unjudged": n_docs - n_judged})


def unjudged_shares(counts: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of unjudged documents of each reranker, from `unjudged_counts`."""
    sums = counts.groupby(level="reranker", sort=False).sum()
    return sums["unjudged"] / sums["documents"].where(sums["documents"] > 0)
