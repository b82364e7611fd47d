"""Floor 3: one list, one number."""

from metrics.measures.catalogue import MEASURES, parse
from metrics.measures.model import Measure, MeasureAt

__all__ = ["MEASURES", "Measure", "MeasureAt", "parse"]
