"""Every kind of finding there is: how grave it is, what it means, and what to do about it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
