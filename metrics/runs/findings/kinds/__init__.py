"""Every kind of finding there is."""

from metrics.runs.findings.kinds.answers import ANSWER_CODES, ANSWER_KINDS, GRADE_KINDS
from metrics.runs.findings.kinds.catalogue import BY_CODE, KINDS
from metrics.runs.findings.kinds.judgments import JUDGMENT_KINDS
from metrics.runs.findings.kinds.kind import Kind, Severity
from metrics.runs.findings.kinds.repeats import REPEAT_KINDS

__all__ = [
    "ANSWER_CODES",
    "ANSWER_KINDS",
    "BY_CODE",
    "GRADE_KINDS",
    "JUDGMENT_KINDS",
    "KINDS",
    "REPEAT_KINDS",
    "Kind",
    "Severity",
]
