"""Conventions: all that decides which figure a tool prints for the same run and judgments."""

from dataclasses import dataclass
from typing import Literal

from metrics.evaluation import Policy, ScoringOptions
from metrics.measures import parse
from metrics.support.wording import compared_as
from metrics.ties import treatment
from metrics.ties.judgments import Unjudged

Gain = Literal["linear", "exponential"]
"""Gain of nDCG: the grade, as trec_eval has it, or 2^grade - 1."""


@dataclass(frozen=True)
class Convention:
    """One way to make a table from runs and judgments.

    Attributes:
        treatment: of ties, a name of `metrics.TREATMENTS`.
        precision: how scores are compared.
        relevant_from: smallest grade that counts as relevant.
        missing: what is done about queries that a run lacks.
        empty: what is done about queries with nothing relevant.
        gain: of nDCG.
        unjudged: what is done about documents that nobody judged.
    """

    treatment: str = "docid_desc"
    precision: str = "float64"
    relevant_from: float = 1
    missing: Policy = "zero"
    empty: Policy = "zero"
    gain: Gain = "linear"
    unjudged: Unjudged = "nonrelevant"

    @property
    def options(self) -> ScoringOptions:
        """How lists are scored by it."""
        return ScoringOptions(
            self.precision, self.missing, self.empty, self.relevant_from, unjudged=self.unjudged
        )

    def measure(self, name: str) -> str:
        """Return the measure that is computed where this one is asked for: nDCG has the gain."""
        asked = parse(name)
        if self.gain == "linear" and asked.measure.name == "nDCG":
            return str(parse(str(asked).replace("nDCG", "nDCG-linear", 1)))
        return name

    @property
    def label(self) -> str:
        """What people call it: its order of ties, and what is unusual of the rest."""
        parts = {
            f"scores as {compared_as(self.precision)}": self.precision != "float64",
            f"relevant from {self.relevant_from:g}": self.relevant_from != 1,
            "missing queries left out": self.missing == "skip",
            "queries with nothing relevant left out": self.empty == "skip",
            "gain 2^grade - 1": self.gain == "exponential",
            "unjudged documents left out": self.unjudged == "leave_out",
        }
        unusual = [text for text, is_so in parts.items() if is_so]
        return "; ".join([treatment(self.treatment).label, *unusual])
