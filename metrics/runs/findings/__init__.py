"""What is worth knowing of runs before they are scored. Nothing is left out without a line here."""

from metrics.runs.findings.finding import KINDS, Finding, Kind, as_frame, make_finding

__all__ = ["KINDS", "Finding", "Kind", "as_frame", "make_finding"]
