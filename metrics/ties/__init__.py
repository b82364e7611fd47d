"""Floor 2: tie groups and their treatment."""

from metrics.ties.groups import TieGroups
from metrics.ties.judgments import Judgments
from metrics.ties.permutations import (
    OrderingCounts,
    Orderings,
    count_orderings,
    first_relevant_rank,
    log10_factorials,
    place_chances,
)
from metrics.ties.precision import PRECISIONS
from metrics.ties.ranking import Ranking
from metrics.ties.treatments import (
    TREATMENTS,
    Treatment,
    order_of_ties,
    ordered_documents,
    refine,
    treatment,
)

__all__ = [
    "PRECISIONS",
    "TREATMENTS",
    "Judgments",
    "OrderingCounts",
    "Orderings",
    "Ranking",
    "TieGroups",
    "Treatment",
    "count_orderings",
    "first_relevant_rank",
    "log10_factorials",
    "order_of_ties",
    "ordered_documents",
    "place_chances",
    "refine",
    "treatment",
]
