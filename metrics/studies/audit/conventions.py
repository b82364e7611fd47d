"""Conventions: all that decides which figure a tool prints for the same run and judgments."""

from dataclasses import dataclass, fields
from typing import Literal

from metrics.evaluation import AS_READ, Policy, ScoringOptions
from metrics.measures import parse
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
        measure_at = parse(name)
        if self.gain == "linear" and measure_at.measure.name == "nDCG":
            return str(parse(str(measure_at).replace("nDCG", "nDCG-linear", 1)))
        return name

    def aspect(self, field: str) -> str:
        """Return what a field of it says in words, such as `relevant from 2`."""
        value = getattr(self, field)
        match field:
            case "treatment":
                return treatment(self.treatment).label
            case "precision":
                name, _, n_decimals = str(value).partition(":")
                name = "read" if value == AS_READ.precision else name
                return f"scores to {n_decimals} decimals" if n_decimals else f"scores as {name}"
            case "relevant_from":
                return f"relevant from {value:g}"
            case "gain":
                return "gain of nDCG the grade" if value == "linear" else "gain of nDCG 2^grade − 1"
            case "unjudged":
                return f"unjudged documents {'left out' if value == 'leave_out' else 'not relevant'}"
        subject = "queries without rows" if field == "missing" else "queries with nothing relevant"
        return f"{subject} {'left out' if value == 'skip' else 'as 0'}"

    @property
    def scoring_label(self) -> str:
        """How lists are scored by it, whatever breaks their ties."""
        return "; ".join(map(self.aspect, ("precision", "relevant_from", "unjudged")))

    @property
    def label(self) -> str:
        """What people call it: its order of ties, and what is unusual of the rest."""
        names = [field.name for field in fields(self)]
        unusual = [name for name in names[1:] if getattr(self, name) != getattr(USUAL, name)]
        return "; ".join(self.aspect(name) for name in (names[0], *unusual))


USUAL = Convention()
"""What a label leaves unsaid, but for the order of ties."""
