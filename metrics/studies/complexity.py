"""Count the orderings of the notebook's five cases."""

from collections.abc import Mapping

import pandas as pd

from metrics.ties.permutations import Complexity

NOTEBOOK_CASES: Mapping[str, tuple[int, ...]] = {
    "Small ties": (2, 2),
    "Medium ties": (3, 3, 2),
    "Large tie": (5,),
    "Very large tie": (8,),
    "Multiple large ties": (4, 4, 3),
}
"""Tie sizes of the five cases in the notebook's complexity analysis."""


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
