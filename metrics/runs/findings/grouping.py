"""Findings of one kind together: what is true of eight runs is said once."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from metrics.runs.findings.kinds import BY_CODE, Kind, Severity
from metrics.runs.reading.files import File
from metrics.support.wording import count_of


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
    """Return findings by severity, kind and hint, in the order given; equal messages become one line.

    Args:
        findings: as `Runs.findings`; a message begins with its reranker where its file does not say which.
        rerankers: names of all.
    """
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
