"""Between what differences of two rerankers lie over all orders of ties and all judgments that are missing."""

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation.holes.bounds import BOUNDS, holes_by_reranker
from metrics.evaluation.options import AS_READ, ScoringOptions, refuse_unbounded
from metrics.measures import parse
from metrics.runs import Runs


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
