"""Tables of a report, as people read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from metrics.support.wording import LONG, written_p

_SHORT = 32
"""Letters of a cell that stay on one line."""
VERDICT = "Verdict"
SEVERITY = "Severity"
"""Headings of columns whose words have a tone."""
FOUR_DECIMALS = ".4f"
"""How values are written."""
P_DIGITS = 4
"""Decimals of a p."""
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
"""Verdicts that are coloured: blue for what holds or reads too low, orange for what ties decide."""


class Cell(NamedTuple):
    """A cell as it is written; `tone` is how a verdict is coloured, where colours are."""

    text: str
    number: bool = False
    strong: bool = False
    tone: str = ""

    @property
    def kind(self) -> str:
        """Return how much room the cell takes: a figure, a few words that stay on one line, or a sentence."""
        return "number" if self.number else "short" if len(self.text) <= _SHORT else "long"


@dataclass(frozen=True, eq=False)
class Table:
    """A table as people read it.

    Attributes:
        title: what it shows.
        frame: a column for each heading.
        formats: column → how its figures are written, such as `.4f`; others are text.
        strong: rows and columns of the figures that stand out.
        note: what has to be known to read it.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    strong: frozenset[tuple[int, str]] = frozenset()
    note: str = ""

    @classmethod
    def of(cls, title: str, columns: Mapping[str, "Column"], note: str = "") -> "Table":
        """Return a table of columns."""
        pairs = {
            name: column if isinstance(column, tuple) else (column, "") for name, column in columns.items()
        }
        frame = pd.DataFrame({name: list(values) for name, (values, _) in pairs.items()})
        return cls(title, frame, {name: spec for name, (_, spec) in pairs.items() if spec}, note=note)

    @property
    def headings(self) -> list[Cell]:
        """Return the names of the columns."""
        return [Cell(name.strip(), number=name in self.formats) for name in self.frame.columns]

    @property
    def kinds(self) -> list[str]:
        """Return how much room each column takes, as `Cell.kind` says of its longest cell."""
        columns = zip(*self.rows, strict=True)
        return [max(column, key=lambda cell: len(cell.text)).kind for column in columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """Return the cells, row by row."""
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
"""Values of a column of a table, as text or with a format of their figures."""


def legend(meanings: Mapping[Any, str], words: Iterable[str]) -> str:
    """Return what those words of a column mean that stand in it, in the order of `meanings`."""
    used = set(words)
    return " ".join(f"{word}: {meaning}" for word, meaning in meanings.items() if word in used)


def format_figure(value: Any, spec: str) -> str:  # noqa: ANN401 whatever a column of figures holds
    """Return a figure as printed: a true minus, none on zero, a dash for none; `p` is the format of a p."""
    if pd.isna(value):
        return "–"
    if spec == "p":
        return written_p(float(value), P_DIGITS)
    text = format(value, spec if abs(value) < LONG else spec.replace("f", "e"))
    if not any(digit in text for digit in "123456789") and "inf" not in text:
        text = format(abs(value), spec.replace("+", ""))
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
