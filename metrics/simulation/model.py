"""Settings of simulated rerankers and of types of queries."""

from dataclasses import dataclass

from metrics.errors import UsageError

PERFORMANCE = 0.9
"""Chance that a relevant document is scored higher than by luck, unless said otherwise."""


@dataclass(frozen=True)
class LlmReranker:
    """How a simulated LLM scores.

    Attributes:
        tie_probability: chance that a document copies its score to another one.
        levels: number of distinct scores, evenly spaced over [0, 1]; 0 for any score from 0.1 to 1.2, so that
            only copied scores tie.
        performance: chance that a relevant document is scored higher than by luck; None: that of the simulation
            or of the type of query.

    Raises:
        UsageError: a chance outside [0, 1], or negative levels.
    """

    tie_probability: float
    levels: int
    performance: float | None = None

    def __post_init__(self) -> None:
        check_chance("tie probability", self.tie_probability)
        if self.performance is not None:
            check_chance("performance", self.performance)
        if self.levels < 0:
            raise UsageError(f"levels={self.levels}: give 1 or more levels, or 0 for scores without levels.")


@dataclass(frozen=True)
class Segment:
    """A type of query.

    Attributes:
        performance: chance that a relevant document is scored higher than by luck.
        ties: factor on the chance of ties, which never exceeds 1.

    Raises:
        UsageError: a chance outside [0, 1], or ties below 0.
    """

    performance: float = PERFORMANCE
    ties: float = 1.0

    def __post_init__(self) -> None:
        check_chance("performance", self.performance)
        if not self.ties >= 0:
            raise UsageError(f"ties={self.ties:g}: give 0 or more.")


def check_chance(name: str, value: float) -> None:
    """Raise a UsageError where a value is not between 0 and 1."""
    if not 0 <= value <= 1:
        raise UsageError(f"{name}={value:g} is not between 0 and 1.")
