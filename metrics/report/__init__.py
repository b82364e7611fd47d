"""One file to send: what was scored, by which rule for ties, and what holds in every order."""

from metrics.report.asked import MEASURES, Asked
from metrics.report.building import SECTIONS, report
from metrics.report.found import Found
from metrics.report.model import Drawn, Figure, Report, Section, Table

__all__ = ["MEASURES", "SECTIONS", "Asked", "Drawn", "Figure", "Found", "Report", "Section", "Table", "report"]
