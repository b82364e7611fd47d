"""What a report is made of: sections of sentences, facts, tables and charts, and the forms it leaves in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from metrics.report import writing
from metrics.report.evaluator import evaluator_reports, unusual_rules
from metrics.report.studies import ReportStudies
from metrics.studies.prose import Prose
from metrics.studies.tradeoffs.latency import LATENCY

_SHORT = 32
"""Letters of a cell that stay on one line."""


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
        """Return a table of columns.

        Args:
            title: what it shows.
            columns: heading → its values, and how its figures are written; text where nothing is said.
            note: what has to be known to read it.
        """
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


@dataclass(frozen=True, eq=False)
class Section:
    """One question and its answer.

    Attributes:
        name: as it is asked for.
        title: its heading.
        summary: what it shows, in a sentence.
        sentences: written from the data.
        facts: what is what, each in a few words.
        tables: as people read them.
        charts: names of the charts that belong here, for whoever draws them.
    """

    name: str
    title: str
    summary: str
    sentences: tuple[Prose, ...] = ()
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
        min_width: in pixels, kept on a phone.
    """

    title: str
    alt: str
    light: str
    dark: str
    height: int
    min_width: int = 560


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
        studies: the studies behind them, for charts.
    """

    title: str
    extent: str
    recommendation: Prose
    sections: tuple[Section, ...]
    studies: ReportStudies

    def markdown(self, day: date) -> str:
        """Return the report as Markdown: for a pull request or a README."""
        return writing.markdown(report=self, day=day)

    def html(self, day: date, charts: ReportCharts | None = None) -> str:
        """Return the report as one HTML file that asks nothing of any host.

        Args:
            day: the day it bears.
            charts: its charts; without them it holds sentences and tables.
        """
        charts = charts or ReportCharts("", {})
        return writing.html(charts.script, report=self, day=day, figures=charts.figures)

    def latex(self, day: date) -> str:
        """Return its tables for LaTeX with booktabs, to be copied or taken in by `input`."""
        return writing.latex(report=self, day=day)

    def text(self, day: date) -> str:
        """Return the compact text that the G-RAG notebook's evaluator prints, reranker by reranker."""
        runs, rules = evaluator_reports(self.studies), unusual_rules(self.studies)
        return writing.text(report=self, day=day, runs=runs, rules=rules)

    def per_query(self) -> pd.DataFrame:
        """Return all values of every list, unrounded: a row a list.

        Returns:
            reranker, query_id, what its ties look like (as `Evaluation.lists`), for each measure and
            treatment a column such as `RR expected`, those of a retrieval experiment among them, and where
            any list gives a latency its seconds, `latency_s`.
        """
        values, further = self.studies.evaluation.scores, self.studies.experiment_evaluation.scores
        values = values.join(
            further.drop(columns=[name for name in further if name in values or name[0] == LATENCY])
        )
        flat = values.set_axis([f"{measure} {ties}" for measure, ties in values.columns], axis=1)
        if LATENCY in further:
            flat[LATENCY] = further[LATENCY, "expected"]
        return self.studies.evaluation.lists.join(flat).reset_index()


VERDICT = "Verdict"
SEVERITY = "Severity"
"""Headings of columns whose words have a tone."""
SMALLEST_P = 0.00005
"""Smallest p that four decimals show."""
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


def format_figure(value: Any, spec: str) -> str:  # noqa: ANN401 whatever a column of figures holds
    """Return a figure as it is printed: a true minus, none on zero, a dash where there is no value.

    Args:
        value: the figure.
        spec: a format such as `.4f`; `p` for a p, of which four decimals say enough.
    """
    if pd.isna(value):
        return "–"
    if spec == "p":
        return f"{value:.4f}" if value >= SMALLEST_P else "<0.0001"
    text = format(value, spec)
    if not any(digit in text for digit in "123456789") and "inf" not in text:
        text = format(abs(value), spec.replace("+", ""))
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
