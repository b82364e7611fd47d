"""What it would cost to score lists order by order, as the notebook asks of its tie groups."""

from collections.abc import Iterable, Mapping, Sequence
from math import factorial, prod
from typing import Any

import numpy as np
import pandas as pd

from metrics.studies.gaps import ALL_LISTS
from metrics.support.arrays import FloatArray
from metrics.ties import Ranking
from metrics.ties.permutations import TRACTABLE, Complexity, log10_factorials, recommended_draws

NOTEBOOK_CASES: Mapping[str, tuple[int, ...]] = {
    "Small ties": (2, 2),
    "Medium ties": (3, 3, 2),
    "Large tie": (5,),
    "Very large tie": (8,),
    "Multiple large ties": (4, 4, 3),
}
"""Sizes of the ties in the five cases of the notebook's complexity analysis."""
TIE_SIZES = (2, 3, 4, 5, 8, 10, 15, 20, 50, 100, 1000)
"""Sizes of a tie whose cost is told."""
DIGITS = 300
"""Digits up to which a number of orderings is worked out exactly."""


def notebook_cases() -> pd.DataFrame:
    """Return the notebook's five cases.

    Returns:
        case, tie_sizes, orderings, n_tie_groups, max_tie_size, tractable, draws (advised where the orderings
        are too many, NA else).
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
    """Count the ties of lists by their size, in steps of powers of two.

    Args:
        rankings: reranker → its lists.
        lists: index reranker and query_id: the lists that count.

    Returns:
        first and last (sizes: 2 and 2, 3 and 4, 5 and 8 ...), ties, documents (in these ties), rising.
    """
    sizes = np.concatenate(
        [
            ranking.sizes[
                ranking.query_ids.to_pandas().isin(lists.loc[name].index).to_numpy()[ranking.group_lists]
            ]
            for name, ranking in rankings.items()
        ]
    )
    sizes = sizes[sizes > 1]
    power = np.ceil(np.log2(sizes)).astype(np.int64)
    steps = np.arange(1, power.max(initial=0) + 1)
    counts = np.bincount(power, minlength=len(steps) + 1)[1:]
    documents = np.bincount(power, sizes, len(steps) + 1)[1:].astype(np.int64)
    return pd.DataFrame(
        {"first": 2 ** (steps - 1) + 1, "last": 2**steps, "ties": counts, "documents": documents}
    )


def list_complexity(ranking: Ranking, queries: Iterable[str]) -> pd.DataFrame:
    """Count the orderings of lists of one reranker, of these queries.

    Returns:
        index query_id; n_tie_groups, max_tie_size (0 without ties), log10_orderings, orderings (the exact
        number, None where it has more than `DIGITS` digits), tractable, draws (as the notebook advises).
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
    """Summarise `list_complexity`, a row a reranker, and first, of several, all lists together.

    Returns:
        index reranker; n (lists), tractable (lists whose orderings can be enumerated) and tractable_share,
        tie_groups, max_tie_size, orderings (of all lists; None where too many to work out),
        log10_orderings, draws (that the notebook advises for the other lists, all together).
    """
    tables = {ALL_LISTS: pd.concat(lists.values()), **lists} if len(lists) > 1 else lists
    rows: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        is_exact = not table["orderings"].isna().any()
        rows[name] = {
            "n": len(table),
            "tractable": int(table["tractable"].sum()),
            "tractable_share": table["tractable"].mean(),
            "tie_groups": int(table["n_tie_groups"].sum()),
            "max_tie_size": int(table["max_tie_size"].max()),
            "orderings": sum(map(int, table["orderings"])) if is_exact else None,
            "log10_orderings": _log10_sum(table["log10_orderings"].to_numpy(float)),
            "draws": int(table.loc[~table["tractable"].astype(bool), "draws"].sum()),
        }
    exact = pd.Series({name: row.pop("orderings") for name, row in rows.items()}, dtype=object)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("reranker").assign(orderings=exact)


def _log10_sum(logs: FloatArray) -> float:
    """Return log10 of a sum of powers of ten."""
    largest = float(logs.max())
    return largest + float(np.log10((10.0 ** (logs - largest)).sum()))


def tie_costs(relevant: int = 1, sizes: Sequence[int] = TIE_SIZES) -> pd.DataFrame:
    """Return what a tie costs by each method: documents looked at, as powers of ten.

    Enumeration places n documents in each of n! orderings, relevance patterns in each of C(n, r), sampling
    in each draw the notebook advises, max(1,000, min(10,000, n!/10)); the closed form of RR adds the
    n − r + 1 places where the first relevant document can stand.

    Returns:
        size, log10_orderings, log10_patterns, draws, terms, and log10 of the documents looked at:
        enumeration, patterns, sampling, closed_form.
    """
    n = np.array(sorted({size for size in sizes if size >= max(relevant, 1)}), dtype=np.int64)
    logs = log10_factorials(int(n.max(initial=0)))
    patterns = logs[n] - logs[relevant] - logs[n - relevant] if len(n) else np.zeros(0)
    draws = [
        recommended_draws(factorial(size) if log10 < DIGITS else None)
        for size, log10 in zip(n.tolist(), logs[n], strict=True)
    ]
    places = np.log10(n)
    return pd.DataFrame(
        {
            "size": n,
            "log10_orderings": logs[n],
            "log10_patterns": patterns,
            "draws": draws,
            "terms": n - relevant + 1,
            "enumeration": logs[n] + places,
            "patterns": patterns + places,
            "sampling": np.log10(np.array(draws, dtype=float)) + places,
            "closed_form": np.log10(n - relevant + 1),
        }
    )
