"""A report: sections of sentences, facts, tables and charts, and its output formats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

import pandas as pd
from markupsafe import Markup

from metrics.errors import UsageError
from metrics.report.evaluator import evaluator_reports, unusual_rules
from metrics.report.studies import ReportStudies
from metrics.report.tables import Table
from metrics.report.writing import render
from metrics.studies.prose import Prose
from metrics.studies.tradeoffs import LATENCY
from metrics.support.escaping import spreadsheet_csv


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


@dataclass(frozen=True)
class Figure:
    """A chart in an HTML report.

    Attributes:
        title: caption.
        alt: text for screen readers.
        light: plotly JSON for the light theme.
        dark: plotly JSON for the dark theme.
        height: height in pixels.
        min_width: minimum width in pixels, also on phones.
    """

    title: str
    alt: str
    light: str
    dark: str
    height: int
    min_width: int = 560


@dataclass(frozen=True)
class ReportCharts:
    """The charts of a report by name, and plotly.js to show them."""

    script: str
    figures: Mapping[str, Figure]


DrawCharts = Callable[["Report"], ReportCharts]
"""Function that draws the charts of a report."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report, which depends only on its files, options and date.

    Attributes:
        title: heading.
        extent: number of rerankers and queries.
        conclusion: the leader, and whether ties or chance decide that.
        recommendation: which number to report, and why.
        summary: sections of the first page, in order.
        appendix: further sections.
        studies: the studies behind the sections.
    """

    title: str
    extent: str
    conclusion: Prose
    recommendation: Prose
    summary: tuple[Section, ...]
    appendix: tuple[Section, ...]
    studies: ReportStudies

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections, in order."""
        return *self.summary, *self.appendix

    def markdown(self, day: date) -> str:
        """Return the report as Markdown."""
        return render("report.md", report=self, day=day)

    def html(self, day: date, charts: ReportCharts | None = None) -> str:
        """Return the report as one HTML file without external requests; without charts, it has only text."""
        charts = charts or ReportCharts("", {})
        script = Markup(charts.script)  # noqa: S704 plotly's own
        return render("report.html", report=self, day=day, script=script, figures=charts.figures)

    def latex(self, day: date) -> str:
        """Return the report as LaTeX, for copying or for LaTeX's `input`."""
        return render("report.tex", report=self, day=day)

    def text(self, day: date) -> str:
        """Return the text report of the G-RAG notebook's evaluator, reranker by reranker."""
        runs, rules = evaluator_reports(self.studies), unusual_rules(self.studies)
        traditional_only = self.studies.options.traditional_only
        return render(
            "report.txt", report=self, day=day, runs=runs, rules=rules, traditional_only=traditional_only
        )

    def file(self, ending: str, day: date, draw: DrawCharts | None = None) -> bytes:
        """Return the report as a file with this suffix; `draw` draws the charts of HTML."""
        if self.studies.options.traditional_only and ending.casefold() != ".txt":
            raise UsageError("Only a text report can leave tied values out: --format text, or -o FILE.txt.")
        texts = {".md": self.markdown, ".tex": self.latex, ".txt": self.text}
        match ending.casefold():
            case ".html":
                return self.html(day, draw and draw(self)).encode()
            case ".csv":
                return spreadsheet_csv(self.per_query())
            case ".parquet":
                written: bytes = self.per_query().to_parquet(index=False)
                return written
            case ending if ending in texts:
                return texts[ending](day).encode()
        raise UsageError(
            f"A report cannot be a {ending!r} file. Choose .html, .csv, .parquet, {', '.join(texts)}."
        )

    def per_query(self) -> pd.DataFrame:
        """Return the unrounded values of every list, one row per list.

        Returns:
            reranker, query_id, the columns of `Evaluation.lists`, a column such as `RR expected` for each
            measure and treatment (also those of a retrieval experiment and of preset targets), and `latency_s`
            if any list has a latency.
        """
        values, further = self.studies.evaluation.scores, self.studies.further_values
        values = values.join(
            further.drop(columns=[name for name in further if name in values or name[0] == LATENCY])
        )
        flat = values.set_axis([f"{measure} {ties}" for measure, ties in values.columns], axis=1)
        if LATENCY in further:
            flat[LATENCY] = further[LATENCY, "expected"]
        return self.studies.evaluation.lists.join(flat).reset_index()
