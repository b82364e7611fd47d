"""What a measure is: a record of its names, its source and its one formula."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.errors import UsageError
from metrics.measures.holes import Holes, Joint
from metrics.measures.joint_bounds import Shares
from metrics.measures.weights import Linear, Parameter
from metrics.support.arrays import FloatArray
from metrics.ties import Ranking, TieGroups, Treatment, refine, treatment

Formula = Callable[[TieGroups, Parameter], FloatArray]
"""(tie groups, parameter) → (n_lists,) values."""


@dataclass(frozen=True)
class Family:
    """How a kind of measure is computed, and what that allows: studies ask this record, never a name.

    Attributes:
        kind: of the formula: first_hit, additive, average_precision, targets or own_rules.
        mean: its exact expectation over what is tied; on groups of one, its plain value.
        variance: its exact variance over what is tied; on groups of one, 0.
        counts: which documents matter: those with a grade above 0, or all that were judged.
        targets: whether distinct targets are counted, which have a best and worst order of their own.
        pools: whether documents of the pool matter that nobody judged, which gives ties a best and worst order
            of their own.
        noisy: whether its mean is known where noise makes some orders of a group likelier than others.
        own_rule: whether it has its own rule for ties, so that no treatment applies.
        by_first_rank: whether the rank of the first relevant document alone tells its value.
        by_relevance: whether relevant or not is what counts, from whatever grade on, and not the grades.
        count_depth: (n,) or one number: places within which documents that matter are counted, each alike,
            so that their count alone tells the value; None where places or documents differ in worth.
        joint: smallest and largest value over all orderings and all grades of unjudged documents; None where
            no bounds are known.
        joint_exact: where some ordering and some grades give them: always, unless documents share targets, or
            never; elsewhere they are proven, and not always reached.
        no_extremes: why its best and worst order and its standard deviation over orders are not computed; empty
            where they are.
        estimable: whether means came near those of all judgments where grades of unjudged documents were
            estimated (`metrics.evaluation.holes.expectations_at_rate`).
        linear: what it adds up, where judgments move nothing but the gains of the documents; else None.
        shares: what each document adds to lists, where values add up and lists of a query are divided by the
            same; else None.
    """

    kind: str
    mean: Formula
    variance: Formula
    counts: Literal["graded", "judged"] = "graded"
    targets: bool = False
    pools: bool = False
    noisy: bool = True
    own_rule: bool = False
    by_first_rank: bool = False
    by_relevance: bool = True
    count_depth: Callable[[TieGroups, Parameter], FloatArray | float] | None = None
    joint: Joint | None = None
    joint_exact: Literal["always", "own targets", "never"] = "always"
    no_extremes: str = ""
    estimable: bool = True
    linear: Linear | None = None
    shares: Callable[[Holes, Parameter], Shares] | None = None

    @property
    def by_grades(self) -> bool:
        """Whether the grades of an ordering tell its value, and the mean over orderings is the tied value."""
        return not (self.targets or self.own_rule or self.no_extremes or self.counts == "judged")

    def computes(self, ties: Treatment) -> bool:
        """Return whether values under a treatment are computed: strict orders and the tied value always are."""
        return not (self.no_extremes and (ties.spread or ties.target_key is not None))


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes:
        name: as in `nDCG@10`, without the cut-off.
        family: its formula.
        cutoff: whether a cut-off may, must or cannot follow the name.
        answers: name of the measure whose ties it settles by its own rule; empty where treatments apply.
        traditional: name of its mean under a strict order; empty where it is the name.
        tied: name of its mean expectation; empty where it is "tied" and the name.
        aliases: other names that are understood.
        summary: one line for people.
        source: where the formula comes from.
        parameter: a parameter in brackets, with its default; None where there is none.
        of_parameter: the family of another parameter, where a cut-off may follow the brackets.
        is_recall: whether the parameter is a recall, which stands after an @ and not in brackets.
        largest: the largest value it can take; None where there is no bound.
        term: what is its own in the formula of its family, in LaTeX; empty where the summary says it.
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
    of_parameter: Callable[[float], Family] | None = None
    is_recall: bool = False
    largest: float | None = 1
    term: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All that it may be called: itself, its means, without "tied" before them, and its aliases."""
        plain = MeasureAt(self)
        means = (plain.traditional, plain.tied.removeprefix("tied "))
        return tuple(dict.fromkeys((self.name, *means, *self.aliases)))


@dataclass(frozen=True)
class MeasureAt:
    """A measure with its cut-off, `k` documents from the top, or None for the whole list."""

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
    def _suffix(self) -> str:
        cutoff = "" if self.k is None else f"@{self.k}"
        if self.parameter is None:
            return cutoff
        number = np.format_float_positional(self.parameter, trim="-")
        return f"@{number}" if self.measure.is_recall else f"({number}){cutoff}"

    @property
    def argument(self) -> Parameter:
        """Parameter of its formula: the cut-off, or the number in brackets."""
        return self.k if self.parameter is None or self.measure.of_parameter else self.parameter

    def values(self, groups: TieGroups) -> FloatArray:
        """Return (n_lists,) expectation over what is tied; 0 where no contributing document is listed."""
        return self.measure.family.mean(groups, self.argument)

    def variances(self, groups: TieGroups) -> FloatArray:
        """Return (n_lists,) variance over what is tied; 0 where the measure has its own rule for ties."""
        return self.measure.family.variance(groups, self.argument)

    def joint_bounds(self, holes: Holes) -> tuple[FloatArray, FloatArray]:
        """Return (n_lists,) smallest and largest value over all orderings and ways to judge the unjudged."""
        if self.measure.family.joint is None:
            raise UsageError(f"{self}: nobody has said how unjudged documents bound it (Family.joint).")
        return self.measure.family.joint(holes, self.argument)

    def count_depth(self, groups: TieGroups) -> FloatArray | float | None:
        """Return the places within which each tie group's documents are counted, as `Family.count_depth`.

        None also where several documents may satisfy one target, which counts once.
        """
        family = self.measure.family
        if family.count_depth is None or (family.targets and groups.judgments.targets is not None):
            return None
        return family.count_depth(groups, self.argument)


_EXPECTED = treatment("expected")
_CONTRIBUTING = 2**17
"""Contributing documents of the tie groups that are measured at once."""

_Key = tuple[str, str, bool, bool]


class RefinedGroups:
    """The tie groups of one ranking as measures and treatments need them; each kept for the next that does."""

    def __init__(self, ranking: Ranking, holes: Holes | None = None) -> None:
        """Take a ranking, and what nobody judged of it, where `lowest` or `highest` are asked for."""
        self._ranking, self._holes = ranking, holes
        self._groups: dict[_Key, TieGroups] = {}
        self._stacks: dict[tuple[_Key, ...], list[TieGroups]] = {}

    def of(self, measure: MeasureAt, ties: Treatment = _EXPECTED) -> TieGroups:
        """Return the tie groups a measure sees: whole for its standard deviation or a tie rule of its own."""
        family = measure.measure.family
        if ties.noise is not None and not family.noisy:
            raise UsageError(
                f"{measure}: its mean under {ties.name} is not known, for it depends on several kinds of "
                "documents above each other. Take AP or nDCG, or no noise."
            )
        key = _key(measure, ties)
        if key not in self._groups:
            used, all_judged = _used(measure, ties), family.counts == "judged"
            self._groups[key] = refine(
                self._ranking, used, all_judged=all_judged, targets=family.targets, pools=family.pools
            )
        return self._groups[key]

    def values(self, measure: MeasureAt, treatments: Sequence[Treatment]) -> Iterator[FloatArray]:
        """Yield (n_lists,) values of a measure under each treatment, its standard deviation for `std`.

        Treatments are measured together: what a measure does for all groups at once costs more than the groups.

        Raises:
            UsageError: bounds over judgments, and nobody said what is open, or a treatment is not computed.
        """
        family = measure.measure.family
        if not all(map(family.computes, treatments)):
            raise UsageError(family.no_extremes)
        means = self._means(measure, [ties for ties in treatments if not (ties.spread or ties.bound)])
        bounds: tuple[FloatArray, ...] = ()
        if any(ties.bound for ties in treatments):
            if self._holes is None:
                raise UsageError("lowest and highest are over judgments of all runs: evaluate gives them.")
            bounds = measure.joint_bounds(self._holes)
        for ties in treatments:
            if ties.bound:
                yield bounds[ties.bound > 0]
            elif ties.spread:
                yield np.sqrt(measure.variances(self.of(measure, ties)))
            else:
                yield means[_key(measure, ties)]

    def _means(self, measure: MeasureAt, treatments: Sequence[Treatment]) -> dict[_Key, FloatArray]:
        """Return the values of a measure by what tells tie groups apart."""
        groups = {_key(measure, ties): self.of(measure, ties) for ties in treatments}
        keys = tuple(groups)
        if keys not in self._stacks:
            self._stacks[keys] = list(_stacks(list(groups.values())))
        values = np.concatenate([np.empty(0), *map(measure.values, self._stacks[keys])])
        return dict(zip(keys, values.reshape(len(keys), self._ranking.n_lists), strict=True))


def _used(measure: MeasureAt, ties: Treatment) -> Treatment:
    return _EXPECTED if measure.measure.family.own_rule or ties.spread else ties


def _key(measure: MeasureAt, ties: Treatment) -> _Key:
    """Return what tells the tie groups that a measure sees under a treatment from others of its ranking."""
    family, used = measure.measure.family, _used(measure, ties)
    by_target = family.targets and used.target_key is not None
    return family.counts, used.name, by_target, family.pools and used.pool_key is not None


def _stacks(groups: Sequence[TieGroups]) -> Iterator[TieGroups]:
    """Yield tie groups of one ranking in order, as many together as are not too many; noisy ones alone."""
    stack: list[TieGroups] = []
    for refined in groups:
        n_contributing = sum(len(other.grades) for other in stack) + len(refined.grades)
        is_noisy = any(other.noise is not None for other in (*stack, refined))
        if stack and (is_noisy or n_contributing > _CONTRIBUTING):
            yield TieGroups.stacked(stack)
            stack = []
        stack.append(refined)
    if stack:
        yield TieGroups.stacked(stack)
