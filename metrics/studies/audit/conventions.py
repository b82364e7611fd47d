"""Conventions by which tools compute figures, and those that an audit tries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, Literal

import numpy as np

from metrics.evaluation import AS_READ, Policy, ScoringOptions
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.tool_rules import grades
from metrics.support.arrays import FloatArray
from metrics.ties import Ranking, treatment
from metrics.ties.judgments import Unjudged
from metrics.ties.precision import rounded

Gain = Literal["linear", "exponential"]
"""Gain of nDCG: the grade, like trec_eval, or 2^grade - 1."""


@dataclass(frozen=True)
class Convention:
    """A way to compute a table: tie order, options of scoring and gain of nDCG."""

    treatment: str = "docid_desc"
    precision: str = "float64"
    relevant_from: float = 1
    missing: Policy = "zero"
    empty: Policy = "zero"
    gain: Gain = "linear"
    unjudged: Unjudged = "nonrelevant"

    @property
    def options(self) -> ScoringOptions:
        """Its options of scoring."""
        return ScoringOptions(
            self.precision, self.missing, self.empty, self.relevant_from, unjudged=self.unjudged
        )

    def measure(self, name: str) -> str:
        """Return a measure with its gain."""
        measure_at = parse(name)
        if self.gain == "linear" and measure_at.measure.name == "nDCG":
            return str(parse(str(measure_at).replace("nDCG", "nDCG-linear", 1)))
        return name

    def aspect(self, field: str) -> str:
        """Describe one of its fields, such as `relevant from 2`."""
        value = getattr(self, field)
        match field:
            case "treatment":
                return treatment(self.treatment).label
            case "precision":
                name, _, n_decimals = str(value).partition(":")
                name = "read" if value == AS_READ.precision else name
                return f"scores rounded to {n_decimals} decimals" if n_decimals else f"scores as {name}"
            case "relevant_from":
                return f"relevant from grade {value:g}"
            case "gain":
                return "nDCG gain = grade" if value == "linear" else "nDCG gain = 2^grade − 1"
            case "unjudged":
                return f"unjudged documents {'left out' if value == 'leave_out' else 'not relevant'}"
        subject = f"queries without {'rows' if field == 'missing' else 'relevant documents'}"
        return f"{subject} {'left out' if value == 'skip' else 'count as 0'}"

    @property
    def scoring_label(self) -> str:
        """Description of its options that change lists."""
        return "; ".join(map(self.aspect, ("precision", "relevant_from", "unjudged")))

    @property
    def label(self) -> str:
        """Its tie order and its unusual fields."""
        names = [field.name for field in fields(self)]
        unusual = [name for name in names[1:] if getattr(self, name) != getattr(USUAL, name)]
        return "; ".join(self.aspect(name) for name in (names[0], *unusual))


USUAL = Convention()
"""The fields that labels omit."""


TREATMENTS = ("docid_desc", "docid_asc", "input", "expected", "pessimistic", "optimistic")
"""Treatments to try, the most usual first."""
PRECISIONS = (
    *("float64", "float32", "float16", "bfloat16"),
    *("decimals:6", "decimals:4", "decimals:3", "decimals:2"),
)
"""Precisions to try, the finest first."""
_MAX_GRADES = 8
"""Most thresholds of relevance to try."""
_GAIN_MEASURE = "nDCG"


@dataclass(frozen=True, eq=False)
class Candidates:
    """The conventions to try.

    Attributes:
        choices: field → values that can give different figures, the most usual first.
        reasons: field → reason why other values are not tried.
    """

    choices: Mapping[str, Sequence[Any]]
    reasons: Mapping[str, str]

    def evaluations(self) -> Iterator[Convention]:
        """Yield a convention for each evaluation needed; it serves all that differ in other fields."""
        for precision, unjudged, grade in product(
            *(self.choices[name] for name in ("precision", "unjudged", "relevant_from"))
        ):
            yield Convention(precision=precision, unjudged=unjudged, relevant_from=grade)


def candidate_conventions(
    runs: Runs, measures: Sequence[str], relevant_from: float | None = None
) -> Candidates:
    """Return the conventions that can give different figures on these files."""
    rankings = [AS_READ.ranking(runs, name) for name in runs.rerankers]
    levels = grades(runs)
    precisions, precision_reason = _precisions(rankings)
    families = [parse(name).measure for name in measures]
    relevant_grades = _relevant_grades(levels, relevant_from)
    highest = ScoringOptions(relevant_from=relevant_grades[-1]).ranking(runs, runs.rerankers[0]).judgments
    tests = {
        "relevant_from": (
            any(family.family.by_relevance for family in families),
            "no measure of the table uses binary relevance",
        ),
        "missing": (any(ranking.is_missing.any() for ranking in rankings), "every run has all judged queries"),
        "empty": (bool((highest.n_relevant == 0).any()), "every query has relevant documents"),
        "gain": (
            any(family.name == _GAIN_MEASURE for family in families) and bool((levels > 1).any()),
            "the table has no nDCG, or no grade is above 1",
        ),
        "unjudged": (not all(ranking.judged.all() for ranking in rankings), "every listed document is judged"),
    }
    choices: dict[str, Sequence[Any]] = {
        "treatment": TREATMENTS,
        "precision": precisions,
        "relevant_from": relevant_grades,
        "missing": ("zero", "skip"),
        "empty": ("zero", "skip"),
        "gain": ("linear", "exponential"),
        "unjudged": ("nonrelevant", "leave_out"),
    }
    reasons = {name: reason for name, (matters, reason) in tests.items() if not matters}
    usual = {name: values[:1] if name in reasons else values for name, values in choices.items()}
    return Candidates(usual, reasons | precision_reason)


def _precisions(rankings: Sequence[Ranking]) -> tuple[list[str], dict[str, str]]:
    by_bounds: dict[bytes, list[str]] = {}
    for precision in PRECISIONS:
        scores = [rounded(ranking.scores, precision) for ranking in rankings]
        bounds = np.concatenate([values[1:] != values[:-1] for values in scores])
        by_bounds.setdefault(np.packbits(bounds).tobytes(), []).append(precision)
    alike = next(names[1:] for names in by_bounds.values() if names[0] == "float64")
    formats = [name for name in alike if not name.startswith("decimals:")]
    decimals = [name.removeprefix("decimals:") for name in alike if name.startswith("decimals:")]
    ways = ["as read"]
    ways += [f"as {', '.join(formats)}"] if formats else []
    ways += [f"rounded to {', '.join(decimals)} decimals"] if decimals else []
    reason = (
        {"precision": f"the same documents tie whether scores are compared {' or '.join(ways)}"}
        if alike
        else {}
    )
    return [names[0] for names in by_bounds.values()], reason


def _relevant_grades(levels: FloatArray, relevant_from: float | None) -> list[float]:
    if relevant_from is not None:
        return [relevant_from]
    above = [float(level) for level in levels if level > 0][:_MAX_GRADES]
    return [min(1.0, above[0]), *above[1:]] if above else [1.0]
