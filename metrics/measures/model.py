"""What a measure is: a record of its names, its source and its one formula."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from metrics.ties.ranking import FloatArray
from metrics.ties.treatments import TieGroups

Family = Callable[[TieGroups, int | None], FloatArray]
"""(tie groups, cut-off) → (n_lists,) expectation of the measure over what is still tied."""


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes:
        name: as in `RR@10`, without the cut-off.
        family: its exact expectation over tie groups; on groups of one, its plain value.
        cutoff: whether a cut-off may or must follow the name.
        traditional: name of its mean under a strict order.
        tied: name of its mean expectation.
        aliases: other names that are understood.
        summary: one line for people.
        source: where the formula comes from.
    """

    name: str
    family: Family
    cutoff: Literal["optional", "required"]
    traditional: str
    tied: str
    aliases: tuple[str, ...]
    summary: str
    source: str


@dataclass(frozen=True)
class MeasureAt:
    """A measure with its cut-off, `k` documents from the top, or None for the whole list."""

    measure: Measure
    k: int | None = None

    def __str__(self) -> str:
        return self.measure.name + self._suffix

    @property
    def traditional(self) -> str:
        """Name of the traditional mean, such as `MRR@10`."""
        return self.measure.traditional + self._suffix

    @property
    def tied(self) -> str:
        """Name of the tied mean, such as `MTRR@10`."""
        return self.measure.tied + self._suffix

    @property
    def _suffix(self) -> str:
        return "" if self.k is None else f"@{self.k}"

    def values(self, groups: TieGroups) -> FloatArray:
        """(n_lists,) expectation over what is tied; 0 where nothing relevant was listed."""
        return self.measure.family(groups, self.k)
