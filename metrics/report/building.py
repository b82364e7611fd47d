"""From runs to a report."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path, PurePath
from typing import Any

from metrics.errors import UsageError
from metrics.report import sections
from metrics.report.model import DrawCharts, Report, Section
from metrics.report.sections import brief, paper, summary, swaps
from metrics.report.studies import PRESETS, ReportOptions, ReportStudies
from metrics.runs import Runs
from metrics.runs.writing import open_output
from metrics.studies.recommendation import recommendation
from metrics.studies.verdict_sentence import leaderboard_verdict

SECTIONS: Mapping[str, Callable[[ReportStudies], Section]] = {
    "summary": summary,
    "swaps": swaps,
    "audit": sections.auditing,
    "paper": paper,
    "brief": brief,
    "data": sections.data,
    "scores": sections.scores,
    "readings": sections.readings,
    "targets": sections.targets,
    "ties": sections.ties,
    "significance": sections.significance,
    "tradeoffs": sections.tradeoffs,
    "stability": sections.stability,
    "tools": sections.tools,
    "findings": sections.findings,
    "method": sections.method,
}
"""Section → what writes it, in the order they stand in a report."""
_OUTSIDE_APPENDIX = ("summary", "swaps", "audit", "brief", "paper")


def report(runs: Runs, **options: Any) -> Report:  # noqa: ANN401 as `ReportOptions` names and types them
    """Return a report of runs, for people who were not there.

    Raises:
        UsageError: a name that does not exist, or no list is scored.
    """
    studies = ReportStudies(runs, ReportOptions.of(**options))
    studies.check_names()
    names = _section_names(studies.options)
    count = len(studies.rerankers)
    subject = f"{count} rerankers" if count > 1 else studies.rerankers[0]
    first, further = (
        tuple(write(studies) for name, write in SECTIONS.items() if name in chosen)
        for chosen in (
            [name for name in names if name in _OUTSIDE_APPENDIX],
            [name for name in names if name not in _OUTSIDE_APPENDIX],
        )
    )
    return Report(
        title=studies.options.title.strip() or f"What ties do to {subject}",
        extent=f"{subject} on {sections.number_of_queries(studies)}",
        conclusion=leaderboard_verdict(
            studies.leaderboard,
            studies.swaps,
            studies.evaluation,
            studies.measure,
            studies.options.traditional,
            studies.copies,
        ),
        recommendation=recommendation(
            studies.leaderboard, studies.verdicts, studies.measure_at, studies.findings
        ),
        summary=first,
        appendix=further,
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
    """Write the report of runs to a file; its ending says as what: .html, .md, .txt, .tex, .csv or .parquet.

    Args:
        runs: what was ranked.
        path: where; a file that is there is replaced.
        day: the day it bears; today where None.
        draw: draws the charts of an HTML file, which has none without: `dashboard.charts.report.draw_charts`.
        **options: as of `metrics.report.report`: measures, traditional, baseline, preset, sections ...

    Raises:
        UsageError: another ending, a name that does not exist, or no list is scored.
    """
    data = report(runs, **options).file(PurePath(path).suffix, day or datetime.now(UTC).date(), draw)
    with open_output(Path(path)) as stream:
        stream.write(data)


def _section_names(options: ReportOptions) -> Sequence[str]:
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        raise UsageError(f"There is no section {unknown[0]!r}. Sections: {', '.join(SECTIONS)}.")
    if "audit" in options.sections and options.published is None:
        raise UsageError("The section audit is of a published table. Give one: --published table.csv.")
    if options.sections:
        return options.sections
    names = PRESETS[options.preset] or [name for name in SECTIONS if name != "paper"]
    absent = [*(["targets"] if not options.targets else []), *(["audit"] if options.published is None else [])]
    return [name for name in names if name not in absent]
