"""Count the orderings of lists."""

from collections.abc import Iterable, Mapping
from math import factorial, prod

import numpy as np
import pandas as pd

from metrics.studies.gaps import ALL_LISTS
from metrics.ties import Ranking
from metrics.ties.permutations import TRACTABLE, Complexity, log10_factorials, recommended_draws

NOTEBOOK_CASES: Mapping[str, tuple[int, ...]] = {
    "Small ties": (2, 2),
    "Medium ties": (3, 3, 2),
    "Large tie": (5,),
    "Very large tie": (8,),
    "Multiple large ties": (4, 4, 3),
}
"""Tie sizes of the five cases in the notebook's complexity analysis."""
DIGITS = 300
"""Number of digits up to which a number of orderings is computed exactly."""


def notebook_cases() -> pd.DataFrame:
    """Return the notebook's five cases.

    Returns:
        case, tie_sizes, orderings, n_tie_groups, max_tie_size, tractable, draws (recommended if intractable,
        else NA).
    """
    reports = {case: Complexity.of(sizes) for case, sizes in NOTEBOOK_CASES.items()}
    table = pd.DataFrame(
        {
            "case": case,
            "tie_sizes": list(report.tie_sizes),
            "orderings": report.total_permutations,
            "n_tie_groups": len(report.tie_sizes),
            "max_tie_size": report.max_tie_size,
            "tractable": report.is_tractable,
            "draws": pd.NA if report.is_tractable else report.recommended_sampling,
        }
        for case, report in reports.items()
    )
    return table.astype({"draws": "Int64"})


def tie_size_counts(rankings: Mapping[str, Ranking], lists: pd.DataFrame) -> pd.DataFrame:
    """Count the ties of `lists` (index reranker and query_id) by size, in powers of two.

    Returns:
        first and last (sizes: 2 and 2, 3 and 4, 5 and 8 ...), ties, documents (in these ties), rising.
    """
    parts = []
    for name, ranking in rankings.items():
        is_counted = ranking.query_ids.to_pandas().isin(lists.loc[name].index).to_numpy()
        parts.append(ranking.sizes[is_counted[ranking.group_lists] & (ranking.sizes > 1)])
    sizes = np.concatenate(parts)
    power = np.ceil(np.log2(sizes)).astype(np.int64)
    steps = np.arange(1, power.max(initial=0) + 1)
    return pd.DataFrame(
        {
            "first": 2 ** (steps - 1) + 1,
            "last": 2**steps,
            "ties": np.bincount(power, minlength=len(steps) + 1)[1:],
            "documents": np.bincount(power, sizes, len(steps) + 1)[1:].astype(np.int64),
        }
    )


def list_complexity(ranking: Ranking, queries: Iterable[str]) -> pd.DataFrame:
    """Count the orderings of one reranker's lists for these queries.

    Returns:
        index query_id; n_tie_groups, max_tie_size (0 without ties), log10_orderings, orderings (the exact
        number, None beyond `DIGITS` digits), tractable, draws (recommended by the notebook).
    """
    tied = np.flatnonzero(ranking.sizes > 1)
    starts = np.searchsorted(ranking.group_lists[tied], np.arange(ranking.n_lists))
    sizes = np.split(ranking.sizes[tied], starts)[1:]
    log10_factorial = log10_factorials(int(ranking.sizes.max(initial=0)))
    logs = [float(log10_factorial[ties].sum()) for ties in sizes]
    orderings = [
        prod(map(factorial, ties.tolist())) if log10 < DIGITS else None
        for ties, log10 in zip(sizes, logs, strict=True)
    ]
    table = pd.DataFrame(
        {
            "n_tie_groups": list(map(len, sizes)),
            "max_tie_size": [int(ties.max(initial=0)) for ties in sizes],
            "log10_orderings": logs,
            "orderings": pd.Series(orderings, dtype=object),
            "tractable": [number is not None and number <= TRACTABLE for number in orderings],
            "draws": list(map(recommended_draws, orderings)),
        }
    )
    return table.set_axis(pd.Index(ranking.query_ids.to_pylist(), name="query_id")).loc[list(queries)]


def complexity_summary(lists: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Summarise `list_complexity` by reranker, preceded by a row of all lists if there are several rerankers.

    Returns:
        index reranker; n (lists), tractable (lists whose orderings can be enumerated) and tractable_share,
        tie_groups, max_tie_size, log10_orderings (of all lists together), draws (that the notebook recommends
        for the intractable lists), orderings (of all lists; None if too many to compute).
    """
    tables = {ALL_LISTS: pd.concat(lists.values()), **lists} if len(lists) > 1 else lists
    rows = pd.concat(tables, names=["reranker"]).astype({"tractable": bool})
    rows["draws"] = rows["draws"].where(~rows["tractable"], 0)
    summary = rows.groupby("reranker", sort=False).agg(
        n=("tractable", "size"),
        tractable=("tractable", "sum"),
        tractable_share=("tractable", "mean"),
        tie_groups=("n_tie_groups", "sum"),
        max_tie_size=("max_tie_size", "max"),
        log10_orderings=("log10_orderings", lambda logs: np.logaddexp.reduce(logs * np.log(10)) / np.log(10)),
        draws=("draws", "sum"),
    )
    orderings = {
        name: None if table["orderings"].isna().any() else sum(map(int, table["orderings"]))
        for name, table in tables.items()
    }
    return summary.assign(orderings=pd.Series(orderings, dtype=object))
