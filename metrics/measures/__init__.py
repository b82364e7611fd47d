"""Floor 3: measures, from tie groups to one number per list."""

from metrics.measures.catalogue import MEASURES, parse, question, side_by_side, with_gains
from metrics.measures.model import Measure, MeasureAt, RefinedGroups

__all__ = [
    "MEASURES",
    "Measure",
    "MeasureAt",
    "RefinedGroups",
    "parse",
    "question",
    "side_by_side",
    "with_gains",
]
