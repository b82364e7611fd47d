"""Sections of a report, and their tables with formatted cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from metrics.studies.prose import Prose
from metrics.support.wording import LONG, written_p

_SHORT = 32
"""Most letters of a cell on one line."""
VERDICT = "Verdict"
SEVERITY = "Severity"
"""Headings of columns whose words are coloured."""
FOUR_DECIMALS = ".4f"
P_DIGITS = 4
TONES = {
    "met": "blue",
    "met on average": "blue",
    "tie-deflated": "blue",
    "tie-inflated": "orange",
    "sort order only": "orange",
    "depends on tie order": "orange",
    "swaps": "orange",
    "stands": "blue",
    "error": "orange",
}
"""Verdict → colour: blue for robust verdicts and values too low, orange for those that ties decide."""


class Cell(NamedTuple):
    """A formatted cell; `tone` is the colour of a verdict."""

    text: str
    number: bool = False
    strong: bool = False
    tone: str = ""

    @property
    def kind(self) -> str:
        """Width class: a number, a short text on one line, or a long one."""
        return "number" if self.number else "short" if len(self.text) <= _SHORT else "long"


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a report.

    Attributes:
        title: heading.
        frame: values, one column per heading.
        formats: column → format of its numbers, such as `.4f`; other columns are text.
        strong: (row, column) of bold cells.
        note: explanation below the table.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    strong: frozenset[tuple[int, str]] = frozenset()
    note: str = ""

    @classmethod
    def of(cls, title: str, columns: Mapping[str, "Column"], note: str = "") -> "Table":
        """Return a table of heading → values, or (values, format of numbers)."""
        pairs = {
            name: column if isinstance(column, tuple) else (column, "") for name, column in columns.items()
        }
        frame = pd.DataFrame({name: list(values) for name, (values, _) in pairs.items()})
        return cls(title, frame, {name: spec for name, (_, spec) in pairs.items() if spec}, note=note)

    @property
    def headings(self) -> list[Cell]:
        """Headings as cells."""
        return [Cell(name.strip(), number=name in self.formats) for name in self.frame.columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """Cells, row by row."""
        columns = [
            [self._cell(name, row, value) for row, value in enumerate(column)]
            for name, column in self.frame.items()
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def _cell(self, name: str, row: int, value: object) -> Cell:
        strong = (row, name) in self.strong
        if name in self.formats:
            return Cell(format_figure(value, self.formats[name]), number=True, strong=strong)
        tone = TONES.get(str(value), "") if name in (VERDICT, SEVERITY) else ""
        return Cell(str(value), strong=strong, tone=tone)


Column = Iterable[object] | tuple[Iterable[object], str]
"""Values of a column as text, or with a number format."""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Attributes:
        name: key in `SECTIONS`.
        title: heading.
        summary: one sentence about the contents.
        sentences: sentences written from the data.
        facts: (label, text) pairs.
        tables: tables.
        charts: names of charts, for the function that draws them.
    """

    name: str
    title: str
    summary: str
    sentences: tuple[Prose, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()


def legend(meanings: Mapping[Any, str], words: Iterable[str]) -> str:
    """Explain the words that occur in a column, in the order of `meanings`."""
    used = set(words)
    return " ".join(f"{word}: {meaning}" for word, meaning in meanings.items() if word in used)


def format_figure(value: Any, spec: str) -> str:  # noqa: ANN401 whatever a column of figures holds
    """Format a number with a true minus, no sign on zero and a dash for NaN; `p` is the format of p values."""
    if pd.isna(value):
        return "–"
    if spec == "p":
        return written_p(float(value), P_DIGITS)
    text = format(value, spec if abs(value) < LONG else spec.replace("f", "e"))
    if not any(digit in text for digit in "123456789") and "inf" not in text:
        text = format(abs(value), spec.replace("+", ""))
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
