"""What a report is made of: sections of sentences, facts, tables and charts, and the forms it leaves in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from metrics.report import writing
from metrics.report.studies import ReportStudies
from metrics.studies.prose import Prose


class Cell(NamedTuple):
    """A cell as it is written; `tone` is how a verdict is coloured, where colours are."""

    text: str
    number: bool = False
    strong: bool = False
    tone: str = ""

    @property
    def kind(self) -> str:
        """How much room it takes: a figure, a few words that stay on one line, or a sentence."""
        return "number" if self.number else "short" if len(self.text) <= _SHORT else "long"


_SHORT = 32
"""Letters of a cell that stay on one line."""


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

    @property
    def headings(self) -> list[Cell]:
        """Names of the columns."""
        return [Cell(name.strip(), number=name in self.formats) for name in self.frame.columns]

    @property
    def kinds(self) -> list[str]:
        """How much room each column takes, as `Cell.kind` says of its longest cell."""
        columns = zip(*self.rows, strict=True)
        return [max(column, key=lambda cell: len(cell.text)).kind for column in columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """The cells, row by row."""
        columns = [
            [self._cell(name, at, value) for at, value in enumerate(column)]
            for name, column in self.frame.items()
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def _cell(self, name: str, at: int, value: object) -> Cell:
        strong = (at, name) in self.strong
        if name in self.formats:
            return Cell(format_figure(value, self.formats[name]), number=True, strong=strong)
        return Cell(str(value), strong=strong, tone=_tone(name, value))


@dataclass(frozen=True, eq=False)
class Section:
    """One question and its answer.

    Attributes:
        name: as it is asked for.
        title: its heading.
        explained: what it shows, in a sentence.
        says: sentences written from the data.
        facts: what is what, each in a few words.
        tables: as people read them.
        charts: names of the charts that belong here, for whoever draws them.
    """

    name: str
    title: str
    explained: str
    says: tuple[Prose, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A chart for the HTML file.

    Attributes:
        title: its caption.
        alt: what it shows, for those who do not see it.
        light: the chart as plotly's JSON, for light ground.
        dark: the same for dark ground.
        height: in pixels.
        wide: width in pixels it keeps on a phone.
    """

    title: str
    alt: str
    light: str
    dark: str
    height: int
    wide: int = 560


@dataclass(frozen=True)
class ReportCharts:
    """The charts of a report, and the script that shows them.

    Attributes:
        script: plotly.js, as it stands inside the file.
        figures: name → chart.
    """

    script: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True, eq=False)
class Report:
    """A report: the same from the same files and choices, but for its date.

    Attributes:
        title: its heading.
        extent: how much it is about, in a line.
        recommendation: which number to report, and why.
        sections: those asked for, in order.
        found: the studies behind them, for charts.
    """

    title: str
    extent: str
    recommendation: Prose
    sections: tuple[Section, ...]
    found: ReportStudies

    def markdown(self, made: date) -> str:
        """The report as Markdown: for a pull request or a README."""
        return writing.markdown(self, made)

    def html(self, made: date, drawn: ReportCharts | None = None) -> str:
        """The report as one HTML file that asks nothing of any host.

        Args:
            made: the day it was made.
            drawn: its charts; without them it holds sentences and tables.
        """
        return writing.html(self, made, drawn)

    def latex(self, made: date) -> str:
        """Its tables for LaTeX with booktabs, to be copied or taken in by `input`."""
        return writing.latex(self, made)

    def per_query(self) -> pd.DataFrame:
        """Everything there is of every list, unrounded: a row a list.

        Returns:
            reranker, query_id, what its ties look like (as `Evaluation.lists`), and for each measure and
            treatment a column such as `RR expected`.
        """
        values = self.found.evaluation.scores
        flat = values.set_axis([f"{measure} {ties}" for measure, ties in values.columns], axis=1)
        return self.found.evaluation.lists.join(flat).reset_index()


VERDICT = "Verdict"
SEVERITY = "Severity"
"""Headings of columns whose words have a tone."""
_SMALLEST = 0.00005
TONES = {
    "met": "blue",
    "met on average": "blue",
    "tie-deflated": "blue",
    "tie-inflated": "orange",
    "sort order only": "orange",
    "rests on sort order": "orange",
    "error": "orange",
}
"""Verdicts that are coloured: blue for what holds or reads too low, orange for what ties decide."""


def _tone(heading: str, value: object) -> str:
    return TONES.get(str(value), "") if heading in (VERDICT, SEVERITY) else ""


def format_figure(value: Any, how: str) -> str:  # noqa: ANN401 whatever a column of figures holds
    """A figure as it is printed: a true minus, none on zero, a dash where there is no value.

    Args:
        value: the figure.
        how: a format such as `.4f`; `p` for a p, of which four decimals say enough.
    """
    if pd.isna(value):
        return "–"
    if how == "p":
        return f"{value:.4f}" if value >= _SMALLEST else "<0.0001"
    text = format(value, how)
    if not any(digit in text for digit in "123456789") and "inf" not in text:
        text = format(abs(value), how.replace("+", ""))
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
