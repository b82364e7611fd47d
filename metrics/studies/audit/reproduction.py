"""By which convention was a table made: every convention tried, and every figure under one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from metrics.studies.audit.conventions import Convention

Verdict = Literal["to the digit", "by rounding", "does not come out"]
"""Of a figure: as printed; off in the last place by rounding or float error; otherwise off."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What every convention makes of a published table.

    Attributes:
        conventions: a row for each convention, the one that fits best first: convention, label, to_the_digit,
            by_rounding, does_not_come_out (figures), largest_difference, group (conventions of one number give
            the same figures on these files).
        n_figures: figures that are compared.
        compare: convention → its figures, as of `figures`.
    """

    conventions: pd.DataFrame
    n_figures: int
    compare: Callable[[Convention], pd.DataFrame]

    @property
    def best(self) -> Convention:
        """The convention that fits best; the first of `fitting` where several do."""
        best: Convention = self.conventions["convention"].iloc[0]
        return best

    def figures(self, convention: Convention | None = None) -> pd.DataFrame:
        """Return every figure under a convention, None for the best.

        Returns:
            reranker, measure (both as published), query_id (None for a mean), text (as printed), published,
            computed, difference (computed - published), verdict.
        """
        return self.compare(convention or self.best)
