"""What checks are made of: findings and their kinds, listings and judgments."""

from metrics.runs.findings.finding import Finding, as_frame, found
from metrics.runs.findings.kinds import KINDS, Kind
from metrics.runs.findings.listing import Listing
from metrics.runs.findings.rows import Judged

__all__ = ["KINDS", "Finding", "Judged", "Kind", "Listing", "as_frame", "found"]
