"""What unjudged documents leave open: bounds over all orders of ties and all grades they may have."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.merging import concat, list_index
from metrics.evaluation.options import AS_READ, ScoringOptions, refuse_unbounded
from metrics.measures import MeasureAt, parse
from metrics.measures.holes import Holes
from metrics.runs import Runs
from metrics.ties import JOINT_BOUNDS
from metrics.ties.ranking import PART

if TYPE_CHECKING:
    from metrics.support.arrays import FloatArray

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
    """Return the smallest and largest value of each list over all orders of its ties and all missing judgments.

    Each document that some reranker has for a query and nobody judged may have grade 0 or any that a judgment
    gives; the number of relevant documents and the ideal order move with it. Lists that `missing` leaves out
    elsewhere are there, too.

    Args:
        runs: what was ranked.
        measures: names of measures.
        options: how lists are scored; unjudged documents stay in their lists.
        n_unlisted: documents of each query that no reranker has and that may be relevant, too.
        is_cut: whether lists go on past their end with documents that may be relevant: the highest RBP grows by
            p^n, n documents listed, as its residual does (`residuals`); other measures look no further.

    Returns:
        index (reranker, query_id), columns (measure, bound), bound `lowest` and `highest`; some order and some
        judgments give these, but for measures of which `is_exact` says no.

    Raises:
        UsageError: a measure that does not exist or whose bounds nobody knows, unjudged documents that are left
            out, queries left out that a judgment may add (`empty="skip"`), no measure, or fewer than 0 unlisted
            documents.
    """
    refuse_unbounded(runs, options)
    if n_unlisted < 0:
        raise UsageError(f"n_unlisted={n_unlisted}: give 0 or more documents.")
    parsed = tuple(dict.fromkeys(map(parse, [measures] if isinstance(measures, str) else measures)))
    columns = pd.MultiIndex.from_product([map(str, parsed), BOUNDS], names=["measure", "bound"])
    if not parsed:
        raise UsageError("Name at least one measure.")
    tables = []
    for holes, index in holed_lists(runs, options, n_unlisted, is_cut=is_cut):
        bounds: list[FloatArray] = [bound for measure in parsed for bound in measure.joint_bounds(holes)]
        tables.append(pd.DataFrame(np.stack(bounds, axis=1), index=index, columns=columns))
    return concat(tables)


def is_exact(runs: Runs, measure: MeasureAt) -> bool:
    """Return whether some order and some judgments give the joint bounds of a measure.

    They do for all but bpref and infAP, and DR@k and Div@k where documents share targets: proven, and not
    always reached.
    """
    exact = measure.measure.family.joint_exact
    if exact != "own targets":
        return exact == "always"
    tables = [runs.qrels] if runs.qrels is not None else runs.tables.values()
    has_targets = any("target_id" in table.column_names for table in tables)
    return not has_targets


def holed_lists(
    runs: Runs, options: ScoringOptions, n_unlisted: int = 0, *, is_cut: bool = False
) -> Iterator[tuple[Holes, pd.MultiIndex]]:
    """Yield lists a few at a time with the documents in them that nobody judged, and their names.

    Args:
        runs: what was ranked.
        options: how lists are scored.
        n_unlisted: documents of each query that no reranker has and that may be relevant.
        is_cut: whether lists go on past their end.
    """
    n_judged = None if runs.qrels is None else len(runs.judged_pairs.queries)
    for stack in runs.matched_stacks.batches(PART, n_judged or 0):
        n_lists = np.diff(stack.list_ends) if n_judged is None else np.full(len(stack.names), n_judged)
        owner = np.repeat(np.arange(len(stack.names)), n_lists)
        first = 0
        for ranking in options.rankings(runs, stack):
            lists = np.arange(first, first + ranking.n_lists)
            holes = Holes.of(ranking, runs.open_documents, lists, n_unlisted, is_cut=is_cut)
            yield holes, list_index(stack.names, owner[lists], pa.chunked_array([ranking.query_ids]))
            first += ranking.n_lists


def holes_by_reranker(
    runs: Runs, rerankers: Iterable[str], options: ScoringOptions
) -> dict[str, tuple[Holes, pd.Index]]:
    """Return all lists of some rerankers with the documents in them that nobody judged, and their queries.

    Args:
        runs: what was ranked, with judgments of its own.
        rerankers: whose lists.
        options: how lists are scored.
    """
    rankings = {name: options.ranking(runs, name) for name in rerankers}
    return {
        name: (
            Holes.of(ranking, runs.open_documents, np.arange(ranking.n_lists)),
            pd.Index(ranking.query_ids.to_pandas()),
        )
        for name, ranking in rankings.items()
    }
