"""What is worth knowing of runs before they are scored. Nothing is left out without a line here."""

from metrics.runs.findings.finding import Finding, as_frame, make_finding
from metrics.runs.findings.grouping import FindingGroup, FindingLine, group_findings
from metrics.runs.findings.inspection import inspect, inspect_coverage
from metrics.runs.findings.kinds import KINDS, Kind
from metrics.runs.findings.listing import JudgmentTable, Listing

__all__ = [
    "KINDS",
    "Finding",
    "FindingGroup",
    "FindingLine",
    "JudgmentTable",
    "Kind",
    "Listing",
    "as_frame",
    "group_findings",
    "inspect",
    "inspect_coverage",
    "make_finding",
]
