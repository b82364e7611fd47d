"""From runs to a report."""

from collections.abc import Callable, Mapping
from typing import Any

from metrics.errors import UsageError
from metrics.report import deciding, sections
from metrics.report.method import method
from metrics.report.model import Report, Section
from metrics.report.options import ReportOptions
from metrics.report.readings import readings
from metrics.report.studies import ReportStudies
from metrics.runs import Runs
from metrics.studies.leaderboard.recommendation import recommendation

SECTIONS: Mapping[str, Callable[[ReportStudies], Section]] = {
    "data": sections.data,
    "scores": sections.scores,
    "readings": readings,
    "targets": deciding.targets,
    "ties": sections.ties,
    "significance": deciding.significance,
    "tradeoffs": deciding.tradeoffs,
    "stability": deciding.stability,
    "tools": deciding.tools,
    "findings": sections.findings,
    "method": method,
}
"""Section → what writes it, in the order they stand in a report."""


def report(runs: Runs, **options: Any) -> Report:  # noqa: ANN401 as `ReportOptions` names and types them
    """Return a report of runs, for people who were not there.

    Args:
        runs: what was ranked.
        **options: measures, traditional, baseline, targets, test, correction, sections ... and the options of
            scoring: what
            `ReportOptions` holds, each with a default.

    Raises:
        UsageError: a name that does not exist, or no list is scored.
    """
    studies = ReportStudies(runs, ReportOptions.of(**options))
    section_names = studies.options.sections or tuple(SECTIONS)
    unknown = [name for name in section_names if name not in SECTIONS]
    if unknown:
        raise UsageError(f"There is no section {unknown[0]!r}. Sections: {', '.join(SECTIONS)}.")
    count = len(studies.rerankers)
    subject = f"{count} rerankers" if count > 1 else studies.rerankers[0]
    queries = studies.evaluation.scores.index.get_level_values("query_id").nunique()
    return Report(
        title=studies.options.title.strip() or f"What ties do to {subject}",
        extent=f"{subject} on {queries:,} {'query' if queries == 1 else 'queries'}",
        recommendation=recommendation(
            studies.leaderboard, studies.verdicts, studies.measure_at, studies.findings
        ),
        sections=tuple(write(studies) for name, write in SECTIONS.items() if name in section_names),
        studies=studies,
    )
