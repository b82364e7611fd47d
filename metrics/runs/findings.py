"""What is worth knowing of runs before they are scored: its kinds, and groups of like findings."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

import pandas as pd

from metrics.runs.files import File
from metrics.support.wording import count_of

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        code: its name.
        severity: how grave it is, as a rule.
        title: what several of them have in common, as in "8 runs: scores in half precision".
        summary: what was found and why it matters, in one sentence.
        hint: what to do about it.
        subject: what each is about.
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
"""Every kind by its code, from reading a file to looking at its last digits; the words are in `kinds.json`."""
KINDS: tuple[Kind, ...] = tuple(BY_CODE.values())
ANSWER_CODES = frozenset(code for code in BY_CODE if code.startswith(("answers-", "preferences-")))
"""Findings that permutations and preferences are read with, whatever columns are chosen."""


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
    """Return a finding of one of `KINDS`, with the severity and hint of its kind unless they are given."""
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


@dataclass(frozen=True)
class FindingLine:
    """One message, and all that it is true of.

    Attributes:
        names: rerankers where the message names them, else files.
        file: the file of the first.
        line: the first line it is about, where it is about one file and a line can be named.
        message: what was found, without the name of the reranker.
        count: how many rows, lists, queries or documents it concerns, at most.
    """

    names: tuple[str, ...]
    file: str
    line: int | None
    message: str
    count: int

    @property
    def place(self) -> str:
        """Where it is, beyond the names: the file where it is not one of them, and the line."""
        file = self.file if len(self.names) == 1 and self.file not in self.names else ""
        line = "" if self.line is None else f"line {self.line}"
        return ", ".join(filter(None, [file, line]))


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one kind and severity.

    Attributes:
        severity: how grave they are.
        code: their kind.
        hint: what to do about them.
        lines: their messages, the one that concerns most first.
    """

    severity: Severity
    code: str
    hint: str
    lines: tuple[FindingLine, ...]

    @property
    def kind(self) -> Kind:
        """What kind they are of."""
        return BY_CODE[self.code]

    @property
    def subject(self) -> str:
        """Whom it is about: a name, or how many, as in 8 runs."""
        names = {name for line in self.lines for name in line.names}
        return names.pop() if len(names) == 1 else count_of(len(names), self.kind.subject)

    @property
    def title(self) -> str:
        """What they say: the one message there is, or what is common to all."""
        return self.lines[0].message if len(self.lines) == 1 else f"{self.kind.title}."


def group_findings(findings: pd.DataFrame, rerankers: Sequence[str]) -> list[FindingGroup]:
    """Return findings by severity, kind and hint, in the order given; equal messages become one line."""
    names = frozenset(rerankers)
    groups: dict[tuple[Severity, str, str], list[FindingLine]] = {}
    for row in findings.itertuples(index=False):
        reranker = _subject(row.message, names)
        message = row.message if reranker is None else row.message[len(reranker) + 2 :]
        line = None if pd.isna(row.line) else int(row.line)
        finding = FindingLine((reranker or row.file,), row.file, line, message, int(row.count))
        groups.setdefault((row.severity, row.code, row.hint), []).append(finding)
    return [FindingGroup(*key, _merged(_by_reranker(lines, names))) for key, lines in groups.items()]


def _subject(message: str, rerankers: Collection[str]) -> str | None:
    """Return the longest name of a reranker that a message begins with, before a colon."""
    ends = [colon.start() for colon in re.finditer(": ", message)]
    return next((message[:end] for end in reversed(ends) if message[:end] in rerankers), None)


def _by_reranker(lines: Sequence[FindingLine], rerankers: Collection[str]) -> list[FindingLine]:
    """Return lines of one kind, those that name their file under its rerankers where others name these."""
    named: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.names != (line.file,):
            named.setdefault(line.file, {}).update(dict.fromkeys(line.names))

    def names(line: FindingLine) -> tuple[str, ...]:
        if line.names != (line.file,) or line.file not in named:
            return line.names
        stem = File(line.file, b"").stem
        return (stem,) if stem in rerankers else tuple(named[line.file])

    return [replace(line, names=names(line)) for line in lines]


def _merged(lines: Sequence[FindingLine]) -> tuple[FindingLine, ...]:
    by_message: dict[str, list[FindingLine]] = {}
    for line in lines:
        by_message.setdefault(line.message, []).append(line)
    merged = [
        FindingLine(
            tuple(dict.fromkeys(name for line in same for name in line.names)),
            same[0].file,
            same[0].line if len(same) == 1 else None,
            message,
            max(line.count for line in same),
        )
        for message, same in by_message.items()
    ]
    return tuple(sorted(merged, key=lambda line: -line.count))
