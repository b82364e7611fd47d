"""What a report is made of: sections of sentences, facts, tables and charts, and the forms it leaves in."""

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


DrawCharts = Callable[["Report"], ReportCharts]
"""Draws the charts of a report."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report: the same from the same files and choices, but for its date.

    Attributes:
        title: its heading.
        extent: how much it is about, in a line.
        conclusion: who leads, and whether ties or chance decide that.
        recommendation: which number to report, and why.
        summary: sections that everybody reads, in order.
        appendix: sections behind it.
        studies: the studies behind them, for charts.
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
        """Return all sections, in order."""
        return *self.summary, *self.appendix

    def markdown(self, day: date) -> str:
        """Return the report as Markdown: for a pull request or a README."""
        return render("report.md", report=self, day=day)

    def html(self, day: date, charts: ReportCharts | None = None) -> str:
        """Return the report as one HTML file that asks nothing of any host."""
        charts = charts or ReportCharts("", {})
        script = Markup(charts.script)  # noqa: S704 plotly's own
        return render("report.html", report=self, day=day, script=script, figures=charts.figures)

    def latex(self, day: date) -> str:
        """Return its tables for LaTeX with booktabs, to be copied or taken in by `input`."""
        return render("report.tex", report=self, day=day)

    def text(self, day: date) -> str:
        """Return the compact text that the G-RAG notebook's evaluator prints, reranker by reranker."""
        runs, rules = evaluator_reports(self.studies), unusual_rules(self.studies)
        traditional_only = self.studies.options.traditional_only
        return render(
            "report.txt", report=self, day=day, runs=runs, rules=rules, traditional_only=traditional_only
        )

    def file(self, ending: str, day: date, draw: DrawCharts | None = None) -> bytes:
        """Return the report as a file with this ending; `draw` makes the charts of HTML."""
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
        raise UsageError(f"A report ends in .html, .csv, .parquet, {', '.join(texts)}; not in {ending!r}.")

    def per_query(self) -> pd.DataFrame:
        """Return all values of every list, unrounded: a row a list.

        Returns:
            reranker, query_id, what its ties look like (as `Evaluation.lists`), for each measure and
            treatment a column such as `RR expected`, those of a retrieval experiment and of the ready targets
            among them, and where any list gives a latency its seconds, `latency_s`.
        """
        values, further = self.studies.evaluation.scores, self.studies.further_values
        values = values.join(
            further.drop(columns=[name for name in further if name in values or name[0] == LATENCY])
        )
        flat = values.set_axis([f"{measure} {ties}" for measure, ties in values.columns], axis=1)
        if LATENCY in further:
            flat[LATENCY] = further[LATENCY, "expected"]
        return self.studies.evaluation.lists.join(flat).reset_index()
