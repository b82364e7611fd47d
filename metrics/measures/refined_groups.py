"""The tie groups that each measure sees under each treatment, refined once for all that see the same."""

from collections.abc import Iterator, Sequence

import numpy as np

from metrics.errors import UsageError
from metrics.measures.holes import Holes
from metrics.measures.model import MeasureAt
from metrics.support.arrays import FloatArray
from metrics.ties import Ranking, TieGroups, Treatment, refine, treatment

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
            UsageError: bounds over judgments, and nobody said what is open.
        """
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
