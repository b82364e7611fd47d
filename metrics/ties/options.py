"""How lists are scored, whatever the measure and the tie order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

import numpy as np

from metrics.errors import UsageError
from metrics.runs.model import check_relevant_from
from metrics.ties.fronts import criterion
from metrics.ties.precision import rounded

Policy = Literal["zero", "skip"]
"""Whether queries without a value count 0 or are left out."""
EmptyPolicy = Literal["zero", "one", "skip"]
"""Whether queries without relevant documents count 0, count 1, or are left out."""
Unjudged = Literal["nonrelevant", "leave_out"]
"""Unjudged documents are not relevant, or are left out of the lists."""


class ScoringKeywords(TypedDict, total=False):
    """Keywords that make `ScoringOptions`, each explained by `metrics.evaluate`."""

    precision: str
    missing: Policy
    empty: EmptyPolicy
    relevant_from: float
    tiebreak_by: Sequence[str]
    criteria: Sequence[str]
    unjudged: Unjudged


@dataclass(frozen=True)
class ScoringOptions:
    """The options of `metrics.evaluate` that apply to all measures and treatments.

    Raises:
        UsageError: an option has a value that does not exist, or at which unjudged documents would be relevant.
    """

    precision: str = "float64"
    missing: Policy = "zero"
    empty: EmptyPolicy = "zero"
    relevant_from: float = 1
    tiebreak_by: Sequence[str] = ()
    criteria: Sequence[str] = ()
    unjudged: Unjudged = "nonrelevant"

    def __post_init__(self) -> None:
        for name, policies in (("missing", get_args(Policy)), ("empty", get_args(EmptyPolicy))):
            if (policy := getattr(self, name)) not in policies:
                raise UsageError(f"{name}={policy!r}: use {' or '.join(map(repr, policies))}.")
        check_relevant_from(self.relevant_from)
        if self.unjudged not in get_args(Unjudged):
            known = " or ".join(map(repr, get_args(Unjudged)))
            raise UsageError(f"unjudged must be {known}, not {self.unjudged!r}.")
        rounded(np.empty(0), self.precision)  # refuses an unknown precision
        object.__setattr__(self, "tiebreak_by", tuple(self.tiebreak_by))
        object.__setattr__(self, "criteria", tuple(self.criteria))

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Score columns to read besides the score."""
        names = [*(criterion(text)[0] for text in self.criteria), *self.tiebreak_by]
        return tuple(dict.fromkeys(name for name in names if name != "score"))


AS_READ = ScoringOptions()
"""The defaults: scores as read, every judged query counts."""
