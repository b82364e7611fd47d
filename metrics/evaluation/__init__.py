"""Floor 4: runs × measures × treatments → one table of values, list by list."""

from metrics.evaluation.evaluation import Evaluation
from metrics.evaluation.scoring import DEFAULT_MEASURES, DEFAULT_TIES, evaluate, score, score_runs
from metrics.ties.options import AS_READ, EmptyPolicy, Policy, ScoringKeywords, ScoringOptions, Unjudged

EQUAL = 1e-12
"""Values closer than this differ by rounding."""
EXCESS = 1 + 1e-6
"""Factor by which a statistic exceeds another by more than the rounding of sums of squares."""

__all__ = [
    "AS_READ",
    "DEFAULT_MEASURES",
    "DEFAULT_TIES",
    "EQUAL",
    "EXCESS",
    "EmptyPolicy",
    "Evaluation",
    "Policy",
    "ScoringKeywords",
    "ScoringOptions",
    "Unjudged",
    "evaluate",
    "score",
    "score_runs",
]
