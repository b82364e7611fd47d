"""Floor 4: runs × measures × treatments → one table of values, list by list."""

from metrics.evaluation.evaluation import (
    DEFAULT_MEASURES,
    DEFAULT_TIES,
    DRAWS,
    EQUAL,
    Evaluation,
    Policy,
    evaluate,
)

__all__ = ["DEFAULT_MEASURES", "DEFAULT_TIES", "DRAWS", "EQUAL", "Evaluation", "Policy", "evaluate"]
