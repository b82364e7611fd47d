"""What a simulated reranker is, and what a type of query does to it."""

from dataclasses import dataclass

from metrics.errors import UsageError

PERFORMANCE = 0.9
"""Chance that a relevant document is scored higher than by luck, unless said otherwise."""


@dataclass(frozen=True)
class LlmReranker:
    """How a simulated LLM scores.

    Attributes:
        tie_probability: chance that a document hands its score to another one.
        levels: number of distinct scores it can give, spread evenly over [0, 1]; 0 for any from 0.1 to 1.2,
            which no two documents share unless one hands its own on.
        performance: chance that a relevant document is scored higher than by luck; None for what the
            simulation or the type of query says.

    Raises:
        UsageError: a chance outside [0, 1], or fewer than no levels.
    """

    tie_probability: float
    levels: int
    performance: float | None = None

    def __post_init__(self) -> None:
        check_chance("tie probability", self.tie_probability)
        if self.performance is not None:
            check_chance("performance", self.performance)
        if self.levels < 0:
            raise UsageError(f"levels={self.levels}: it is 1 or more, or 0 for any score.")


@dataclass(frozen=True)
class Segment:
    """A type of query.

    Attributes:
        performance: chance that a relevant document is scored higher than by luck.
        ties: how many times as likely ties are here; no chance exceeds 1.

    Raises:
        UsageError: a chance outside [0, 1], or ties below 0.
    """

    performance: float = PERFORMANCE
    ties: float = 1.0

    def __post_init__(self) -> None:
        check_chance("performance", self.performance)
        if not self.ties >= 0:
            raise UsageError(f"ties={self.ties:g}: it is 0 or more.")


def check_chance(name: str, value: float) -> None:
    """Raise a UsageError where the value of this name is no chance."""
    if not 0 <= value <= 1:
        raise UsageError(f"{name}={value:g}: it is between 0 and 1.")


CONTINUOUS = LlmReranker(0, 0)
"""Scores without levels and without ties."""
