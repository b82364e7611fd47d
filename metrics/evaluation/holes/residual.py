"""The residual of RBP: what documents that nobody judged, in the list and past its end, could still add."""

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation.holes.bounds import holed_lists
from metrics.evaluation.merging import concat
from metrics.evaluation.options import AS_READ, ScoringOptions
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs


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
