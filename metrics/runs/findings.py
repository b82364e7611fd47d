"""Findings on runs before scoring: their kinds, and groups of similar findings."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from metrics.runs.files import File
from metrics.support.wording import count_of

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        code: its name.
        severity: its default severity.
        title: title of a group, as in "8 runs: scores in half precision".
        summary: the finding and its consequence, for the guide.
        hint: the default advice.
        subject: runs or files.
    """

    code: str
    severity: Severity
    title: str
    summary: str
    hint: str
    subject: Literal["run", "file"] = "run"


BY_CODE: Mapping[str, Kind] = {
    code: Kind(code, **fields)
    for code, fields in json.loads(Path(__file__).with_name("kinds.json").read_text(encoding="utf-8")).items()
}
"""Kinds by code; the texts are in `kinds.json`."""
KINDS: tuple[Kind, ...] = tuple(BY_CODE.values())


@dataclass(frozen=True)
class Finding:
    """A finding on a file.

    Attributes:
        severity: its severity.
        code: code of its `Kind`.
        file: name of the file.
        line: the first affected line, if known.
        message: the finding, with numbers.
        hint: advice.
        count: number of affected rows, lists, queries or documents.
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
    """Return a finding, by default with the severity and hint of its kind."""
    kind = BY_CODE[code]
    return Finding(severity or kind.severity, code, file, line, message, hint or kind.hint, count)


def reranker_prefix(name: str, file: str) -> str:
    """Return the reranker's name for the start of a message, unless the file has the same name."""
    return "" if File(file, b"").stem == name else f"{name}: "


def as_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return findings as a table, sorted by severity."""
    columns = [column.name for column in fields(Finding)]
    frame = pd.DataFrame([asdict(finding) for finding in findings], columns=columns)
    frame = frame.astype({"line": "Int64", "count": "int64"})
    order = frame["severity"].map({"error": 0, "warning": 1, "info": 2})
    return frame.iloc[order.argsort(kind="stable")].reset_index(drop=True)


@dataclass(frozen=True)
class FindingLine:
    """One message, and the rerankers or files with it.

    Attributes:
        names: rerankers if the message names them, else files.
        file: the first file.
        line: the first affected line, if the message has a single file.
        message: the finding, without the name of the reranker.
        count: largest number of affected rows, lists, queries or documents.
    """

    names: tuple[str, ...]
    file: str
    line: int | None
    message: str
    count: int

    @property
    def place(self) -> str:
        """File, unless it is among the names, and line; Parquet has rows instead."""
        file = self.file if len(self.names) == 1 and self.file not in self.names else ""
        unit = "row" if self.file.lower().endswith(".parquet") else "line"
        line = "" if self.line is None else f"{unit} {self.line}"
        return ", ".join(filter(None, [file, line]))


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one kind, severity and hint; `lines` have the largest counts first."""

    severity: Severity
    code: str
    hint: str
    lines: tuple[FindingLine, ...]

    @property
    def kind(self) -> Kind:
        """Kind of the findings."""
        return BY_CODE[self.code]

    @property
    def subject(self) -> str:
        """The affected name, or a number, as in 8 runs."""
        names = {name for line in self.lines for name in line.names}
        return names.pop() if len(names) == 1 else count_of(len(names), self.kind.subject)

    @property
    def title(self) -> str:
        """The only message, or the title of the kind."""
        return self.lines[0].message if len(self.lines) == 1 else f"{self.kind.title}."


def group_findings(findings: pd.DataFrame, rerankers: Sequence[str]) -> list[FindingGroup]:
    """Group findings by severity, kind and hint; equal messages become one line."""
    names = frozenset(rerankers)
    groups: dict[tuple[Severity, str, str], dict[str, list[tuple[str, Any]]]] = {}
    for row in findings.itertuples(index=False):
        parts = row.message.split(": ")
        starts = (": ".join(parts[:n_parts]) for n_parts in range(len(parts) - 1, 0, -1))
        reranker = next((start for start in starts if start in names), None)
        message = row.message if reranker is None else row.message.removeprefix(f"{reranker}: ")
        lines = groups.setdefault((row.severity, row.code, row.hint), {})
        lines.setdefault(message, []).append((reranker or row.file, row))
    return [FindingGroup(*key, _sorted_lines(lines)) for key, lines in groups.items()]


def _sorted_lines(lines: Mapping[str, Sequence[tuple[str, Any]]]) -> tuple[FindingLine, ...]:
    """Return the lines of a group from message → (reranker or file, finding) of each finding."""
    merged = []
    for message, named_rows in lines.items():
        first = named_rows[0][1]
        line = None if len(named_rows) > 1 or pd.isna(first.line) else int(first.line)
        names = tuple(dict.fromkeys(name for name, _ in named_rows))
        merged.append(
            FindingLine(names, first.file, line, message, max(int(row.count) for _, row in named_rows))
        )
    return tuple(sorted(merged, key=lambda line: -line.count))
