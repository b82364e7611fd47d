"""How a tool computes a measure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from metrics.evaluation import Policy, ScoringOptions
from metrics.measures import MeasureAt
from metrics.studies.tools.refusals import Refusal
from metrics.studies.tools.views import BINARY, View, unchanged


@dataclass(frozen=True)
class Rule:
    """How a tool computes a measure.

    Attributes:
        treatment: what it does about ties, a name of `metrics.TREATMENTS`.
        why: one sentence on why its value is not the tied one.
        precision: how it holds scores.
        missing: what it does about queries the run lacks.
        empty: what it does about queries with nothing relevant.
        view: what it makes of the files first.
        refusals: where it gives no number.
        stable: documents up to which its sort keeps the order the treatment says; past them only values that
            no order changes are certain. None where the treatment always holds.
        computed: our measure that equals the tool's; empty where it is the one asked for.
        spelling: name of the measure in the tool, {k} for the cut-off, {recall} for a recall.
        level: spelling where relevant is not from grade 1: {name} for the usual one, {base} and {cut} for what
            stands before @ and from there on, {level} for the grade; empty where the tool knows no other.
    """

    treatment: str
    why: str
    precision: str = "float64"
    missing: Policy = "zero"
    empty: Policy = "zero"
    view: View = unchanged
    refusals: tuple[Refusal, ...] = ()
    stable: int | None = None
    computed: str = ""
    spelling: str = ""
    level: str = ""

    def spelled(self, names: str) -> dict[str, "Rule"]:
        """Return measure → this rule with the tool's spelling, from pairs `ours=theirs` set apart by spaces."""
        pairs = (pair.split("=", 1) for pair in names.split())
        return {ours: replace(self, spelling=theirs) for ours, theirs in pairs}

    @property
    def cases_without_number(self) -> tuple[str, ...]:
        """What completes "No number where"."""
        reasons = tuple(refusal.reason for refusal in self.refusals)
        if self.stable is None:
            return reasons
        if self.stable == 0:
            return (*reasons, "the order of a tie changes its value: its sort keeps none")
        return (
            *reasons,
            f"the order of a tie changes the value of a list of more than {self.stable} documents: its sort "
            "keeps none there",
        )

    @property
    def treatments(self) -> tuple[str, ...]:
        """The treatments that its value needs."""
        bounds = () if self.stable is None else ("optimistic", "pessimistic")
        return tuple(dict.fromkeys((self.treatment, *bounds)))

    def policy(self, relevant_from: float) -> tuple[View, ScoringOptions]:
        """Return what one evaluation can serve, where the user's smallest relevant grade is this."""
        grade = relevant_from if self.level else 1
        return self.view, ScoringOptions(self.precision, relevant_from=grade)

    def counts(self, lists: pd.DataFrame) -> "pd.Series[bool]":
        """Return which lists it averages over, from their n_docs and n_relevant."""
        is_left_out = (lists["n_docs"] == 0) & (self.missing == "skip")
        return ~(is_left_out | ((lists["n_relevant"] == 0) & (self.empty == "skip")))

    @property
    def is_binary(self) -> bool:
        """Whether it tells relevant from not, and no more."""
        return self.view in BINARY


@dataclass(frozen=True)
class Tool:
    """Software that scores rankings.

    Attributes:
        name: what it is called.
        version: the version its rules were checked against.
        summary: its convention for ties, in one line.
        rules: our measure, `RR` or with any cut-off `RR@k` → how the tool computes it; a measure that
            no rule gives exactly is left out.
        checked: against the package itself, run, or against its source.
    """

    name: str
    version: str
    summary: str
    rules: Mapping[str, Rule]
    checked: Literal["run", "source"] = "run"

    def rule(self, measure: MeasureAt, relevant_from: float = 1) -> Rule | None:
        """Return how it computes this measure, `spelling` and `computed` filled in; None where it does not.

        Args:
            measure: ours.
            relevant_from: smallest grade that its user calls relevant.
        """
        rule = self.rules.get(measure.measure.name + ("" if measure.k is None else "@k"))
        if rule is None:
            return None
        ours, theirs = (
            rule.computed or str(measure),
            rule.spelling.format(k=measure.k, recall=measure.parameter),
        )
        if relevant_from != 1 and rule.level and measure.measure.family.by_relevance:
            base, sign, cut = theirs.partition("@")
            theirs = rule.level.format(name=theirs, base=base, cut=sign + cut, level=math.ceil(relevant_from))
        return replace(rule, computed=ours, spelling=theirs)
