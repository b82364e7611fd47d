"""Floor 3: one list, one number."""

from metrics.measures.catalogue import MEASURES, parse, question, side_by_side
from metrics.measures.model import Measure, MeasureAt, RefinedGroups

__all__ = ["MEASURES", "Measure", "MeasureAt", "RefinedGroups", "parse", "question", "side_by_side"]
