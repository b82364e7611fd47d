"""What documents that nobody judged leave open: bounds, and expectations at a rate of relevant ones."""

from metrics.evaluation.holes.bounds import BOUNDS, difference_bounds, is_exact, joint_bounds, residuals
from metrics.evaluation.holes.expectation import expectations_at_rate
from metrics.evaluation.holes.rates import RankedDocuments
from metrics.evaluation.holes.table import hole_table, judged_name, unjudged_counts, unjudged_shares

__all__ = [
    "BOUNDS",
    "RankedDocuments",
    "difference_bounds",
    "expectations_at_rate",
    "hole_table",
    "is_exact",
    "joint_bounds",
    "judged_name",
    "residuals",
    "unjudged_counts",
    "unjudged_shares",
]
