"""Build a report from runs."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path, PurePath
from typing import Any

from metrics.errors import UsageError
from metrics.report.model import DrawCharts, Report
from metrics.report.sections import SECTIONS, number_of_queries
from metrics.report.studies import PRESETS, ReportOptions, ReportStudies
from metrics.runs import Runs
from metrics.runs.writing import open_output
from metrics.studies.recommendation import recommendation
from metrics.studies.verdict_sentence import leaderboard_verdict

_OUTSIDE_APPENDIX = ("summary", "swaps", "audit", "brief", "paper")


def report(runs: Runs, **options: Any) -> Report:  # noqa: ANN401 as `ReportOptions` names and types them
    """Return a report of runs; `options` are the fields of `ReportOptions` and the options of scoring."""
    studies = ReportStudies(runs, ReportOptions.of(**options))
    studies.check_names()
    names = _section_names(studies.options)
    count = len(studies.rerankers)
    subject = f"{count} rerankers" if count > 1 else studies.rerankers[0]
    sections = [write(studies) for name, write in SECTIONS.items() if name in names]
    return Report(
        title=studies.options.title.strip() or f"Effect of ties on {subject}",
        extent=f"{subject} on {number_of_queries(studies)}",
        conclusion=leaderboard_verdict(
            *(studies.leaderboard, studies.swaps, studies.evaluation, studies.measure),
            studies.options.traditional,
            studies.copies,
        ),
        recommendation=recommendation(
            studies.leaderboard, studies.verdicts, studies.measure_at, studies.findings
        ),
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
    **options: Any,  # noqa: ANN401 as of `report`
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
        raise UsageError(f"There is no section {unknown[0]!r}. Sections: {', '.join(SECTIONS)}.")
    if "audit" in options.sections and options.published is None:
        raise UsageError("The section audit needs a published table: --published table.csv.")
    if options.sections:
        return options.sections
    names = PRESETS[options.preset] or [name for name in SECTIONS if name != "paper"]
    absent = [*(["targets"] if not options.targets else []), *(["audit"] if options.published is None else [])]
    return [name for name in names if name not in absent]
