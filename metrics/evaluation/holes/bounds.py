"""What unjudged documents leave open: bounds over all orders of ties and all grades they may have."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.evaluation import concat, list_index
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
    """Yield lists a few at a time with the documents in them that nobody judged, and their names."""
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
    """Return all lists of some rerankers with the documents in them that nobody judged, and their queries."""
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
    """Return between what mean differences of pairs lie, over the queries that both have.

    An unjudged document has one grade in both lists. Of measures that add up gains by place, each difference is
    bounded by that, and by the bars of the two lists; of others by the bars alone. Proven, and not always
    reached.

    Args:
        runs: what was ranked.
        measure: name of the measure.
        pairs: reranker and baseline, a row a comparison.
        bounds: index (reranker, query_id), lowest and highest: as of `joint_bounds`, of the lists that count.
        options: how lists are scored; unjudged documents stay in their lists.

    Returns:
        Index of the pairs; lowest and highest, NaN where no query is common.

    Raises:
        UsageError: a reranker that has no bounds, or as of `joint_bounds`.
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


def has_residual(measure: MeasureAt) -> bool:
    """Return whether places past any list's end weigh something to a measure: RBP."""
    linear = measure.measure.family.linear
    return linear is not None and linear.weight.endless


def residuals(runs: Runs, measure: str = "RBP", options: ScoringOptions = AS_READ) -> pd.DataFrame:
    """Return what RBP is at least, and what it could gain, of each list; over ties exact means.

    For one order, RBP(p) with all unjudged documents relevant, and all places past the end of the list, exceeds
    RBP by the residual: the weights (1 - p) p^(i - 1) of the places i with unjudged documents, and p^n past n
    documents. A list that a run lacks has a residual of 1. `joint_bounds(is_cut=True)` says the same of the
    best order.

    Args:
        runs: what was ranked.
        measure: name of the measure: RBP, RBP(0.95) ...
        options: how lists are scored.

    Returns:
        index (reranker, query_id); base (the tied value, unjudged documents not relevant), unjudged (weight of
        the unjudged documents), beyond (that of the places past the end) and residual, their sum.

    Raises:
        UsageError: a measure without a residual.

    Source: Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008.
    """
    parsed = parse(measure)
    linear = parsed.measure.family.linear
    if linear is None or not has_residual(parsed):
        raise UsageError(f"{measure}: only RBP has a residual, for only its places have no end.")
    tables = []
    for holes, index in holed_lists(runs, options):
        ranking, n_docs = holes.ranking, holes.ranking.n_docs.astype(np.float64)
        no_variance = np.zeros(len(ranking.grades))
        base, unjudged = (
            linear.moments(ranking, gains, no_variance, parsed.argument).mean
            for gains in (
                linear.gains(ranking.grades, options.relevant_from),
                (~ranking.judged).astype(np.float64),
            )
        )
        beyond = linear.weight.span(n_docs, np.full_like(n_docs, np.inf), parsed.argument)
        columns = {"base": base, "unjudged": unjudged, "beyond": beyond, "residual": unjudged + beyond}
        tables.append(pd.DataFrame(columns, index=index))
    return concat(tables)
