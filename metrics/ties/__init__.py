"""Floor 2: what equal scores mean."""

from metrics.ties.permutations import Orderings, first_relevant_rank, log10_factorials
from metrics.ties.ranking import Ranking
from metrics.ties.treatments import TREATMENTS, TieGroups, Treatment, refine, treatment

__all__ = [
    "TREATMENTS",
    "Orderings",
    "Ranking",
    "TieGroups",
    "Treatment",
    "first_relevant_rank",
    "log10_factorials",
    "refine",
    "treatment",
]
