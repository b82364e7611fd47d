"""Which documents to judge next, what that settles, and what judgments that came back have settled."""

from metrics.studies.leaderboard.judging.plan import (
    COLUMNS,
    JudgingPlan,
    closing_text,
    csv_form,
    form_for,
    plan_finding,
    plan_judging,
    trec_form,
)

__all__ = [
    "COLUMNS",
    "JudgingPlan",
    "closing_text",
    "csv_form",
    "form_for",
    "plan_finding",
    "plan_judging",
    "trec_form",
]
