"""What documents that nobody judged leave open: bounds, and expectations at a rate of relevant ones."""

from metrics.evaluation.holes.bounds import is_exact, joint_bounds
from metrics.evaluation.holes.expectation import expectations_at_rate
from metrics.evaluation.holes.rates import RankedDocuments, judged_rates
from metrics.evaluation.holes.table import hole_table

__all__ = [
    "RankedDocuments",
    "expectations_at_rate",
    "hole_table",
    "is_exact",
    "joint_bounds",
    "judged_rates",
]
