"""Floor 7: one file to send: what was scored, by which rule for ties, and what holds in every order."""

from metrics.report.building import SECTIONS, report
from metrics.report.model import Figure, Report, ReportCharts, Section
from metrics.report.studies import MEASURES, PRESETS, ReportOptions, ReportStudies
from metrics.report.tables import Table

__all__ = [
    "MEASURES",
    "PRESETS",
    "SECTIONS",
    "Figure",
    "Report",
    "ReportCharts",
    "ReportOptions",
    "ReportStudies",
    "Section",
    "Table",
    "report",
]
