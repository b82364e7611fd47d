"""What the Guide lists of measures, treatments and tools."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from metrics.measures import MEASURES, Measure, MeasureAt
from metrics.studies.tools.rules import Tool
from metrics.ties.treatments import treatments_by_name


class ToolRule(NamedTuple):
    """What a tool does about ties in some of its measures.

    Attributes:
        measures: names of the measures.
        treatment: what the tool does.
        why: why its value is not the tied one.
        cases: what completes "No number where".
    """

    measures: str
    treatment: str
    why: str
    cases: tuple[str, ...]


def family_measures(kind: str) -> list[Measure]:
    """Return the measures of one kind of formula, as `Family.kind` names it."""
    return [measure for measure in MEASURES if measure.family.kind == kind]


def measure_table() -> pd.DataFrame:
    """Return a row for every measure.

    Returns:
        measure (as it is written), traditional and tied (names of its means, tied empty where it has its
        own rule), summary, range, source.
    """
    cutoffs = {"none": "", "optional": "[@k]", "required": "@k"}
    rows = []
    for measure in MEASURES:
        mean, cutoff = MeasureAt(measure), cutoffs[measure.cutoff]
        sign = "" if measure.parameter is None else "@recall" if measure.is_recall else "(p)"
        rows.append(
            {
                "measure": measure.name + sign + cutoff,
                "traditional": mean.traditional + cutoff,
                "tied": "" if measure.family.own_rule else mean.tied + cutoff,
                "summary": measure.summary,
                "range": "0 and up" if measure.largest is None else f"0 to {measure.largest:g}",
                "source": measure.source,
            }
        )
    return pd.DataFrame(rows)


def treatment_table() -> pd.DataFrame:
    """Return every treatment: treatment, label, summary, used_by."""
    rows = [(name, ties.label, ties.summary, ties.used_by) for name, ties in treatments_by_name().items()]
    return pd.DataFrame(rows, columns=["treatment", "label", "summary", "used_by"])


def tool_rules(tool: Tool) -> list[ToolRule]:
    """Return the rules of a tool that differ in what is said of them, each with the measures it is for."""
    measures: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for measure, rule in tool.rules.items():
        measures.setdefault((rule.treatment, rule.why, rule.cases_without_number), []).append(measure)
    return [ToolRule(_merge_cutoffs(names), *rule) for rule, names in measures.items()]


def _merge_cutoffs(names: Sequence[str]) -> str:
    """Join names of measures; RR and RR@k become RR[@k]."""
    with_both = [name for name in names if f"{name}@k" in names]
    single = [name for name in names if name.removesuffix("@k") not in with_both]
    return ", ".join([*(f"{name}[@k]" for name in with_both), *single])
