"""Floor 7: one file to send: what was scored, by which rule for ties, and what holds in every order."""

from metrics.errors import needs

with needs("report"):
    import jinja2  # noqa: F401 every report is a template

from metrics.report.building import SECTIONS, report, write_report
from metrics.report.model import DrawCharts, Figure, Report, ReportCharts, Section
from metrics.report.studies import MEASURES, PRESETS, ReportOptions, ReportStudies
from metrics.report.tables import Table

__all__ = [
    "MEASURES",
    "PRESETS",
    "SECTIONS",
    "DrawCharts",
    "Figure",
    "Report",
    "ReportCharts",
    "ReportOptions",
    "ReportStudies",
    "Section",
    "Table",
    "report",
    "write_report",
]
