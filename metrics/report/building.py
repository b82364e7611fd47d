"""Build a report from runs: sections of sentences, facts, tables and charts, and its output formats."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePath
from typing import Any, Literal

import pandas as pd
from markupsafe import Markup

from metrics.errors import UsageError
from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, parse
from metrics.report.sections import SECTIONS, number_of_queries
from metrics.report.studies import PRESETS, ReportOptions, ReportStudies
from metrics.report.tables import Section
from metrics.report.writing import render
from metrics.runs import Runs
from metrics.runs.writing import open_output
from metrics.studies.gaps import gap_summary
from metrics.studies.prose import Prose, decimal
from metrics.studies.recommendation import recommendation
from metrics.studies.tradeoffs import LATENCY
from metrics.studies.verdict_sentence import leaderboard_verdict
from metrics.support.escaping import spreadsheet_csv
from metrics.support.wording import part_of


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
        runs, facts = _evaluator_reports(self.studies), SECTIONS["data"](self.studies).facts
        return render("report.txt", report=self, day=day, runs=runs, facts=facts)

    def file(self, ending: str, day: date, draw: DrawCharts | None = None) -> bytes:
        """Return the report as a file with this suffix; `draw` draws the charts of HTML."""
        texts = {".md": self.markdown, ".tex": self.latex, ".txt": self.text}
        match ending.casefold():
            case ".html":
                return self.html(day, draw and draw(self)).encode()
            case ".csv":
                return spreadsheet_csv(self.per_query())
            case ".parquet":
                return bytes(self.per_query().to_parquet(index=False))
            case ending if ending in texts:
                return texts[ending](day).encode()
        endings = ", ".join((".html", ".csv", ".parquet", *texts))
        raise UsageError(f"A report cannot be a {ending!r} file. Choose {endings}.")

    def per_query(self) -> pd.DataFrame:
        """Return the unrounded values of every list, one row per list.

        Returns:
            reranker, query_id, the columns of `Evaluation.lists`, a column such as `RR expected` for each
            measure and treatment (also those of a retrieval experiment and of preset targets), and `latency_s`
            if any list has a latency.
        """
        values, further = self.studies.evaluation.scores, self.studies.further_values
        values = values.join(further[[name for name in further if name not in values and name[0] != LATENCY]])
        flat = values.set_axis([f"{measure} {ties}" for measure, ties in values.columns], axis=1)
        if LATENCY in further:
            flat[LATENCY] = further[LATENCY, "expected"]
        return self.studies.evaluation.lists.join(flat).reset_index()


_OUTSIDE_APPENDIX = ("summary", "swaps", "audit", "brief", "paper")


def report(runs: Runs, **options: Any) -> Report:
    """Return a report of runs; `options` are the fields of `ReportOptions` and the options of scoring."""
    studies = ReportStudies(runs, ReportOptions.of(**options))
    studies.check_names()
    names = _section_names(studies.options)
    count = len(studies.rerankers)
    subject = f"{count} rerankers" if count > 1 else studies.rerankers[0]
    sections = [write(studies) for name, write in SECTIONS.items() if name in names]
    board = studies.leaderboard
    return Report(
        title=studies.options.title.strip() or f"Effect of ties on {subject}",
        extent=f"{subject} on {number_of_queries(studies)}",
        conclusion=leaderboard_verdict(
            board, studies.swaps, studies.pairs, studies.evaluation, studies.measure, studies.copies
        ),
        recommendation=recommendation(board, studies.verdicts, studies.measure_at, studies.findings),
        summary=tuple(section for section in sections if section.name in _OUTSIDE_APPENDIX),
        appendix=tuple(section for section in sections if section.name not in _OUTSIDE_APPENDIX),
        studies=studies,
    )


def write_report(
    runs: Runs,
    path: str | PurePath,
    *,
    day: date | None = None,
    draw: DrawCharts | None = None,
    **options: Any,
) -> None:
    """Write the report of runs as .html, .md, .txt, .tex, .csv or .parquet, by the suffix of the path.

    Args:
        runs: the rankings.
        path: output file; an existing file is replaced.
        day: date in the report; None for today.
        draw: function that draws the charts of an HTML file (`dashboard.charts.report.draw_charts`); None for
            a report without charts.
        **options: measures, traditional, baseline, targets, test, correction, preset (short, full or paper),
            sections ... and the options of scoring.

    Raises:
        UsageError: another suffix, a name that does not exist, or no list is scored.
    """
    data = report(runs, **options).file(PurePath(path).suffix, day or datetime.now(UTC).date(), draw)
    with open_output(Path(path)) as stream:
        stream.write(data)


def _section_names(options: ReportOptions) -> Sequence[str]:
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not a section of the report. Sections: {', '.join(SECTIONS)}.")
    if "audit" in options.sections and options.published is None:
        raise UsageError("The section audit needs a published table: --published table.csv.")
    if options.sections:
        return options.sections
    names = PRESETS[options.preset] or [name for name in SECTIONS if name != "paper"]
    absent = [*(["targets"] if not options.targets else []), *(["audit"] if options.published is None else [])]
    return [name for name in names if name not in absent]


_MANY_TIES = 0.1
"""Largest share of queries with ties for which the notebook recommends traditional metrics."""
_SMALLEST = 0.00005
"""Smallest value visible with four decimals."""


def _evaluator_reports(studies: ReportStudies) -> list[dict[str, Any]]:
    """Return what the notebook's `generate_evaluation_report` prints of each reranker.

    Each has `figures`, its row of `gap_summary` with population standard deviations, and lines: traditional and
    tied means of the measures of the notebook and of the options, and means of measures with a rule of their
    own for ties.
    """
    lists = studies.evaluator_lists
    measures = [parse(name.removesuffix("_gap")) for name in lists.columns if name.endswith("_gap")]
    plain = [each for each in measures if not each.measure.family.own_rule]
    own_rule = [each for each in measures if each.measure.family.own_rule]
    return [
        {
            "reranker": name,
            "figures": figures,
            "traditional": [_mean_line(figures, measure, "traditional") for measure in plain],
            "tied": [_mean_line(figures, measure, "tied") for measure in plain],
            "own_rule": [_mean_line(figures, measure, "tied") for measure in own_rule],
            "gap_mean": _four_decimals(figures["RR_gap_mean"]),
            "gap_max": _four_decimals(figures["RR_gap_max"]),
            "has_many_ties": figures["with_ties_share"] > _MANY_TIES,
            "effect": _effect(figures),
        }
        for name, figures in gap_summary(lists, ddof=0).to_dict("index").items()
    ]


def _mean_line(figures: Mapping[str, Any], measure: MeasureAt, value: Literal["traditional", "tied"]) -> str:
    """Return a mean and its population standard deviation over queries."""
    mean, std = (_four_decimals(figures[f"{measure}_{value}{end}"]) for end in ("", "_std"))
    return f"{getattr(measure, value)}: {mean} (±{std})"


def _effect(figures: Mapping[str, Any]) -> str:
    """Return the effect of ties on MRR, which the notebook's rule ignores."""
    n, mean = int(figures["n"]), figures["RR_gap"]
    n_moved = round(figures["RR_lists_with_gap"] * n)
    if not n_moved:
        return f"Ties on {part_of(figures['with_ties'], n, 'query')} move no value of MRR."
    outcome = "does not change: the gaps cancel"
    if abs(mean) > EQUAL:
        outcome = f"is {decimal(abs(mean), 4)} too {'high' if mean > 0 else 'low'}"
    return f"Ties move MRR on {part_of(n_moved, n, 'query')}; its mean {outcome}."


def _four_decimals(value: float) -> str:
    """Format with four decimals like the notebook; a smaller value keeps two significant digits."""
    return f"{value:.4f}" if value == 0 or abs(value) >= _SMALLEST else decimal(value, 4)
