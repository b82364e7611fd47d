"""The tie groups that each measure sees under each treatment, refined once for all that see the same."""

from metrics.measures.model import MeasureAt
from metrics.ties import Ranking, TieGroups, Treatment, refine, treatment

_EXPECTED = treatment("expected")


class RefinedGroups:
    """The tie groups of one ranking as measures and treatments need them; each kept for the next that does."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._groups: dict[tuple[str, str, bool], TieGroups] = {}

    def of(self, measure: MeasureAt, ties: Treatment = _EXPECTED) -> TieGroups:
        """Return the tie groups a measure sees: whole for its standard deviation or a tie rule of its own."""
        family = measure.measure.family
        used = _EXPECTED if family.own_rule or ties.spread else ties
        key = family.counts, used.name, family.targets and used.target_key is not None
        if key not in self._groups:
            self._groups[key] = refine(
                self._ranking, used, all_judged=family.counts == "judged", targets=family.targets
            )
        return self._groups[key]
