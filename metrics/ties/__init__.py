"""Floor 2: tie groups and their treatment."""

from metrics.ties.groups import Judgments, TieGroups
from metrics.ties.options import PRECISIONS
from metrics.ties.ranking import Ranking, log10_factorials
from metrics.ties.treatments import TREATMENTS, Treatment, order_of_ties, ordered_documents, refine, treatment

__all__ = [
    "PRECISIONS",
    "TREATMENTS",
    "Judgments",
    "Ranking",
    "TieGroups",
    "Treatment",
    "log10_factorials",
    "order_of_ties",
    "ordered_documents",
    "refine",
    "treatment",
]
