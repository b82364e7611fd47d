"""A kind of finding."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        code: its name.
        severity: how grave it is, as a rule.
        summary: what was found and why it matters, in one sentence.
        hint: what to do about it.
        title: what several of them have in common, as in "8 runs: scores in half precision".
        subject: what each is about.
    """

    code: str
    severity: Severity
    summary: str
    hint: str
    title: str
    subject: Literal["run", "file"] = "run"
