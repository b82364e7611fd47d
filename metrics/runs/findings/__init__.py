"""What is worth knowing of runs before they are scored. Nothing is left out without a line here."""

from metrics.runs.findings.inspection import inspect, left_out
from metrics.runs.findings.model import KINDS, Finding, Judged, Kind, Listing, as_frame, found

__all__ = ["KINDS", "Finding", "Judged", "Kind", "Listing", "as_frame", "found", "inspect", "left_out"]
