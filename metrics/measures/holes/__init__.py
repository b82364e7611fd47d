"""What lists may score whatever the order of their ties and whatever the grades of documents nobody judged."""

from metrics.measures.holes.model import Holes

__all__ = ["Holes"]
