"""Sections of a report, and their tables with formatted cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metrics.studies.prose import Prose, signed_decimals
from metrics.support.wording import LONG, written_p

_SHORT = 32
"""Most letters of a cell on one line."""
VERDICT = "Verdict"
SEVERITY = "Severity"
"""Headings of columns whose words are coloured."""
P_DIGITS = 4
TONES = {
    **dict.fromkeys(("met", "met on average", "tie-deflated", "stands"), "blue"),
    **dict.fromkeys(("tie-inflated", "sort order only", "depends on tie order", "swaps", "error"), "orange"),
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
    def of(cls, title: str, rows: pd.DataFrame, columns: Mapping[str, str], note: str = "") -> "Table":
        """Return a table of heading → column of `rows`: `verdict` is text, `tied:.4f` numbers in a format.

        An index becomes the column `reranker` if there is no such column.
        """
        rows = rows if "reranker" in rows else rows.rename_axis("reranker").reset_index()
        parts = {heading: column.partition(":")[::2] for heading, column in columns.items()}
        frame = rows[[name for name, _ in parts.values()]].set_axis([*parts], axis=1).reset_index(drop=True)
        return cls(title, frame, {heading: spec for heading, (_, spec) in parts.items() if spec}, note=note)

    def with_best(self, column: str, within: str | None = None) -> "Table":
        """Embolden the largest figures of each group, to four decimals, unless all figures are equal."""
        rounded = self.frame[column].round(4)
        groups = rounded.groupby(self.frame[within] if within else np.zeros(len(rounded)))
        largest = groups.transform("max")
        is_best = (rounded == largest) & (largest > groups.transform("min"))
        return replace(self, strong=frozenset((int(row), column) for row in np.flatnonzero(is_best)))

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


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Attributes:
        summary: one sentence about the contents.
        sentences: sentences written from the data.
        facts: (label, text) pairs; those without a text are not shown.
        tables: tables.
        charts: names of charts, for the function that draws them.
        name: key in `SECTIONS`.
        title: heading.
    """

    summary: str
    sentences: tuple[Prose, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()
    name: str = ""
    title: str = ""


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
    if spec.startswith("+"):
        return signed_decimals(float(value), int(spec[2]))
    text = format(value, spec if abs(value) < LONG else spec.replace("f", "e"))
    if not any(digit in text for digit in "123456789") and "inf" not in text:
        text = format(abs(value), spec)
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
