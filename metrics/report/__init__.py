"""One file to send: what was scored, by which rule for ties, and what holds in every order."""

from metrics.report.building import SECTIONS, report
from metrics.report.model import Drawn, Figure, Report, Section, Table
from metrics.report.options import MEASURES, Asked
from metrics.report.studies import Found

__all__ = ["MEASURES", "SECTIONS", "Asked", "Drawn", "Figure", "Found", "Report", "Section", "Table", "report"]
