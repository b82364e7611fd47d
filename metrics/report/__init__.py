"""Floor 7: reports in one file, with scores, tie orders and conclusions."""

from metrics.errors import needs

with needs("report"):
    import jinja2  # noqa: F401 reports are templates

from metrics.report.building import DrawCharts, Figure, Report, ReportCharts, report, write_report
from metrics.report.sections import SECTIONS
from metrics.report.studies import MEASURES, PRESETS, ReportOptions, ReportStudies
from metrics.report.tables import Section, Table

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
