"""Conventions by which tools compute figures, and those that an audit tries."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from metrics.evaluation import AS_READ, EmptyPolicy, Policy, ScoringOptions, Unjudged
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.tool_rules import grades
from metrics.support.arrays import FloatArray
from metrics.ties import Ranking, treatment
from metrics.ties.options import rounded

Gain = Literal["linear", "exponential"]
"""Gain of nDCG: the grade, like trec_eval, or 2^grade - 1."""


@dataclass(frozen=True)
class Convention:
    """A way to compute a table: tie order, options of scoring and gain of nDCG.

    The gain is None where it makes no difference, which is computed as linear.
    """

    treatment: str = "docid_desc"
    precision: str = "float64"
    relevant_from: float = 1
    missing: Policy = "zero"
    empty: EmptyPolicy = "zero"
    gain: Gain | None = "linear"
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
        if self.gain != "exponential" and measure_at.measure.name == "nDCG":
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
        outcomes = {"zero": "count as 0", "one": "count as 1", "skip": "left out"}
        return f"{subject} {outcomes[value]}"

    @property
    def label(self) -> str:
        """Its tie order and its unusual fields."""
        names = [field.name for field in fields(self)]
        unusual = [name for name in names[1:] if getattr(self, name) != getattr(USUAL, name)]
        return "; ".join(self.aspect(name) for name in (names[0], *unusual))


USUAL = Convention(gain=None)
"""The fields that labels omit; a gain is named, because nDCG does not say which it has."""


TREATMENTS = ("docid_desc", "docid_asc", "input", "expected", "pessimistic", "optimistic")
"""Treatments to try, the most usual first."""
PRECISIONS = (
    *("float64", "float32", "float16", "bfloat16"),
    *("decimals:6", "decimals:4", "decimals:3", "decimals:2"),
)
"""Precisions to try, the finest first."""
_MAX_GRADES = 8
"""Most thresholds of relevance to try."""


def candidate_conventions(
    runs: Runs, measures: Sequence[str], relevant_from: float | None = None
) -> tuple[dict[str, Sequence[Any]], dict[str, str]]:
    """Return the conventions that can give different figures on these files.

    Returns:
        field → values that can give different figures, the most usual first; and field → reason why other
        values are not tried.
    """
    rankings = [Ranking.of(runs, name) for name in runs.rerankers]
    levels, families = grades(runs), [parse(name).measure for name in measures]
    relevant_grades = _relevant_grades(levels, relevant_from)
    highest = Ranking.of(runs, runs.rerankers[0], ScoringOptions(relevant_from=relevant_grades[-1])).judgments
    has_gains = any(family.name == "nDCG" for family in families) and bool((levels > 1).any())
    candidates: dict[str, tuple[Sequence[Any], bool, str]] = {
        "treatment": (TREATMENTS, True, ""),
        "relevant_from": (
            relevant_grades,
            any(family.family.by_relevance for family in families),
            "no measure of the table uses binary relevance",
        ),
        "missing": (
            ("zero", "skip"),
            any(ranking.is_missing.any() for ranking in rankings),
            "every run has all judged queries",
        ),
        "empty": (
            ("zero", "skip", "one"),
            bool((highest.n_relevant == 0).any()),
            "every query has relevant documents",
        ),
        "gain": (
            ("linear", "exponential") if has_gains else (None,),
            has_gains,
            "the table has no nDCG, or no grade is above 1",
        ),
        "unjudged": (
            ("nonrelevant", "leave_out"),
            not all(ranking.judged.all() for ranking in rankings),
            "every listed document is judged",
        ),
    }
    precisions, alike = _precisions(rankings)
    choices = {name: values if matters else values[:1] for name, (values, matters, _) in candidates.items()}
    reasons = {name: reason for name, (_, matters, reason) in candidates.items() if not matters}
    if alike[1:]:
        reasons["precision"] = f"the same documents tie under {', '.join(alike)}"
    return choices | {"precision": precisions}, reasons


def _precisions(rankings: Sequence[Ranking]) -> tuple[list[str], list[str]]:
    """Return the precisions with different ties, the finest of each, and those with the ties of the scores."""
    by_bounds: dict[bytes, list[str]] = {}
    for precision in PRECISIONS:
        scores = [rounded(ranking.scores, precision) for ranking in rankings]
        bounds = np.concatenate([values[1:] != values[:-1] for values in scores])
        by_bounds.setdefault(np.packbits(bounds).tobytes(), []).append(precision)
    groups = list(by_bounds.values())
    return [names[0] for names in groups], groups[0]


def _relevant_grades(levels: FloatArray, relevant_from: float | None) -> list[float]:
    if relevant_from is not None:
        return [relevant_from]
    above = [float(level) for level in levels if level > 0][:_MAX_GRADES]
    return [min(1.0, above[0]), *above[1:]] if above else [1.0]
