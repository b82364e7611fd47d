"""Measures as records of their names, source and formula."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from metrics.support.arrays import FloatArray
from metrics.ties import Ranking, TieGroups, Treatment, refine, treatment

Parameter = float | None
"""Cut-off of a measure, or its other parameter, or None."""
Formula = Callable[[TieGroups, Parameter], FloatArray]
"""(tie groups, parameter) → (n_lists,) values."""


@dataclass(frozen=True)
class Family:
    """How a kind of measure is computed. Studies ask this record, never a measure's name.

    Attributes:
        kind: of the formula: first_hit, additive, average_precision, targets or own_rules.
        mean: exact expectation over ties; for groups of one, the plain value.
        variance: exact variance over ties; for groups of one, 0.
        counts: which documents matter: those with a grade above 0, or all judged ones.
        targets: true for measures of distinct targets, which have their own best and worst order.
        own_rule: true if it has its own rule for ties; no treatment applies.
        by_first_rank: true if it depends only on the rank of the first relevant document.
        by_relevance: true if it depends on relevance, and not on grades.
        falls: true if documents that count lower it, so that the worst order gives the largest value.
    """

    kind: str
    mean: Formula
    variance: Formula
    counts: Literal["graded", "judged"] = "graded"
    targets: bool = False
    own_rule: bool = False
    by_first_rank: bool = False
    by_relevance: bool = True
    falls: bool = False

    @property
    def by_grades(self) -> bool:
        """True if the grades of an order determine its value, whose mean over orders is the tied value."""
        return not (self.targets or self.own_rule or self.counts == "judged")


GEOMETRIC_FLOOR = 0.00001
"""Smallest value of a list in a geometric mean, as in trec_eval."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure.

    Attributes:
        name: as in `nDCG@10`, without the cut-off.
        family: its formula.
        cutoff: a cut-off may, must or cannot follow the name.
        answers: the measure whose ties it resolves by its own rule; empty where treatments apply.
        traditional: name of its mean under a strict order; empty where it is the name.
        tied: name of its tied mean; empty where it is "tied" and the name.
        aliases: other names that `parse` accepts.
        summary: one line that explains it.
        source: where the formula comes from.
        parameter: default of the parameter in brackets, or None.
        largest: the largest possible value; None if unbounded.
        geometric: true if the mean over lists is geometric, of values of at least `GEOMETRIC_FLOOR`.
        term: its own part of the family's formula, in LaTeX; empty where the summary says it.
    """

    name: str
    family: Family
    cutoff: Literal["none", "optional", "required"]
    summary: str
    source: str
    answers: str = ""
    traditional: str = ""
    tied: str = ""
    aliases: tuple[str, ...] = ()
    parameter: float | None = None
    largest: float | None = 1
    geometric: bool = False
    term: str = ""

    @property
    def is_share_of_best(self) -> bool:
        """True if a list with the best order of relevant documents scores 1."""
        return self.largest == 1 and (self.family.by_relevance or self.family.counts == "graded")

    @property
    def names(self) -> tuple[str, ...]:
        """All names that `parse` accepts: its own, those of its means with or without "tied", and aliases."""
        plain = MeasureAt(self)
        means = (plain.traditional, plain.tied.removeprefix("tied "))
        return tuple(dict.fromkeys((self.name, *means, *self.aliases)))


@dataclass(frozen=True)
class MeasureAt:
    """A measure with its cut-off `k`; None for the whole list."""

    measure: Measure
    k: int | None = None
    parameter: float | None = None

    def __str__(self) -> str:
        return self.measure.name + self._suffix

    @property
    def traditional(self) -> str:
        """Name of the traditional mean, such as `MRR@10`."""
        return (self.measure.traditional or self.measure.name) + self._suffix

    @property
    def tied(self) -> str:
        """Name of the tied mean, such as `MTRR@10`."""
        if self.measure.family.own_rule:
            return self.traditional
        return (self.measure.tied or f"tied {self.measure.traditional or self.measure.name}") + self._suffix

    @property
    def compared(self) -> tuple[str, str]:
        """Names of the traditional and tied means by which rerankers are compared: arithmetic for gm_map."""
        return ("MAP", "tied MAP") if self.measure.geometric else (self.traditional, self.tied)

    @property
    def _suffix(self) -> str:
        if self.parameter is not None:
            return f"({np.format_float_positional(self.parameter, trim='-')})"
        return "" if self.k is None else f"@{self.k}"

    def values(self, groups: TieGroups) -> FloatArray:
        """Return (n_lists,) expectations over ties; 0 where no contributing document is listed."""
        return self.measure.family.mean(groups, self.k or self.parameter)

    def variances(self, groups: TieGroups) -> FloatArray:
        """Return (n_lists,) variances over ties; 0 where the measure has its own rule for ties."""
        return self.measure.family.variance(groups, self.k or self.parameter)


_EXPECTED = treatment("expected")
_OPPOSITE = {"optimistic": treatment("pessimistic"), "pessimistic": treatment("optimistic")}


@dataclass(frozen=True, eq=False)
class RefinedGroups:
    """The tie groups of one ranking as each measure and treatment needs them, cached."""

    ranking: Ranking
    _groups: dict[tuple[str, str, bool], TieGroups] = field(default_factory=dict, init=False)

    def values(self, measure: MeasureAt, treatments: Sequence[Treatment]) -> Iterator[FloatArray]:
        """Yield (n_lists,) values of a measure under each treatment, its standard deviation for `std`.

        A standard deviation and a measure with its own rule for ties need whole tie groups.
        """
        family = measure.measure.family
        means: dict[TieGroups, FloatArray] = {}
        for ties in treatments:
            used = _EXPECTED if family.own_rule or ties.spread else ties
            if family.falls:
                used = _OPPOSITE.get(used.name, used)
            key = family.counts, used.name, family.targets and used.target_key is not None
            if key not in self._groups:
                is_judged = family.counts == "judged"
                refined = refine(self.ranking, used, all_judged=is_judged, targets=family.targets)
                self._groups[key] = refined
            groups = self._groups[key]
            if ties.spread:
                yield np.sqrt(measure.variances(groups))
                continue
            if groups not in means:
                means[groups] = measure.values(groups)
            yield means[groups]
