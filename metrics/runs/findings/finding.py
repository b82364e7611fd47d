"""A finding: how grave, which kind, where, what, what to do about it, and how much it concerns."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

import pandas as pd

from metrics.runs.findings.kinds import BY_CODE, Severity
from metrics.runs.reading.files import File


@dataclass(frozen=True)
class Finding:
    """Something worth knowing about a file.

    Attributes:
        severity: how grave it is.
        code: which of `KINDS` it is.
        file: the file it is about.
        line: the first line it is about, where one can be named.
        message: what was found, with its numbers.
        hint: what to do about it.
        count: how many rows, lists, queries or documents it concerns.
    """

    severity: Severity
    code: str
    file: str
    line: int | None
    message: str
    hint: str
    count: int = 1


def make_finding(
    code: str,
    file: str,
    message: str,
    *,
    line: int | None = None,
    count: int = 1,
    hint: str | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding of one of `KINDS`, with the severity and hint of its kind unless they are given.

    Args:
        code: which kind.
        file: the file it is about.
        message: what was found, with its numbers.
        line: the first line it is about.
        count: how many rows, lists, queries or documents it concerns.
        hint: what to do about it.
        severity: how grave it is.
    """
    kind = BY_CODE[code]
    return Finding(severity or kind.severity, code, file, line, message, hint or kind.hint, count)


def reranker_prefix(name: str, file: str) -> str:
    """Return what begins a message about a reranker where the name of the file does not say which it is."""
    return "" if File(file, b"").stem == name else f"{name}: "


def as_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return findings as a table with a column for each attribute; the gravest first, else as given."""
    columns = [column.name for column in fields(Finding)]
    frame = pd.DataFrame([asdict(finding) for finding in findings], columns=columns)
    frame = frame.astype({"line": "Int64", "count": "int64"})
    order = frame["severity"].map({"error": 0, "warning": 1, "info": 2})
    return frame.iloc[order.argsort(kind="stable")].reset_index(drop=True)
