"""From runs to a report."""

from collections.abc import Callable, Mapping
from typing import Any

from metrics.errors import UsageError
from metrics.report import deciding, sections
from metrics.report.method import method
from metrics.report.model import Report, Section
from metrics.report.options import ReportOptions
from metrics.report.studies import ReportStudies
from metrics.runs import Runs
from metrics.studies.leaderboard.recommendation import recommendation

SECTIONS: Mapping[str, Callable[[ReportStudies], Section]] = {
    "data": sections.data,
    "scores": sections.scores,
    "targets": deciding.targets,
    "ties": sections.ties,
    "significance": deciding.significance,
    "stability": deciding.stability,
    "tools": deciding.tools,
    "findings": sections.findings,
    "method": method,
}
"""Section → what writes it, in the order they stand in a report."""


def report(runs: Runs, **asked: Any) -> Report:  # noqa: ANN401 as `ReportOptions` names and types them
    """What there is to say of runs, for people who were not there.

    Args:
        runs: what was ranked.
        asked: measures, traditional, baseline, targets, test, correction, sections, scoring ...: what
            `ReportOptions` and `ScoringOptions` hold, each with a default.

    Raises:
        UsageError: a name that does not exist, or no list is scored.
    """
    found = ReportStudies(runs, ReportOptions.of(**asked))
    wanted = found.asked.sections or tuple(SECTIONS)
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        raise UsageError(f"There is no section {unknown[0]!r}. Sections: {', '.join(SECTIONS)}.")
    count = len(found.rerankers)
    who = f"{count} rerankers" if count > 1 else found.rerankers[0]
    queries = found.evaluation.scores.index.get_level_values("query_id").nunique()
    return Report(
        title=found.asked.title.strip() or f"What ties do to {who}",
        extent=f"{who} on {queries:,} {'query' if queries == 1 else 'queries'}",
        recommendation=recommendation(found.board, found.verdicts, found.name, found.findings),
        sections=tuple(write(found) for name, write in SECTIONS.items() if name in wanted),
        found=found,
    )
